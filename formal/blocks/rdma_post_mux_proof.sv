// SPDX-License-Identifier: Apache-2.0
// rdma_post_mux hands on every post once and as it is, answers first, registers and queues in turn; and every completion once, to where its post came from,
// those of the registers in order. The sender completes what it has taken.
`include "proof.svh"

module rdma_post_mux_proof
  import rdma_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 2,
  localparam int unsigned WIDTH   = $bits(completion_t),
  localparam int unsigned COUNT_W = $clog2(N_TX_CTX + 1)
) (
  input logic        clk_i, rst_ni, open_i, reg_post_valid_i, queue_post_valid_i, answer_post_valid_i, post_ready_i,
  input logic        cpl_valid_i, reg_cpl_ready_i, queue_cpl_ready_i,
  input post_t       reg_post_i, queue_post_i, answer_post_i,
  input completion_t cpl_i
);
  logic        idle, reg_ready, queue_ready, answer_ready, valid, cpl_ready, reg_cpl_valid, queue_cpl_valid;
  post_t       post, expected;
  completion_t reg_cpl, queue_cpl;
  logic [15:0] reg_cpl_count;
  logic        reg_taken, queue_taken, answer_taken, reg_ended, reg_waits, queue_waits;
  logic        reg_passed_q, queue_passed_q;  // the other one was taken while it waited
  logic [COUNT_W-1:0]                owed_q;  // register posts that the sender has not completed
  logic [COUNT_W-1:0]                written, committed;
  logic [N_TX_CTX-1:0][WIDTH-1:0]    words;
  logic        pending_q;
  post_t       pending_post_q;

  `PROOF_RESET
  // The sender completes what it has, and no answers; a post of the queues stays until it is taken.
  `GIVEN(!cpl_valid_i || cpl_i.origin == ORIGIN_QUEUES || (cpl_i.origin == ORIGIN_REGISTERS && owed_q != '0))
  `GIVEN(!pending_q || (queue_post_valid_i && queue_post_i == pending_post_q))

  rdma_post_mux #(.N_TX_CTX(N_TX_CTX)) dut (
    .clk_i, .rst_ni, .open_i, .idle_o(idle), .reg_post_valid_i, .reg_post_ready_o(reg_ready), .reg_post_i, .reg_cpl_valid_o(reg_cpl_valid),
    .reg_cpl_ready_i, .reg_cpl_o(reg_cpl), .reg_cpl_count_o(reg_cpl_count), .queue_post_valid_i, .queue_post_ready_o(queue_ready), .queue_post_i,
    .queue_cpl_valid_o(queue_cpl_valid), .queue_cpl_ready_i, .queue_cpl_o(queue_cpl), .answer_post_valid_i, .answer_post_ready_o(answer_ready),
    .answer_post_i, .post_valid_o(valid), .post_ready_i, .post_o(post), .cpl_valid_i, .cpl_ready_o(cpl_ready), .cpl_i
  );
  queue_model #(.DEPTH(N_TX_CTX), .WIDTH(WIDTH)) model (
    .clk_i, .rst_ni, .push_i(reg_ended), .data_i(cpl_i), .commit_i(1'b1), .rollback_i(1'b0), .pop_i(reg_cpl_valid && reg_cpl_ready_i),
    .written_o(written), .committed_o(committed), .words_o(words)
  );

  assign reg_taken    = reg_post_valid_i && reg_ready;
  assign queue_taken  = queue_post_valid_i && queue_ready;
  assign answer_taken = answer_post_valid_i && answer_ready;
  assign reg_ended    = cpl_valid_i && cpl_ready && cpl_i.origin == ORIGIN_REGISTERS;
  assign reg_waits    = reg_post_valid_i && 32'(owed_q) + 32'(written) != N_TX_CTX;
  assign queue_waits  = queue_post_valid_i && open_i;

  always_ff @(posedge clk_i) begin
    pending_q      <= rst_ni && queue_post_valid_i && !queue_taken;
    pending_post_q <= queue_post_i;
    owed_q         <= rst_ni ? owed_q + COUNT_W'(reg_taken) - COUNT_W'(reg_ended) : '0;
    reg_passed_q   <= rst_ni && reg_waits && !reg_taken && (reg_passed_q || queue_taken);
    queue_passed_q <= rst_ni && queue_waits && !queue_taken && (queue_passed_q || reg_taken);
  end

  // The post whose turn it is, with its origin.
  always_comb begin
    expected        = reg_taken ? reg_post_i : queue_taken ? queue_post_i : answer_post_i;
    expected.origin = reg_taken ? ORIGIN_REGISTERS : queue_taken ? ORIGIN_QUEUES : ORIGIN_ANSWERS;
  end

  `PROVE(HandedOnOnce, 32'(reg_taken) + 32'(queue_taken) + 32'(answer_taken) == 32'(valid && post_ready_i))
  `PROVE(HandedOnAsItIs, !(valid && post_ready_i) || post == expected)
  `PROVE(ShownWhenThereIsOne, valid == (answer_post_valid_i || reg_waits || queue_waits))
  `PROVE(AnswersFirst, !(answer_post_valid_i && post_ready_i) || answer_taken)
  `PROVE(OnlyWhoMay, (!reg_taken || reg_waits) && (!queue_taken || queue_waits))
  `PROVE(RegistersInTurn, !(reg_passed_q && queue_taken && reg_waits))
  `PROVE(QueuesInTurn, !(queue_passed_q && reg_taken && queue_waits))
  `PROVE(QueueCompletionGoesThere, queue_cpl_valid == (cpl_valid_i && cpl_i.origin == ORIGIN_QUEUES) && (!queue_cpl_valid || queue_cpl == cpl_i))
  `PROVE(RegistersDoNotStopCompletions, !(cpl_valid_i && cpl_i.origin == ORIGIN_REGISTERS) || cpl_ready)
  `PROVE(QueuesStopTheirOwn, !queue_cpl_valid || cpl_ready == queue_cpl_ready_i)
  `PROVE(RegisterCompletionsInOrder, !reg_cpl_valid || (written != '0 && WIDTH'(reg_cpl) == words[0]))
  `PROVE(CountIsRight, 32'(reg_cpl_count) == 32'(written))
  `PROVE(IdleIsTrue, !idle || (owed_q == '0 && written == '0 && !reg_post_valid_i))

  // For the induction.
  `PROVE(Places, 32'(dut.places_q) + 32'(owed_q) + 32'(written) == N_TX_CTX && committed == written)
  `PROVE(Turns, (!reg_passed_q || dut.i_arbiter.behind_q == 2'b00) && (!queue_passed_q || dut.i_arbiter.behind_q == 2'b10))
endmodule
