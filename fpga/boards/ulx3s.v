// SPDX-License-Identifier: Apache-2.0
// Self-test on the ULX3S (ECP5-85F): 25 MHz, LEDs D0 to D7 lit by 1, serial line to the USB bridge. Button FIRE 1 starts it again.
module ulx3s(input clk_25mhz, input fire1, output [7:0] led, output ftdi_rxd, output wifi_gpio0);
  reg [4:0] start_q = 0;
  reg [1:0] fire_q = 0;
  wire [5:0] state;
  always @(posedge clk_25mhz) begin
    fire_q <= {fire_q[0], fire1};
    if (fire_q[1]) start_q <= 0;
    else if (!start_q[4]) start_q <= start_q + 1;
  end
  selftest_top i_top (.clk_i(clk_25mhz), .rst_ni(start_q[4]), .led_o(state), .tx_o(ftdi_rxd));
  assign led = {2'b0, state};
  assign wifi_gpio0 = 1'b1;  // or the board's other processor starts it anew
endmodule
