// SPDX-License-Identifier: Apache-2.0
// rr_arbiter grants somebody whenever somebody asks, one at a time, only who asks; and whoever keeps asking waits for at most N - 1
// grants of others.
`include "proof.svh"

module rr_arbiter_proof #(
  parameter int unsigned N = 5
) (
  input logic         clk_i, rst_ni, take_i,
  input logic [N-1:0] req_i
);
  localparam int unsigned IDX_W = $clog2(N);
  localparam int unsigned COUNT_W = $clog2(2 * N);

  logic                      valid;
  logic [N-1:0]              gnt;
  logic [IDX_W-1:0]          idx;
  logic [N-1:0][COUNT_W-1:0] waited, ahead;  // grants of others since it asks; how many come before it if all ask

  `PROOF_RESET

  rr_arbiter #(.N(N)) dut (.clk_i, .rst_ni, .req_i, .take_i, .valid_o(valid), .gnt_o(gnt), .idx_o(idx));

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < N; i++) begin
      if (!rst_ni || !req_i[i]) waited[i] <= '0;
      else if (valid && take_i) waited[i] <= gnt[i] ? '0 : waited[i] + 1'b1;
    end
  end

  always_comb begin
    logic [COUNT_W-1:0] sum;
    sum = '0;
    for (int unsigned i = 0; i < N; i++) begin
      ahead[i] = sum;
      sum = sum + COUNT_W'(dut.behind_q[i]);
    end
    for (int unsigned i = 0; i < N; i++) begin
      if (!dut.behind_q[i]) ahead[i] = sum + COUNT_W'(i);
    end
  end

  `PROVE(SomebodyIfAsked, valid == (req_i != '0))
  `PROVE(OneWhoAsks, !valid || (gnt == N'(1) << idx && (gnt & req_i) != '0))
  for (genvar i = 0; i < int'(N); i++) begin : gen_each
    `PROVE(Fair, waited[i] < COUNT_W'(N))
    // For the induction.
    `PROVE(WaitedForThoseBefore, waited[i] + ahead[i] < COUNT_W'(N))
  end
  `PROVE(AllBehindOne, ((dut.behind_q << 1) & ~dut.behind_q) == '0)
endmodule
