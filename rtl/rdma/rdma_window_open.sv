// SPDX-License-Identifier: Apache-2.0
// Receive window as it is kept in memory -> as rdma_window_step works on it (docs/rdma_receiver.md). Combinational.
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

  always_comb begin : p_open
    open_o.lap_marks   = kept_i.marks ^ {WINDOW{kept_i.first[POS_W]}};
    open_o.base        = kept_i.base;
    open_o.next_top    = {1'b0, kept_i.base[PIDX_W-1:POS_W+1]} + (TOP_W + 1)'(1);
    open_o.first_after = {WINDOW{1'b1}} << kept_i.first[POS_W-1:0] << 1;
    open_o.first_odd   = kept_i.first[POS_W];
    open_o.carry       = kept_i.first < kept_i.base[POS_W:0];
  end
endmodule
