// SPDX-License-Identifier: Apache-2.0
// Merges several valid/ready streams into one, word by word in turn.
//
// N  streams (any number from 1)
// T  type of a word
//
// Latency: one clock; a word a clock. The output comes out of flops and ready_o does not depend on ready_i.
module stream_arbiter #(
  parameter int unsigned N = 2,
  parameter type         T = logic
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [N-1:0] valid_i,
  output logic [N-1:0] ready_o,
  input  T             data_i[N],
  output logic         valid_o,
  input  logic         ready_i,
  output T             data_o
);
  localparam int unsigned IDX_W = (N > 1) ? $clog2(N) : 1;

  logic [N-1:0]     grant;
  logic [IDX_W-1:0] granted;
  logic             any, free;

  rr_arbiter #(
    .N(N)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i  (valid_i),
    .take_i (free),
    .valid_o(any),
    .gnt_o  (grant),
    .idx_o  (granted)
  );
  assign ready_o = free ? grant : '0;

  sync_fifo #(
    .DEPTH(2),
    .T    (T)
  ) i_words (
    .clk_i,
    .rst_ni,
    .valid_i(any),
    .ready_o(free),
    .data_i (data_i[granted]),
    .valid_o,
    .ready_i,
    .data_o,
    .count_o()
  );
endmodule
