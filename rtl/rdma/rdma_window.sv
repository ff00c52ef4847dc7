// SPDX-License-Identifier: Apache-2.0
// Receive window (paper, section 2.3): where does a PIDX lie, and what are WBASE and WVEC after it was received?
// Combinational. wvec[i] stands for the paper's WVEC bit i+1, packet WBASE+1+i.
//
// Arriving at WBASE, the window advances by 1 + LOC(WVEC); the paper's formula prints LOC(WVEC) alone.
module rdma_window #(
    parameter int unsigned WINDOW = 128,  // bits of WVEC
    parameter int unsigned PIDX_W = 24    // bits of a packet index
) (
    input  logic [PIDX_W-1:0] pidx_i,
    input  logic [PIDX_W-1:0] wbase_i,
    input  logic [WINDOW-1:0] wvec_i,
    output logic              duplicate_o,  // received before
    output logic              beyond_o,     // beyond the window
    output logic              in_order_o,   // it is the packet at WBASE
    output logic [PIDX_W-1:0] wbase_o,      // unchanged unless the packet is new and inside the window
    output logic [WINDOW-1:0] wvec_o
);
  localparam int unsigned POS_W = $clog2(WINDOW);

  if (WINDOW < 2 || (WINDOW & (WINDOW - 1)) != 0) begin : g_bad_window
    $error("WINDOW must be a power of two of at least 2, is %0d", WINDOW);
  end
  if (PIDX_W <= POS_W) begin : g_bad_pidx
    $error("PIDX_W (%0d) must be wider than a position in the window of %0d", PIDX_W, WINDOW);
  end

  logic [PIDX_W:0] distance;  // pidx - wbase, negative if the top bit is set
  logic            behind;
  logic [POS_W-1:0] position;  // index into wvec, of use only inside the window
  logic            marked;
  logic [POS_W:0]  ones;  // LOC(WVEC)
  logic [POS_W:0]  step;

  assign distance    = {1'b0, pidx_i} - {1'b0, wbase_i};
  assign behind      = distance[PIDX_W];
  assign in_order_o  = distance == '0;
  assign beyond_o    = !behind && distance[PIDX_W-1:0] > PIDX_W'(WINDOW);
  assign position    = distance[POS_W-1:0] - 1'b1;
  assign marked      = wvec_i[position];
  assign duplicate_o = behind || (!in_order_o && !beyond_o && marked);

  // Trailing ones by halving: are all of the lower half set? Then count on in the upper half.
  always_comb begin : p_trailing_ones
    logic [WINDOW-1:0] rest;
    logic              low_full;
    rest = wvec_i;
    ones = '0;
    for (int level = int'(POS_W) - 1; level >= 0; level--) begin
      low_full = &(rest | ~((WINDOW'(1) << (1 << level)) - WINDOW'(1)));
      ones[level] = low_full;
      if (low_full) rest = rest >> (1 << level);
    end
    if (&wvec_i) ones = (POS_W + 1)'(WINDOW);
  end

  assign step = ones + 1'b1;

  always_comb begin : p_update
    wbase_o = wbase_i;
    wvec_o  = wvec_i;
    if (in_order_o) begin
      wbase_o = wbase_i + PIDX_W'(step);
      wvec_o  = wvec_i >> step;
    end else if (!behind && !beyond_o) begin
      wvec_o[position] = 1'b1;
    end
  end
endmodule
