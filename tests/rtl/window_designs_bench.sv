// SPDX-License-Identifier: Apache-2.0
// The designs of the receive window that docs/results/window.md compares, side by side on the same packets.
module window_designs_bench #(
  parameter int unsigned WINDOW = 16,
  parameter int unsigned PIDX_W = 12
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        receive_i,
  input  logic [11:0] pidx_i,
  output logic [ 3:0] taken_o,  // two clocks later
  output logic [47:0] wbase_o
);
  logic [2:0] taken, taken_q;  // a clock later: only the last design has another stage
  logic       taken_holes;

  always_ff @(posedge clk_i) taken_q <= taken;
  assign taken_o = {taken_holes, taken_q};

  window_plain #(.WINDOW(WINDOW), .PIDX_W(PIDX_W)) i_plain (
    .clk_i, .rst_ni, .receive_i, .pidx_i, .taken_o(taken[0]), .wbase_o(wbase_o[11:0])
  );
  window_tree #(.WINDOW(WINDOW), .PIDX_W(PIDX_W)) i_tree (
    .clk_i, .rst_ni, .receive_i, .pidx_i, .taken_o(taken[1]), .wbase_o(wbase_o[23:12])
  );
  window_round #(.WINDOW(WINDOW), .PIDX_W(PIDX_W)) i_round (
    .clk_i, .rst_ni, .receive_i, .pidx_i, .taken_o(taken[2]), .wbase_o(wbase_o[35:24])
  );
  window_holes #(.WINDOW(WINDOW), .PIDX_W(PIDX_W)) i_holes (
    .clk_i, .rst_ni, .receive_i, .pidx_i, .taken_o(taken_holes), .wbase_o(wbase_o[47:36])
  );
endmodule
