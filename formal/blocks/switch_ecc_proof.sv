// SPDX-License-Identifier: Apache-2.0
// switch_ecc_decode gives back every word of which one bit is wrong, wherever, and finds every two wrong bits. No clock matters: one is all there is to search.
`include "proof.svh"

module switch_ecc_proof
  import switch_ecc_pkg::*;
#(
  parameter int unsigned DATA_W = 17,
  localparam int unsigned CODE_W = DATA_W + check_bits(DATA_W) + 1
) (
  input logic              clk_i, rst_ni,
  input logic [DATA_W-1:0] data_i,
  input logic [CODE_W-1:0] first_i, second_i  // wrong bits: one each, or none
);
  logic [CODE_W-1:0] code, wrong;
  logic [DATA_W-1:0] data;
  logic              corrected, bad, one, two;

  function automatic logic one_at_most(logic [CODE_W-1:0] bits);
    return (bits & (bits - 1'b1)) == '0;
  endfunction

  `GIVEN(one_at_most(first_i) && one_at_most(second_i))
  assign wrong = first_i ^ second_i;
  assign one   = wrong != '0 && one_at_most(wrong);
  assign two   = wrong != '0 && !one_at_most(wrong);

  switch_ecc_encode #(.DATA_W(DATA_W)) dut (.data_i, .code_o(code));
  switch_ecc_decode #(.DATA_W(DATA_W)) i_decode (.code_i(code ^ wrong), .data_o(data), .corrected_o(corrected), .bad_o(bad));

  `PROVE(WholeIsLeftAlone, wrong != '0 || (data == data_i && !corrected && !bad))
  `PROVE(OneIsCorrected, !one || (data == data_i && corrected && !bad))
  `PROVE(TwoAreFound, !two || (bad && !corrected))
endmodule
