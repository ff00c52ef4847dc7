// SPDX-License-Identifier: Apache-2.0
// Round robin arbiter: grants the first requester behind the one granted last.
//
// N  requesters (any number from 1)
//
// Latency: gnt_o follows req_i in the same clock, through a number of levels that grows with log2 N. The turn moves on when take_i is 1.
// A requester that keeps asking waits for at most N - 1 grants of others.
`include "weft_assert.svh"

module rr_arbiter #(
  parameter int unsigned N = 2,
  localparam int unsigned IDX_W = (N > 1) ? $clog2(N) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [    N-1:0] req_i,
  input  logic             take_i,   // the grant is used
  output logic             valid_o,  // there is a grant
  output logic [    N-1:0] gnt_o,    // one-hot
  output logic [IDX_W-1:0] idx_o
);

  if (N < 1) begin : gen_illegal_n
    $fatal(1, "rr_arbiter: N is %0d requesters, but must be at least 1", N);
  end

  logic [N-1:0] behind_q;  // those behind the one granted last
  logic [N-1:0] first;     // those that come first, if one of them asks

  // Bit i: a bit below i is set.
  function automatic logic [N-1:0] above_lowest(logic [N-1:0] bits);
    logic [N-1:0] above;
    above = bits << 1;
    for (int unsigned step = 1; step < N; step *= 2) above |= above << step;
    return above;
  endfunction

  assign first   = ((req_i & behind_q) != '0) ? req_i & behind_q : req_i;
  assign gnt_o   = first & ~above_lowest(first);
  assign valid_o = req_i != '0;

  always_comb begin : p_index
    idx_o = '0;
    for (int i = 0; i < int'(N); i++) begin
      if (gnt_o[i]) idx_o |= IDX_W'(i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) behind_q <= '0;
    else if (valid_o && take_i) behind_q <= above_lowest(gnt_o);
  end

  `ASSERT(RoundRobinOneGrant, valid_o == (gnt_o != '0) && (gnt_o & (gnt_o - 1'b1)) == '0 && (gnt_o & ~req_i) == '0)

`ifdef VERILATOR
  // Grants of others while a requester waits.
  for (genvar i = 0; i < int'(N); i++) begin : gen_fair
    logic [31:0] waited_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !req_i[i]) waited_q <= '0;
      else if (take_i) waited_q <= gnt_o[i] ? '0 : waited_q + 32'd1;
    end
    `ASSERT(RoundRobinFair, waited_q < N)
  end
`endif

endmodule
