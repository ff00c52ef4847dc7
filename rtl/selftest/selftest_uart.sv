// SPDX-License-Identifier: Apache-2.0
// Sends bytes over a serial line: 8 data bits, no parity, one stop bit.
//
// CLOCKS  clocks a bit
module selftest_uart #(
  parameter int unsigned CLOCKS = 104
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       tx_o
);
  if (CLOCKS < 2) begin : gen_illegal_clocks
    $fatal(1, "selftest_uart: CLOCKS is %0d, but must be at least 2", CLOCKS);
  end

  logic [$clog2(CLOCKS)-1:0] clock_q;
  logic [3:0]                left_q;   // bits, the one on the line included
  logic [9:0]                frame_q;  // stop bit, data, start bit: bit 0 is on the line

  assign ready_o = left_q == '0;
  assign tx_o    = frame_q[0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clock_q <= '0;
      left_q  <= '0;
      frame_q <= '1;
    end else if (ready_o) begin
      clock_q <= '0;
      if (valid_i) begin
        frame_q <= {1'b1, data_i, 1'b0};
        left_q  <= 4'd10;
      end
    end else if (32'(clock_q) == CLOCKS - 1) begin
      clock_q <= '0;
      frame_q <= {1'b1, frame_q[9:1]};
      left_q  <= left_q - 1'b1;
    end else clock_q <= clock_q + 1'b1;
  end
endmodule
