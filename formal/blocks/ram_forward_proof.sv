// SPDX-License-Identifier: Apache-2.0
// ram_forward: what is read in clock t comes in t + 2 with all writes up to t + 1; ram_1r1w: in t + 1 with all writes up to t, and stays
// while nothing is read. Shown of words that have been written.
`include "proof.svh"

module ram_forward_proof #(
  parameter int unsigned DEPTH = 4,
  parameter int unsigned WIDTH = 2,
  localparam int unsigned ADDR_W = $clog2(DEPTH)
) (
  input logic              clk_i, rst_ni, we_i, re_i,
  input logic [ADDR_W-1:0] waddr_i, raddr_i,
  input logic [WIDTH-1:0]  wdata_i
);
  logic [WIDTH-1:0]            forward, bypass, forward_q, bypass_q;
  logic [DEPTH-1:0]            known_q, known;
  logic [DEPTH-1:0][WIDTH-1:0] words_q, words;
  logic [ADDR_W-1:0]           raddr_q;
  logic                        read_q, forward_known_q, bypass_known_q;

  `PROOF_RESET
  `GIVEN(32'(waddr_i) < DEPTH && 32'(raddr_i) < DEPTH)

  ram_forward #(.DEPTH(DEPTH), .WIDTH(WIDTH)) i_forward (.clk_i, .we_i(we_i && rst_ni), .waddr_i, .wdata_i, .raddr_i, .rdata_o(forward));
  ram_1r1w #(.DEPTH(DEPTH), .WIDTH(WIDTH)) i_bypass (.clk_i, .we_i(we_i && rst_ni), .waddr_i, .wdata_i, .re_i, .raddr_i, .rdata_o(bypass));

  always_comb begin
    {known, words} = {known_q, words_q};
    if (we_i) {known[waddr_i], words[waddr_i]} = {1'b1, wdata_i};
  end

  always_ff @(posedge clk_i) begin
    known_q         <= rst_ni ? known : '0;
    words_q         <= words;
    raddr_q         <= raddr_i;
    read_q          <= rst_ni;
    forward_q       <= words[raddr_q];
    forward_known_q <= rst_ni && read_q && known[raddr_q];
    if (re_i) bypass_q <= words[raddr_i];
    if (!rst_ni) bypass_known_q <= 1'b0;
    else if (re_i) bypass_known_q <= known[raddr_i];
  end

  `PROVE(ForwardSeesWrites, !forward_known_q || forward == forward_q)
  `PROVE(BypassSeesWrites, !bypass_known_q || bypass == bypass_q)

  // For the induction: what has been written is in the RAMs, and on its way to the output.
  for (genvar i = 0; i < DEPTH; i++) begin : g_words
    `PROVE(Kept, !known_q[i] || (i_forward.u_ram.mem[i] == words_q[i] && i_bypass.u_ram.mem[i] == words_q[i]))
  end
  `PROVE(ForwardUnderWay, !(read_q && known_q[raddr_q]) || i_forward.raddr_q == raddr_q &&
                          (i_forward.written_q ? i_forward.wdata_q : i_forward.ram_rdata) == words_q[raddr_q])
endmodule
