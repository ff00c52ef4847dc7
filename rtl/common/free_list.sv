// SPDX-License-Identifier: Apache-2.0
// List of free numbers 0 .. N-1, first in, first out, that fills itself after reset.
//
// N  how many numbers there are (any number from 1)
//
// After reset ready_o is 0 for N + 1 clocks (3 if N is 1) while the list fills; valid_o stays 0 meanwhile and nothing may be pushed.
// pop_i takes id_o away if valid_o is 1 and is ignored otherwise. push_i gives a number back and is always accepted,
// also together with pop_i.
//
// Latency: a number pushed into an empty list is at id_o two clocks later; one pop and one push a clock (N >= 4).
// Limitations: a number that is in the list already must not be pushed; assertions check it in simulation.
`include "weft_assert.svh"

module free_list #(
  parameter int unsigned N = 16,
  localparam int unsigned ID_W    = (N > 1) ? $clog2(N) : 1,
  localparam int unsigned COUNT_W = $clog2(N + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               ready_o,    // filled
  // oldest free number
  output logic               valid_o,
  output logic [   ID_W-1:0] id_o,
  input  logic               pop_i,
  // number to free
  input  logic               push_i,
  input  logic [   ID_W-1:0] push_id_i,
  // free numbers in the list
  output logic [COUNT_W-1:0] count_o
);

  if (N < 1) begin : gen_illegal_n
    $fatal(1, "free_list: N is %0d numbers, but must be at least 1", N);
  end

  localparam int unsigned DEPTH        = 1 << ID_W;
  localparam int unsigned FIFO_COUNT_W = $clog2(DEPTH + 1);

  logic                    filling_q, ready_q;
  logic [        ID_W-1:0] fill_id_q;
  logic                    fifo_valid, unused_fifo_ready;
  logic [FIFO_COUNT_W-1:0] fifo_count;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_q <= 1'b1;
      ready_q   <= 1'b0;
      fill_id_q <= '0;
    end else begin
      if (filling_q) fill_id_q <= fill_id_q + ID_W'(1);
      if (fill_id_q == ID_W'(N - 1)) filling_q <= 1'b0;
      if (!filling_q && fifo_valid) ready_q <= 1'b1;
    end
  end

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH(ID_W)
  ) u_fifo (
    .clk_i,
    .rst_ni,
    .valid_i(filling_q || push_i),
    .ready_o(unused_fifo_ready),
    .data_i (filling_q ? fill_id_q : push_id_i),
    .valid_o(fifo_valid),
    .ready_i(pop_i && ready_q),
    .data_o (id_o),
    .count_o(fifo_count)
  );

  assign ready_o = ready_q;
  assign valid_o = ready_q && fifo_valid;
  assign count_o = COUNT_W'(fifo_count);

  `ASSERT(FreeListNoPushWhileFilling, !(push_i && !ready_q))
  `ASSERT(FreeListPushedIdInRange, !push_i || 32'(push_id_i) < N)
  `ASSERT(FreeListNeverFull, !push_i || 32'(fifo_count) < N)

`ifndef SYNTHESIS
  // Which numbers are in the list, to catch one that is freed twice.
  logic [N-1:0] free_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) free_q <= '1;
    else begin
      if (valid_o && pop_i) free_q[id_o] <= 1'b0;
      if (push_i) free_q[push_id_i] <= 1'b1;
    end
  end
  `ASSERT(FreeListFreedOnce, !push_i || !free_q[push_id_i])
`endif

endmodule
