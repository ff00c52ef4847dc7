// SPDX-License-Identifier: Apache-2.0
// counter_bank counts every increment once it is ready, and a read has every increment of the clocks before it.
`include "proof.svh"

module counter_bank_proof #(
  parameter int unsigned N     = 3,
  parameter int unsigned WIDTH = 3,
  localparam int unsigned ADDR_W = $clog2(N)
) (
  input logic              clk_i, rst_ni, inc_i,
  input logic [ADDR_W-1:0] idx_i, raddr_i
);
  logic                    ready, valid_q;
  logic [WIDTH-1:0]        rdata, expected_q;
  logic [N-1:0][WIDTH-1:0] counts_q;
  logic [ADDR_W:0]         clocks_q;

  `PROOF_RESET
  `GIVEN(32'(idx_i) < N && 32'(raddr_i) < N)

  counter_bank #(.N(N), .WIDTH(WIDTH)) dut (.clk_i, .rst_ni, .ready_o(ready), .inc_i, .idx_i, .raddr_i, .rdata_o(rdata));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      counts_q <= '0;
      clocks_q <= '0;
      valid_q  <= 1'b0;
    end else begin
      if (inc_i && ready) counts_q[idx_i] <= counts_q[idx_i] + 1'b1;
      if (!ready) clocks_q <= clocks_q + 1'b1;
      valid_q <= ready;
    end
    expected_q <= counts_q[raddr_i];
  end

  `PROVE(ReadsAllIncrements, !valid_q || rdata == expected_q)
  `PROVE(ReadyInTime, ready == (32'(clocks_q) == N))

  // For the induction: cleared so far, then counted but for the increment under way.
  `PROVE(ClocksInRange, 32'(clocks_q) <= N && (ready || 32'(dut.addr_q) == 32'(clocks_q)) && (ready || !dut.inc_q))
  `PROVE(NothingCountedYet, ready || counts_q == '0)
  `PROVE(AddressInRange, 32'(dut.addr_q) < N || !(ready && dut.inc_q))
  for (genvar i = 0; i < N; i++) begin : g_counts
    logic [WIDTH-1:0] under_way;
    assign under_way = WIDTH'(ready && dut.inc_q && 32'(dut.addr_q) == i);
    `PROVE(Kept, i >= 32'(clocks_q) || (dut.u_count.u_ram.mem[i] + under_way == counts_q[i] && dut.u_read.u_ram.mem[i] + under_way == counts_q[i]))
    `PROVE(OldIsKept, !(under_way != '0) || dut.old + 1'b1 == counts_q[i])
  end
endmodule
