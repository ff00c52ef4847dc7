// Sources of the self-test on an FPGA board, after those of the RDMA engine and of the switch lookup block. The generated selftest_formats_pkg.sv goes before all.
selftest_pkg.sv
selftest_rom.sv
selftest_signature.sv
selftest_verdict.sv
selftest_receiver.sv
selftest_lookup.sv
selftest_uart.sv
selftest_report.sv
selftest_top.sv
