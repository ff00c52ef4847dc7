// SPDX-License-Identifier: Apache-2.0
// Signature of a sequence of records: a linear feedback register of 32 bits (x^32 + x^22 + x^2 + x + 1) into which the words of each record
// are added, word i rotated left by i. The same in C++: model/selftest/signature.hpp.
//
// WORDS  words of 32 bits a record, up to 32
module selftest_signature #(
  parameter int unsigned WORDS = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  input  logic [32*WORDS-1:0] record_i,
  output logic [31:0]         signature_o
);
  if (WORDS < 1 || WORDS > 32) begin : gen_illegal_words
    $fatal(1, "selftest_signature: WORDS is %0d, but must be 1 to 32", WORDS);
  end

  logic [31:0] folded;
  always_comb begin
    folded = '0;
    for (int unsigned i = 0; i < WORDS; i++) folded ^= (record_i[32*i+:32] << i) | (record_i[32*i+:32] >> (32 - i));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) signature_o <= '0;
    else if (valid_i) signature_o <= {signature_o[30:0], signature_o[31] ^ signature_o[21] ^ signature_o[1] ^ signature_o[0]} ^ folded;
  end
endmodule
