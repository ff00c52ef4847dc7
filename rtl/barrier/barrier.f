// Sources of the barrier engine, packages first, each path relative to this file. The generated barrier_formats_pkg.sv goes before all.
+incdir+../common
../common/ram_sdp.sv
../common/sync_fifo.sv
../common/axil_slave.sv
../common/crc32_pkg.sv
barrier_pkg.sv
barrier_tree.sv
barrier_judge.sv
barrier_place.sv
barrier_check.sv
barrier_decide.sv
barrier_send.sv
barrier_open.sv
barrier_core.sv
barrier_completions.sv
barrier_regs.sv
barrier_engine.sv
