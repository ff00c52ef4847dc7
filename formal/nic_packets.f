// What nic_packets needs, for its proof, each path relative to this file.
../rtl/common/crc32_pkg.sv
../rtl/common/rr_arbiter.sv
../rtl/common/sync_fifo.sv
../rtl/barrier/barrier_pkg.sv
../rtl/nic/nic_packets.sv
