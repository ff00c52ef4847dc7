// SPDX-License-Identifier: Apache-2.0
// Receive window, one packet a clock, each on the result of the one before: WVEC is shifted, the run of ones counted by halving.
module window_tree #(
  parameter int unsigned WINDOW = 128,
  parameter int unsigned PIDX_W = 24
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              receive_i,
  input  logic [PIDX_W-1:0] pidx_i,
  output logic              taken_o,   // a clock later: it was new
  output logic [PIDX_W-1:0] wbase_o    // after it
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  logic              receive_q;
  logic [PIDX_W-1:0] pidx_q, wbase_q, wbase;
  logic [WINDOW-1:0] wvec_q, wvec;
  logic [PIDX_W:0]   distance;
  logic [POS_W-1:0]  position;
  logic [POS_W:0]    ones, step;
  logic              taken;

  assign distance = {1'b0, pidx_q} - {1'b0, wbase_q};
  assign position = distance[POS_W-1:0] - 1'b1;
  assign step     = ones + 1'b1;

  // Are all of the lower half set? Then count on in the upper half.
  always_comb begin : p_ones
    logic [WINDOW-1:0] rest;
    logic              low_full;
    rest = wvec_q;
    ones = '0;
    for (int level = int'(POS_W) - 1; level >= 0; level--) begin
      low_full = &(rest | ~((WINDOW'(1) << (1 << level)) - WINDOW'(1)));
      ones[level] = low_full;
      if (low_full) rest = rest >> (1 << level);
    end
    if (&wvec_q) ones = (POS_W + 1)'(WINDOW);
  end

  always_comb begin : p_update
    wbase = wbase_q;
    wvec  = wvec_q;
    taken = 1'b0;
    if (receive_q && distance == '0) begin
      taken = 1'b1;
      wbase = wbase_q + PIDX_W'(step);
      wvec  = wvec_q >> step;
    end else if (receive_q && !distance[PIDX_W] && distance <= (PIDX_W + 1)'(WINDOW)) begin
      taken = !wvec_q[position];
      wvec[position] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    receive_q <= receive_i;
    pidx_q    <= pidx_i;
    taken_o   <= taken;
    wbase_q   <= wbase;
    wvec_q    <= wvec;
    if (!rst_ni) {wbase_q, wvec_q} <= '0;
  end
  assign wbase_o = wbase_q;
endmodule
