// Sources of the RDMA engine, packages first, each path relative to this file.
// The one list of them: read by CMake, lint and the flows in fpga/. The generated rdma_formats_pkg.sv goes before all.
+incdir+../common
+incdir+.
../common/ram_sdp.sv
../common/ram_1r1w.sv
../common/sync_fifo.sv
../common/ram_fifo.sv
../common/packet_fifo.sv
../common/skid_buffer.sv
../common/free_list.sv
../common/counter_bank.sv
rdma_pkg.sv
rdma_rx_check.sv
rdma_window.sv
rdma_timer.sv
rdma_rx_decide.sv
rdma_receiver.sv
rdma_host_write.sv
rdma_write_status.sv
rdma_tx_decide.sv
rdma_sender.sv
rdma_host_read.sv
rdma_tx_frame.sv
rdma_regs.sv
rdma_top.sv
