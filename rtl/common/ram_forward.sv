// SPDX-License-Identifier: Apache-2.0
// RAM with one write and one read port for pipelines that write a word shortly after they have read it: a read takes two
// clocks and sees every write up to its end.
//
// DEPTH  words (any number from 1)
// WIDTH  bits a word
//
// Timing: raddr_i in clock t, rdata_o in clock t + 2, with all writes of clocks up to and including t + 1. One read and one
// write a clock. rdata_o comes from a flop; neither port of the RAM has logic of this module before or behind it, except
// the multiplexer between the RAM and that flop.
// Limitations: contents are undefined after power-up, there is no reset. Costs 2 * WIDTH flops: use ram_1r1w where
// forwarding over one clock is enough, ram_sdp where reads and writes never meet.
module ram_forward #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 8,
  localparam int unsigned ADDR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
  input  logic              clk_i,
  input  logic              we_i,
  input  logic [ADDR_W-1:0] waddr_i,
  input  logic [ WIDTH-1:0] wdata_i,
  input  logic [ADDR_W-1:0] raddr_i,
  output logic [ WIDTH-1:0] rdata_o
);

  logic              written_q;  // the word was written in the clock of its read
  logic [ADDR_W-1:0] raddr_q;
  logic [ WIDTH-1:0] wdata_q, ram_rdata;

  ram_sdp #(
    .DEPTH(DEPTH),
    .WIDTH(WIDTH)
  ) u_ram (
    .clk_i,
    .we_i,
    .waddr_i,
    .wdata_i,
    .re_i   (1'b1),
    .raddr_i,
    .rdata_o(ram_rdata)
  );

  always_ff @(posedge clk_i) begin
    written_q <= we_i && waddr_i == raddr_i;
    raddr_q   <= raddr_i;
    wdata_q   <= wdata_i;
    if (we_i && waddr_i == raddr_q) rdata_o <= wdata_i;
    else if (written_q) rdata_o <= wdata_q;
    else rdata_o <= ram_rdata;
  end

endmodule
