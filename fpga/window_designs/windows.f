// Designs of the receive window that are compared in docs/results/window.md, each path relative to this file.
+incdir+../../rtl/common
+incdir+../../rtl/rdma
../../rtl/rdma/rdma_holes.sv
../../rtl/rdma/rdma_next_hole.sv
../../rtl/rdma/rdma_window_judge.sv
../../rtl/rdma/rdma_window_step.sv
window_plain.sv
window_tree.sv
window_round.sv
window_holes.sv
