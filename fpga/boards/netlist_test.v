// SPDX-License-Identifier: Apache-2.0
// Runs a board's netlist until its serial line has said LINES lines; prints them, then the LEDs. CLOCK, TX: names of the board's pins; BIT: clocks a bit;
// TIED: connections of its other inputs. +leds: it ends as soon as the LEDs tell whether all has passed. +change=N: the N-th of the LUTs that can be is inverted.
`timescale 1ns/1ps
module netlist_test;
  reg clk = 0;
  wire [7:0] led;
  wire tx;
  integer lines = 0, clocks = 0, i;
  integer change = 0;  // LUT; 0: none. The netlist looks at it
  reg leds = 0;
  reg [7:0] char;

  `BOARD i_board (.`CLOCK(clk), .led(led), .`TX(tx) `TIED);

  always #10 clk = !clk;
  always @(posedge clk) begin
    clocks = clocks + 1;
    if (clocks == `LIMIT) begin
      $display("no report in %0d clocks, led %b", clocks, led);
      $finish;
    end
  end

  always @(posedge clk) if (leds) begin
    if (led[4] === 1'b1) $display("passed");
    if ((led[1] | led[3]) === 1'b1) $display("failed");
    if ((led[1] | led[3] | led[4]) === 1'b1) $finish;
  end

  initial begin
    if (!$value$plusargs("change=%d", change)) change = 0;
    leds = $test$plusargs("leds") != 0;
    while (lines < `LINES) begin
      @(negedge tx);
      repeat (`BIT / 2) @(posedge clk);
      for (i = 0; i < 8; i = i + 1) begin
        repeat (`BIT) @(posedge clk);
        char[i] = tx;
      end
      if (char != 8'h0d && !leds) $write("%c", char);
      if (char == 8'h0a) lines = lines + 1;
      repeat (`BIT) @(posedge clk);
    end
    $display("led %b after %0d clocks", led, clocks);
    $finish;
  end
endmodule
