// SPDX-License-Identifier: Apache-2.0
// Corrects one wrong bit of a word with check bits; says so of it, and of more that it cannot correct.
module switch_ecc_decode
  import switch_ecc_pkg::*;
#(
  parameter int unsigned DATA_W = 16,
  localparam int unsigned CHECK_W = check_bits(DATA_W),
  localparam int unsigned CODE_W = DATA_W + CHECK_W + 1
) (
  input  logic [CODE_W-1:0] code_i,
  output logic [DATA_W-1:0] data_o,
  output logic              corrected_o,  // one bit was wrong, of data or check bits
  output logic              bad_o         // more were: data_o has no meaning
);
  logic [CODE_W-1:0]  again;
  logic [CHECK_W-1:0] syndrome;
  logic [DATA_W-1:0]  here;
  logic               odd, at_check;

  switch_ecc_encode #(.DATA_W(DATA_W)) i_again (.data_i(code_i[DATA_W-1:0]), .code_o(again));
  assign syndrome = again[DATA_W+:CHECK_W] ^ code_i[DATA_W+:CHECK_W];
  assign odd      = ^code_i;
  assign at_check = (syndrome & (syndrome - 1'b1)) == '0;  // or the last bit: no place at all

  for (genvar i = 0; i < int'(DATA_W); i++) begin : gen_bits
    localparam logic [CHECK_W-1:0] PLACE = CHECK_W'(place_of(i));
    assign here[i] = odd && syndrome == PLACE;
  end
  assign data_o      = code_i[DATA_W-1:0] ^ here;
  assign corrected_o = odd && (at_check || here != '0);
  assign bad_o       = odd ? !at_check && here == '0 : syndrome != '0;
  logic unused;
  assign unused = ^{again[CODE_W-1], again[DATA_W-1:0]};
endmodule
