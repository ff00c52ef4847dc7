// SPDX-License-Identifier: Apache-2.0
// Words of a file in hexadecimal digits, one a line, read as a memory of an FPGA is.
//
// FILE   as $readmemh takes it; words that it does not have are zero
// DEPTH  words, a power of two
// WIDTH  bits a word
//
// Latency: data_o follows re_i by one clock and holds its value while re_i is 0.
module selftest_rom #(
  parameter              FILE  = "",
  parameter int unsigned DEPTH = 256,
  parameter int unsigned WIDTH = 32
) (
  input  logic                     clk_i,
  input  logic                     re_i,
  input  logic [$clog2(DEPTH)-1:0] addr_i,
  output logic [WIDTH-1:0]         data_o
);
  if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) begin : gen_illegal_depth
    $fatal(1, "selftest_rom: DEPTH is %0d, but must be a power of two", DEPTH);
  end

  logic [WIDTH-1:0] words[DEPTH];

  initial begin
    for (int unsigned i = 0; i < DEPTH; i++) words[i] = '0;
    $readmemh(FILE, words);
  end

  always_ff @(posedge clk_i) begin
    if (re_i) data_o <= words[addr_i];
  end
endmodule
