// SPDX-License-Identifier: Apache-2.0
// First-word fall-through FIFO in RAM, for many or wide words.
//
// DEPTH  words it holds (a power of two from 2)
// WIDTH  bits a word
//
// Latency: a word is at the output two clocks after it was taken. ready_o does not depend on ready_i.
// Limitations: a word a clock needs DEPTH >= 4. data_o is undefined while valid_o is 0.
module ram_fifo #(
  parameter int unsigned DEPTH = 16,
  parameter int unsigned WIDTH = 8,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // write side
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [  WIDTH-1:0] data_i,
  // read side
  output logic               valid_o,
  input  logic               ready_i,
  output logic [  WIDTH-1:0] data_o,
  // words inside
  output logic [COUNT_W-1:0] count_o
);

  logic [COUNT_W-1:0] unused_free;

  packet_fifo #(
    .DEPTH(DEPTH),
    .WIDTH(WIDTH)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i,
    .commit_i  (1'b1),
    .rollback_i(1'b0),
    .free_o    (unused_free),
    .valid_o,
    .ready_i,
    .data_o,
    .count_o
  );

endmodule
