// Sources of formal/window_proof.sv, each path relative to this file.
+incdir+../rtl/common
+incdir+../rtl/rdma
../rtl/rdma/rdma_holes.sv
../rtl/rdma/rdma_next_hole.sv
../rtl/rdma/rdma_window_open.sv
../rtl/rdma/rdma_window_keep.sv
../rtl/rdma/rdma_window_judge.sv
../rtl/rdma/rdma_window_step.sv
window_proof.sv
