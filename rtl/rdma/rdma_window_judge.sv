// SPDX-License-Identifier: Apache-2.0
// Where a packet lies in a receive window (paper, section 2.3). Combinational.
module rdma_window_judge #(
  parameter  int unsigned WINDOW  = 128,
  parameter  int unsigned PIDX_W  = 24,
  parameter  type         place_t = logic,
  localparam int unsigned POS_W   = $clog2(WINDOW)
) (
  input  logic [      PIDX_W-1:0] base_i,      // WBASE
  input  logic [PIDX_W-POS_W-1:0] next_top_i,  // WBASE / (2 * WINDOW), plus one
  input  logic [      WINDOW-1:0] lap_marks_i,
  input  logic                    first_odd_i,
  input  logic                    at_first_i,  // pidx_i has the first hole's slot
  input  logic [      PIDX_W-1:0] pidx_i,
  input  logic [      WINDOW-1:0] slot_i,      // one-hot: pidx_i modulo WINDOW
  output place_t                  place_o
);
  logic same_lap, higher, top_same, top_next, marked;

  // Beyond WBASE by 1 to WINDOW: higher in its lap, or at most as high in the next one.
  assign same_lap = pidx_i[POS_W] == base_i[POS_W];
  assign higher   = pidx_i[POS_W-1:0] > base_i[POS_W-1:0];
  assign top_same = pidx_i[PIDX_W-1:POS_W+1] == base_i[PIDX_W-1:POS_W+1];
  assign top_next = {1'b0, pidx_i[PIDX_W-1:POS_W+1]} == next_top_i;
  assign marked   = ((slot_i & lap_marks_i) != '0) ^ first_odd_i ^ pidx_i[POS_W];

  always_comb begin : p_place
    place_o.at_base   = pidx_i == base_i;
    place_o.in_window = same_lap ? higher && top_same : !higher && (base_i[POS_W] ? top_next : top_same);
    place_o.is_new    = place_o.in_window && !marked;
    place_o.is_first  = at_first_i;
  end
endmodule
