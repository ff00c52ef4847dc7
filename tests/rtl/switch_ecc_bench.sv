// SPDX-License-Identifier: Apache-2.0
// A word of 17 bits with check bits, of which some are turned over, and back.
module switch_ecc_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [16:0] data_i,
  input  logic [22:0] wrong_i,
  output logic [16:0] data_o,
  output logic        corrected_o,
  output logic        bad_o
);
  logic [22:0] code;
  switch_ecc_encode #(.DATA_W(17)) i_encode (.data_i, .code_o(code));
  switch_ecc_decode #(.DATA_W(17)) i_decode (.code_i(code ^ wrong_i), .data_o, .corrected_o, .bad_o);
  logic unused;
  assign unused = ^{clk_i, rst_ni};
endmodule
