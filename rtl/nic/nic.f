// Sources that join RDMA NIC and barrier engine, each path relative to this file; to be listed after those of both. The generated barrier_ring_formats_pkg.sv goes before them.
+incdir+../common
../common/axi_write_mux.sv
../common/axil_split.sv
../common/axil_slave.sv
../common/rr_arbiter.sv
../common/sync_fifo.sv
nic_packets.sv
nic_barrier_ring.sv
weft_nic.sv
