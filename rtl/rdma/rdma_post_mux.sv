// SPDX-License-Identifier: Apache-2.0
// Puts answers to READs and the posts of the registers and of the host queues on the sender's one stream, and takes each completion back to where its post
// came from.
//
// Answers come first, and the choice is made anew each clock: a post that waits for a context, or for a place for its completion, does not keep an answer
// waiting. Registers and queues are served in turn. There are no completions of answers: the sender says at once when one is over.
//
// Completions for the registers wait here until software reads them; a register post goes on only if its completion has a place. So software that
// does not read its completions never stops those of the queues.
//
// Latency: posts none; a completion to the queues none, to the registers two clocks.
`include "weft_assert.svh"

module rdma_post_mux
  import rdma_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 1024  // completions for the registers that may wait, a power of two
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        open_i,             // posts of the queues are taken
  output logic        idle_o,             // nothing of the registers is waiting or under way
  // registers
  input  logic        reg_post_valid_i,
  output logic        reg_post_ready_o,
  input  post_t       reg_post_i,
  output logic        reg_cpl_valid_o,
  input  logic        reg_cpl_ready_i,
  output completion_t reg_cpl_o,
  output logic [15:0] reg_cpl_count_o,
  // host queues
  input  logic        queue_post_valid_i,
  output logic        queue_post_ready_o,
  input  post_t       queue_post_i,       // origin apart
  output logic        queue_cpl_valid_o,
  input  logic        queue_cpl_ready_i,
  output completion_t queue_cpl_o,
  // answers
  input  logic        answer_post_valid_i,
  output logic        answer_post_ready_o,
  input  post_t       answer_post_i,      // origin apart
  // sender
  output logic        post_valid_o,
  input  logic        post_ready_i,       // may depend on post_valid_o
  output post_t       post_o,             // may change while it waits
  input  logic        cpl_valid_i,
  output logic        cpl_ready_o,
  input  completion_t cpl_i
);
  localparam int unsigned PLACES_W = $clog2(N_TX_CTX + 1);

  // ------------------------------------------------------------------------------------------------- posts
  logic [PLACES_W-1:0] places_q;  // of completions that neither wait nor are owed
  logic [1:0]          grant;
  logic                software, granted, software_ready, take_register;
  post_t               post;

  rr_arbiter #(
    .N(2)
  ) i_arbiter (
    .clk_i,
    .rst_ni,
    .req_i  ({queue_post_valid_i && open_i, reg_post_valid_i && places_q != '0}),
    .take_i (software_ready),
    .valid_o(software),
    .gnt_o  (grant),
    .idx_o  (granted)
  );
  assign post_valid_o        = answer_post_valid_i || software;
  assign answer_post_ready_o = post_ready_i && answer_post_valid_i;
  assign software_ready      = post_ready_i && !answer_post_valid_i;
  assign {queue_post_ready_o, reg_post_ready_o} = software_ready ? grant : '0;
  assign take_register = reg_post_valid_i && reg_post_ready_o;

  always_comb begin : p_post
    post        = granted ? queue_post_i : reg_post_i;
    post.origin = granted ? ORIGIN_QUEUES : ORIGIN_REGISTERS;
    if (answer_post_valid_i) begin
      post        = answer_post_i;
      post.origin = ORIGIN_ANSWERS;
    end
  end
  assign post_o = post;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) places_q <= PLACES_W'(N_TX_CTX);
    else places_q <= places_q - PLACES_W'(take_register) + PLACES_W'(reg_cpl_valid_o && reg_cpl_ready_i);
  end

  // ------------------------------------------------------------------------------------------------- completions
  logic                has_room;
  logic [PLACES_W-1:0] waiting;

  ram_fifo #(
    .DEPTH(N_TX_CTX),
    .WIDTH($bits(completion_t))
  ) i_completions (
    .clk_i,
    .rst_ni,
    .valid_i(cpl_valid_i && cpl_i.origin != ORIGIN_QUEUES),
    .ready_o(has_room),
    .data_i (cpl_i),
    .valid_o(reg_cpl_valid_o),
    .ready_i(reg_cpl_ready_i),
    .data_o (reg_cpl_o),
    .count_o(waiting)
  );
  assign reg_cpl_count_o   = 16'(waiting);
  assign queue_cpl_valid_o = cpl_valid_i && cpl_i.origin == ORIGIN_QUEUES;
  assign queue_cpl_o       = cpl_i;
  assign cpl_ready_o       = cpl_i.origin != ORIGIN_QUEUES || queue_cpl_ready_i;

  assign idle_o = !reg_post_valid_i && places_q == PLACES_W'(N_TX_CTX);

  `ASSERT(RegisterCompletionHasRoom, !(cpl_valid_i && cpl_i.origin != ORIGIN_QUEUES) || has_room)
  `ASSERT(AnswersDoNotComplete, !(cpl_valid_i && cpl_i.origin == ORIGIN_ANSWERS))
  `ASSERT(OneTaken, 32'(reg_post_valid_i && reg_post_ready_o) + 32'(queue_post_valid_i && queue_post_ready_o) +
                    32'(answer_post_valid_i && answer_post_ready_o) == 32'(post_valid_o && post_ready_i))
  `ASSERT(RegisterCompletionIsOwed, !reg_cpl_valid_o || places_q != PLACES_W'(N_TX_CTX))
`ifdef VERILATOR
  `ASSERT(QueuePostStable, queue_post_valid_i && !queue_post_ready_o |=> queue_post_valid_i && $stable(queue_post_i))
`endif
endmodule
