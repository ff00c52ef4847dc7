// SPDX-License-Identifier: Apache-2.0
// A line of text for each unit, once all have ended: letter, PASS or FAIL, index of the first wrong answer, signature, as in "R PASS 0000 1A2B3C4D".
//
// UNITS    1 to 4
// LETTERS  of the units, the first one's in the low byte
// CLOCKS   clocks a bit of the serial line
module selftest_report
  import selftest_pkg::*;
#(
  parameter int unsigned UNITS   = 2,
  parameter logic [31:0] LETTERS = "LR",
  parameter int unsigned CLOCKS  = 104
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  input  logic    start_i,  // stays 1
  input  result_t [UNITS-1:0] result_i,
  output logic    tx_o
);
  localparam int unsigned LINE = 22;  // characters

  if (UNITS < 1 || UNITS > 4) begin : gen_illegal_units
    $fatal(1, "selftest_report: UNITS is %0d, but must be 1 to 4", UNITS);
  end

  logic [4:0] column_q;
  logic [2:0] unit_q;
  logic       ready, sending;
  logic [7:0] character;
  result_t    result;
  logic [7:0] letter;
  logic       unused;

  assign unused  = result.done;  // all are
  assign sending = start_i && 32'(unit_q) < UNITS;

  always_comb begin
    result = result_i[0];
    letter = LETTERS[7:0];
    for (int unsigned i = 1; i < UNITS; i++) begin
      if (32'(unit_q) == i) begin
        result = result_i[i];
        letter = LETTERS[8*i+:8];
      end
    end
  end

  function automatic logic [7:0] hexadecimal(logic [3:0] digit);
    return digit < 4'd10 ? 8'h30 + 8'(digit) : 8'h37 + 8'(digit);
  endfunction

  always_comb begin
    unique case (column_q)
      5'd0:    character = letter;
      5'd2:    character = result.failed ? "F" : "P";
      5'd3:    character = "A";
      5'd4:    character = result.failed ? "I" : "S";
      5'd5:    character = result.failed ? "L" : "S";
      5'd7:    character = hexadecimal(result.index[15:12]);
      5'd8:    character = hexadecimal(result.index[11:8]);
      5'd9:    character = hexadecimal(result.index[7:4]);
      5'd10:   character = hexadecimal(result.index[3:0]);
      5'd12:   character = hexadecimal(result.signature[31:28]);
      5'd13:   character = hexadecimal(result.signature[27:24]);
      5'd14:   character = hexadecimal(result.signature[23:20]);
      5'd15:   character = hexadecimal(result.signature[19:16]);
      5'd16:   character = hexadecimal(result.signature[15:12]);
      5'd17:   character = hexadecimal(result.signature[11:8]);
      5'd18:   character = hexadecimal(result.signature[7:4]);
      5'd19:   character = hexadecimal(result.signature[3:0]);
      5'd20:   character = 8'h0d;
      5'd21:   character = 8'h0a;
      default: character = " ";
    endcase
  end

  selftest_uart #(.CLOCKS(CLOCKS)) i_uart (.clk_i, .rst_ni, .valid_i(sending), .ready_o(ready), .data_i(character), .tx_o);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      column_q <= '0;
      unit_q   <= '0;
    end else if (sending && ready) begin
      column_q <= 32'(column_q) == LINE - 1 ? '0 : column_q + 1'b1;
      if (32'(column_q) == LINE - 1) unit_q <= unit_q + 1'b1;
    end
  end
endmodule
