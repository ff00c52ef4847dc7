// SPDX-License-Identifier: Apache-2.0
// Answers to READs of other nodes (docs/rdma_transfers.md, Receiver): counts them, queues them for the sender, and says how many contexts are kept for them.
//
// The receiver asks for room, takes a place, and gives the post some clocks later: so it always has room here.
//
// DEPTH     answers at the most, a power of two from 2
// N_TX_CTX  contexts of the sender; software is left at least one
//
// Latency: a post two clocks; room and contexts kept follow in the next clock, the register ANSWERS a clock later.
`include "weft_assert.svh"

module rdma_answers
  import rdma_pkg::*;
#(
  parameter int unsigned DEPTH    = 16,
  parameter int unsigned N_TX_CTX = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        idle_o,         // no answer is posted or under way
  input  logic [15:0] answers_i,      // so many at a time, register ANSWERS; DEPTH and N_TX_CTX - 1 at the most
  // receiver
  output logic        answer_room_o,  // one more may be taken
  input  logic        answer_take_i,  // one is; its post comes later
  input  logic        read_valid_i,
  input  post_t       read_i,
  // sender
  output logic        post_valid_o,
  input  logic        post_ready_i,
  output post_t       post_o,
  input  logic        done_i,         // an answer is over, and in this clock its context is freed
  output logic [15:0] keep_o          // contexts to be left to answers
);
  localparam int unsigned MOST    = DEPTH < N_TX_CTX ? DEPTH : N_TX_CTX - 1;
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) begin : g_bad_depth
    $error("DEPTH must be a power of two of at least 2, is %0d", DEPTH);
  end
  if (N_TX_CTX < 2) begin : g_bad_n
    $error("N_TX_CTX must be at least 2, is %0d", N_TX_CTX);
  end

  logic [COUNT_W-1:0] bound_q;      // answers at a time
  logic [COUNT_W-1:0] count_q;      // taken, and not over
  logic [COUNT_W-1:0] under_way_q;  // of those, the ones that have a context
  logic [COUNT_W-1:0] count, kept, waiting;
  logic               room_q, start, has_room;

  assign start = post_valid_o && post_ready_i;
  assign count = count_q + COUNT_W'(answer_take_i) - COUNT_W'(done_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bound_q     <= '0;
      count_q     <= '0;
      under_way_q <= '0;
      room_q      <= 1'b0;
    end else begin
      bound_q     <= answers_i > 16'(MOST) ? COUNT_W'(MOST) : COUNT_W'(answers_i);
      count_q     <= count;
      under_way_q <= under_way_q + COUNT_W'(start) - COUNT_W'(done_i);
      room_q      <= count < bound_q;
    end
  end

  assign answer_room_o = room_q;
  assign kept          = bound_q > under_way_q ? bound_q - under_way_q : '0;
  assign keep_o        = 16'(kept);
  assign idle_o        = count_q == '0;

  ram_fifo #(
    .DEPTH(DEPTH),
    .WIDTH($bits(post_t))
  ) i_posts (
    .clk_i,
    .rst_ni,
    .valid_i(read_valid_i),
    .ready_o(has_room),
    .data_i (read_i),
    .valid_o(post_valid_o),
    .ready_i(post_ready_i),
    .data_o (post_o),
    .count_o(waiting)
  );

  `ASSERT(TakenWithRoom, !answer_take_i || room_q)
  `ASSERT(AnswersWithinDepth, count_q <= COUNT_W'(MOST))
  `ASSERT(ReadHasRoom, !read_valid_i || has_room)
  `ASSERT(ReadWasTaken, !read_valid_i || 32'(waiting) + 32'(under_way_q) < 32'(count_q))
  `ASSERT(DoneWasUnderWay, !done_i || under_way_q != '0)
endmodule
