// SPDX-License-Identifier: Apache-2.0
// The timeouts in use: as set, or as measured at the events that retire (docs/rdma.md, Timeouts as measured).
//
// The receiver measures how long a grant takes to its first packet, and how far apart the packets at WBASE of a transfer are; the sender how
// long a request takes to its answer. A timeout is never below what software sets as the floor, never above what it sets as timeout.
module rdma_timeouts
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  // registers
  input  logic               adapt_i,
  input  logic [LIMIT_W-1:0] floor_i,
  input  logic [LIMIT_W-1:0] rx_timeout_i,
  input  logic [LIMIT_W-1:0] tx_retry_i,
  // events that retire
  input  logic               rx_valid_i,
  input  outcome_e           rx_outcome_i,
  input  logic [       15:0] rx_cid_i,
  input  logic [ TICK_W-1:0] rx_now_i,
  input  logic               tx_valid_i,
  input  outcome_e           tx_outcome_i,
  input  logic [       15:0] tx_sid_i,
  input  logic [ TICK_W-1:0] tx_now_i,
  // ticks; four clocks after the event, one after a register
  output logic [LIMIT_W-1:0] rx_timeout_o,
  output logic [LIMIT_W-1:0] tx_retry_o
);
  logic rx_grants, rx_accepts, rx_advances, rx_finishes, rx_ends;  // rx_ends: a timeout came, or the context is free
  logic tx_requests, tx_answers, tx_ends;

  always_comb begin : p_events
    rx_grants   = rx_valid_i && rx_outcome_i == OUTCOME_GRANT;
    rx_advances = rx_valid_i && rx_outcome_i == OUTCOME_ADVANCE;
    rx_finishes = rx_valid_i && rx_outcome_i == OUTCOME_FINISH;
    rx_accepts  = rx_valid_i && rx_outcome_i == OUTCOME_ACCEPT;
    tx_requests = tx_valid_i && tx_outcome_i == OUTCOME_SUBMIT;
    unique case (rx_outcome_i)
      OUTCOME_ASK_ONE, OUTCOME_ASK_FROM, OUTCOME_ASK_MAP, OUTCOME_RECLAIM, OUTCOME_RELEASED, OUTCOME_RELEASED_FAILED: rx_ends = rx_valid_i;
      default: rx_ends = 1'b0;
    endcase
    unique case (tx_outcome_i)
      OUTCOME_GRANTED, OUTCOME_BACKOFF, OUTCOME_REFUSED: tx_answers = tx_valid_i;
      default: tx_answers = 1'b0;
    endcase
    tx_ends = tx_valid_i && (tx_outcome_i == OUTCOME_RETRY_RQT || tx_outcome_i == OUTCOME_GIVE_UP);
  end

  logic               answer_known, pace_known, request_known;
  logic [LIMIT_W-1:0] answer, pace, request, slower;

  rdma_rtt i_answer (
    .clk_i, .rst_ni, .id_i(rx_cid_i), .now_i(rx_now_i), .begin_i(rx_grants),
    .end_i(rx_accepts || rx_advances || rx_finishes), .cancel_i(rx_ends),
    .known_o(answer_known), .timeout_o(answer)
  );

  rdma_rtt i_pace (
    .clk_i, .rst_ni, .id_i(rx_cid_i), .now_i(rx_now_i), .begin_i(rx_advances), .end_i(rx_advances || rx_finishes),
    .cancel_i(rx_ends || rx_accepts), .known_o(pace_known), .timeout_o(pace)
  );

  rdma_rtt i_request (
    .clk_i, .rst_ni, .id_i(tx_sid_i), .now_i(tx_now_i), .begin_i(tx_requests), .end_i(tx_answers), .cancel_i(tx_ends),
    .known_o(request_known), .timeout_o(request)
  );

  function automatic logic [LIMIT_W-1:0] bounded(logic [LIMIT_W-1:0] measured, logic [LIMIT_W-1:0] least,
                                                 logic [LIMIT_W-1:0] most);
    logic [LIMIT_W-1:0] raised;
    raised = measured > least ? measured : least;
    return raised < most ? raised : most;
  endfunction

  assign slower = pace_known && pace > answer ? pace : answer;

  always_ff @(posedge clk_i) begin
    rx_timeout_o <= adapt_i && answer_known ? bounded(slower, floor_i, rx_timeout_i) : rx_timeout_i;
    tx_retry_o   <= adapt_i && request_known ? bounded(request, floor_i, tx_retry_i) : tx_retry_i;
  end
endmodule
