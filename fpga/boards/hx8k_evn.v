// SPDX-License-Identifier: Apache-2.0
// Self-test on the Lattice iCE40-HX8K breakout board (iCE40HX8K-B-EVN): 12 MHz, LEDs D2 to D9 lit by 1, serial line to the USB bridge.
// Starts by itself when configured; no button.
module hx8k_evn(input clk_12mhz, output [7:0] led, output tx);
  reg [4:0] start_q = 0;
  wire [5:0] state;
  always @(posedge clk_12mhz) if (!start_q[4]) start_q <= start_q + 1;
  selftest_top i_top (.clk_i(clk_12mhz), .rst_ni(start_q[4]), .led_o(state), .tx_o(tx));
  assign led = {2'b0, state};
endmodule
