// SPDX-License-Identifier: Apache-2.0
// Simple dual port RAM, one write and one read port: the one module that a technology replaces by its own memory.
//
// DEPTH  words (any number from 1)
// WIDTH  bits a word
//
// Latency: rdata_o follows re_i by one clock and holds its value while re_i is 0.
// Limitations: contents and rdata_o are undefined after power-up, there is no reset. What a read returns of an
// address that is written in the same cycle is undefined; ram_1r1w defines it. Addresses must be below DEPTH.
// Written so that Yosys 0.23, without a SystemVerilog front end, reads it too.
module ram_sdp #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 8
) (
  input  logic                                         clk_i,
  input  logic                                         we_i,
  input  logic [((DEPTH > 1) ? $clog2(DEPTH) : 1)-1:0] waddr_i,
  input  logic [WIDTH-1:0]                             wdata_i,
  input  logic                                         re_i,
  input  logic [((DEPTH > 1) ? $clog2(DEPTH) : 1)-1:0] raddr_i,
  output logic [WIDTH-1:0]                             rdata_o
);

  if (DEPTH < 1) begin : gen_illegal_depth
    $fatal(1, "ram_sdp: DEPTH is %0d words, but must be at least 1", DEPTH);
  end
  if (WIDTH < 1) begin : gen_illegal_width
    $fatal(1, "ram_sdp: WIDTH is %0d bits, but must be at least 1", WIDTH);
  end

  logic [WIDTH-1:0] mem [0:DEPTH-1];

  always @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_o <= mem[raddr_i];
  end

endmodule
