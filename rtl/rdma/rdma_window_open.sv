// SPDX-License-Identifier: Apache-2.0
// Receive window as it is kept in memory -> as rdma_window_step works on it (docs/rdma_receiver.md). Combinational.
`include "rdma_typedef.svh"

module rdma_window_open #(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24,
  parameter type         kept_t = logic,
  parameter type         open_t = logic
) (
  input  kept_t kept_i,
  output open_t open_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);
  localparam int unsigned TOP_W = PIDX_W - POS_W - 1;
  localparam int unsigned GROUPS = WINDOW / `RDMA_WINDOW_GROUP(WINDOW);

  logic [WINDOW-1:0] lap_marks, first_after;
  logic [GROUPS-1:0] group_here, group_next;

  assign lap_marks   = kept_i.marks ^ {WINDOW{kept_i.first[POS_W]}};
  assign first_after = {WINDOW{1'b1}} << kept_i.first[POS_W-1:0] << 1;

  rdma_holes #(
    .WINDOW(WINDOW)
  ) i_holes (
    .lap_marks_i (lap_marks),
    .after_i     (first_after),
    .here_o      (),
    .next_o      (),
    .group_here_o(group_here),
    .group_next_o(group_next)
  );

  always_comb begin : p_open
    open_o.lap_marks   = lap_marks;
    open_o.base        = kept_i.base;
    open_o.next_top    = {1'b0, kept_i.base[PIDX_W-1:POS_W+1]} + (TOP_W + 1)'(1);
    open_o.first_after = first_after;
    open_o.first_odd   = kept_i.first[POS_W];
    open_o.carry       = kept_i.first < kept_i.base[POS_W:0];
    open_o.group_here  = group_here;
    open_o.group_next  = group_next;
  end
endmodule
