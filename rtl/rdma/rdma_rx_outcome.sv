// SPDX-License-Identifier: Apache-2.0
// What becomes of an event of the receiver (docs/rdma.md, Receiver), from facts found before. Combinational.
module rdma_rx_outcome
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter bit          TRANSFERS = 1'b0,  // outcomes of docs/rdma_transfers.md
  parameter int unsigned SCHEME    = SCHEME_WINDOW
) (
  input  rx_facts_t  facts_i,
  input  logic       weft_mode_i,
  output outcome_e   outcome_o,
  output logic       has_ctx_o,   // it belongs to a context in use, whose WBASE and WVEC mean something
  output rx_answer_e answer_o
);
  always_comb begin : p_outcome
    outcome_o = OUTCOME_NONE;
    has_ctx_o = 1'b0;
    answer_o  = RX_NO_ANSWER;
    if (facts_i.timeout) begin
      has_ctx_o = facts_i.live;
      if (!facts_i.live) begin
        // restarted meanwhile, or free: nothing happens
      end else if (facts_i.reclaim) begin
        outcome_o = OUTCOME_RECLAIM;
      end else if (facts_i.complete_before) begin
        outcome_o = OUTCOME_DONE_AGAIN;
        answer_o  = RX_DONE;
      end else if (weft_mode_i) begin
        outcome_o = OUTCOME_ASK_MAP;
        answer_o  = facts_i.asked ? RX_ACK_FROM : RX_ACK_MAP;
      end else if (facts_i.asked_enough) begin
        outcome_o = OUTCOME_ASK_FROM;
        answer_o  = RX_RESEND_FROM;
      end else begin
        outcome_o = OUTCOME_ASK_ONE;
        answer_o  = RX_RESEND;
      end
    end else if (facts_i.verdict != OUTCOME_NONE) begin
      outcome_o = facts_i.verdict;
      unique case (facts_i.verdict)
        OUTCOME_REFUSE_LENGTH, OUTCOME_REFUSE_ALIGN, OUTCOME_REFUSE_KEY, OUTCOME_REFUSE_REGION,
        OUTCOME_REFUSE_QUOTA, OUTCOME_REFUSE_NO_CONTEXT: answer_o = RX_REFUSAL;
        OUTCOME_REFUSE_QUEUE, OUTCOME_REFUSE_NOT_READY, OUTCOME_REFUSE_TOO_LONG, OUTCOME_REFUSE_NOT_WANTED,
        OUTCOME_REFUSE_BUFFER, OUTCOME_REFUSE_ANSWERS: if (TRANSFERS) answer_o = RX_REFUSAL;
        default: ;
      endcase
    end else if (facts_i.request) begin
      outcome_o = OUTCOME_GRANT;
      has_ctx_o = 1'b1;
      answer_o  = RX_GRANT;
    end else if (facts_i.again) begin
      outcome_o = OUTCOME_DROP_ASKED;
      if (facts_i.used && facts_i.match && facts_i.untouched) begin
        outcome_o = OUTCOME_GRANT_AGAIN;
        has_ctx_o = 1'b1;
        answer_o  = RX_GRANT;
      end
    end else if (!facts_i.used) begin
      outcome_o = OUTCOME_DROP_UNKNOWN_CID;
    end else begin
      has_ctx_o = 1'b1;
      if (!facts_i.match) begin
        outcome_o = !facts_i.source_ok ? OUTCOME_DROP_SOURCE
                  : !facts_i.sid_ok    ? OUTCOME_DROP_SID
                  : !facts_i.msgid_ok  ? OUTCOME_DROP_MSGID : OUTCOME_DROP_ZOMBIE;
      end else if (facts_i.release_it && facts_i.not_yet) begin
        outcome_o = OUTCOME_KEPT;
      end else if (facts_i.release_it) begin
        outcome_o = facts_i.failed ? OUTCOME_RELEASED_FAILED : OUTCOME_RELEASED;
      end else if (!facts_i.key_ok) begin
        outcome_o = OUTCOME_DROP_KEY;
      end else if (facts_i.beyond_end) begin
        outcome_o = OUTCOME_DROP_BEYOND_END;
      end else if (!facts_i.good_length) begin
        outcome_o = OUTCOME_DROP_BAD_LENGTH;
      end else if (!facts_i.good_mark) begin
        outcome_o = OUTCOME_DROP_LAST_MARK;
      end else if (facts_i.outside) begin
        outcome_o = OUTCOME_DROP_REGION;
      end else if (facts_i.mark) begin
        outcome_o = OUTCOME_ACCEPT;
        if (SCHEME == SCHEME_SENDER) answer_o = RX_ACK_ONE;
        else if (weft_mode_i && facts_i.ahead) answer_o = RX_RESEND_HOLE;
      end else if (facts_i.advance && facts_i.complete) begin
        outcome_o = OUTCOME_FINISH;
        answer_o  = RX_DONE;
      end else if (facts_i.restart) begin
        outcome_o = OUTCOME_ASK_FROM;
        answer_o  = RX_RESEND_FROM;
      end else if (facts_i.advance) begin
        outcome_o = OUTCOME_ADVANCE;
        if (weft_mode_i && facts_i.quarter) answer_o = RX_ACK;
      end else if (facts_i.behind || facts_i.in_window) begin
        outcome_o = OUTCOME_DROP_DUPLICATE;
      end else if (SCHEME == SCHEME_COUNTER) begin
        outcome_o = OUTCOME_DROP_EARLY;
      end else begin
        outcome_o = OUTCOME_DROP_WINDOW;
        if (!weft_mode_i) answer_o = RX_RESEND;  // who keeps within the window never comes here
      end
    end
  end
endmodule
