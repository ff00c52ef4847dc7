// SPDX-License-Identifier: Apache-2.0
// Adds check bits to a word, by which switch_ecc_decode corrects one wrong bit and finds two.
module switch_ecc_encode
  import switch_ecc_pkg::*;
#(
  parameter int unsigned DATA_W = 16,
  localparam int unsigned CHECK_W = check_bits(DATA_W),
  localparam int unsigned CODE_W = DATA_W + CHECK_W + 1
) (
  input  logic [DATA_W-1:0] data_i,
  output logic [CODE_W-1:0] code_o   // {even, checks, data}
);
  logic [CHECK_W-1:0] checks;

  for (genvar k = 0; k < int'(CHECK_W); k++) begin : gen_checks
    logic [DATA_W-1:0] covered;
    for (genvar i = 0; i < int'(DATA_W); i++) begin : gen_bits
      localparam logic [CHECK_W-1:0] PLACE = CHECK_W'(place_of(i));  // a constant: simulators work it out once
      assign covered[i] = PLACE[k] && data_i[i];
    end
    assign checks[k] = ^covered;
  end
  assign code_o = {^{checks, data_i}, checks, data_i};
endmodule
