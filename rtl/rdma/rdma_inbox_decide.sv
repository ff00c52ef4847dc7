// SPDX-License-Identifier: Apache-2.0
// What becomes of an event, from what was found out about it (docs/rdma_transfers.md, Inbox). No clock: everything is there in decide.
module rdma_inbox_decide
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
(
  input  logic    decide_i,
  input  job_e    job_i,
  // event
  input  logic    post_read_i,   // of a READ, otherwise of a RECV
  input  logic    post_empty_i,  // of no bytes
  input  undone_t undone_i,
  input  found_t  found_i,
  input  looked_t looked_i,
  // ticket
  input  known_t  known_i,
  input  timing_t timing_i,
  input  logic    unreadable_i,  // the peer could not read what it was to answer with
  // its queue
  input  logic    is_open_i,
  input  logic    list_any_i,
  input  logic    room_i,        // for a post there is a ticket that the queue may have
  output ops_t    ops_o
);
  outcome_e reject_outcome, refusal;
  status_e  reject_status;
  admit_e   admit;
  logic     rejected, bad_length, waits, for_inbox, look_again, other_message, wait_again;

  assign waits      = known_i.state == TICKET_WAITING;
  assign bad_length = post_empty_i ? post_read_i : found_i.verdict == OUTCOME_REFUSE_LENGTH;

  always_comb begin : p_post
    rejected       = 1'b1;
    reject_outcome = OUTCOME_REJECT_TICKET;
    reject_status  = STATUS_NO_TICKET;
    if (!is_open_i) begin
      reject_outcome = OUTCOME_REJECT_CLOSED;
      reject_status  = STATUS_CANCELLED;
    end else if (post_read_i && looked_i.bad_node) begin
      reject_outcome = OUTCOME_REJECT_NODE;
      reject_status  = STATUS_BAD_NODE;
    end else if (bad_length) begin
      reject_outcome = OUTCOME_REJECT_LENGTH;
      reject_status  = STATUS_BAD_LENGTH;
    end else if (looked_i.misaligned) begin
      reject_outcome = OUTCOME_REJECT_ALIGN;
      reject_status  = STATUS_MISALIGNED;
    end else if (post_read_i && looked_i.beyond) begin
      reject_outcome = OUTCOME_REJECT_ADDRESS;
      reject_status  = STATUS_BAD_ADDRESS;
    end else if (!post_empty_i && found_i.verdict != OUTCOME_NONE) begin
      reject_outcome = OUTCOME_REJECT_BUFFER;
      reject_status  = STATUS_BAD_BUFFER;
    end else if (room_i) begin
      rejected       = 1'b0;
      reject_outcome = post_read_i ? OUTCOME_ASK : OUTCOME_WAIT;
    end
  end

  // What the receiver refuses anyhow is none of the inbox.
  assign for_inbox = found_i.asks != ASKS_NOTHING && found_i.verdict != OUTCOME_REFUSE_LENGTH &&
                     !(found_i.asks == ASKS_WRITE && found_i.verdict != OUTCOME_NONE);

  always_comb begin : p_admit
    admit         = ADMIT_NONE;
    refusal       = OUTCOME_NONE;
    other_message = 1'b0;
    look_again    = 1'b0;
    if (decide_i && job_i == DO_RQT && for_inbox) begin
      admit = ADMIT_REFUSE;
      if (found_i.maybe && !looked_i.same) other_message = 1'b1;
      else if (found_i.maybe && known_i.state == TICKET_BOUND) admit = ADMIT_AGAIN;
      else if (found_i.maybe && known_i.state == TICKET_TAKEN) admit = ADMIT_DROP;
      else if (found_i.maybe) look_again = 1'b1;  // it was over meanwhile
      else if (found_i.asks == ASKS_ANSWER) begin
        if (!looked_i.exists || !known_i.is_read || known_i.state == TICKET_FREE || known_i.state == TICKET_ENDING || (waits && !is_open_i) || !looked_i.wanted)
          refusal = OUTCOME_REFUSE_NOT_WANTED;
        else admit = waits ? ADMIT_BUFFER : ADMIT_DROP;
      end else if (found_i.asks == ASKS_SEND ? looked_i.key_changed : found_i.queue_changed) look_again = 1'b1;
      else if (!found_i.queue_exists || !is_open_i || (found_i.asks == ASKS_SEND && !looked_i.key_ok)) refusal = OUTCOME_REFUSE_QUEUE;
      else if (!list_any_i) refusal = OUTCOME_REFUSE_NOT_READY;
      else if (found_i.asks == ASKS_SEND && looked_i.too_long) refusal = OUTCOME_REFUSE_TOO_LONG;
      else admit = found_i.asks == ASKS_SEND ? ADMIT_BUFFER : ADMIT_TICKET;
    end
  end

  always_comb begin : p_decide
    ops_o               = '0;
    wait_again          = 1'b0;
    ops_o.outcome       = OUTCOME_NONE;
    ops_o.status        = STATUS_OK;
    ops_o.admit         = admit;
    ops_o.refusal       = refusal;
    ops_o.other_message = other_message;
    ops_o.hand_on       = decide_i && job_i == DO_RQT && !other_message && !look_again;
    ops_o.take          = ops_o.hand_on && (admit == ADMIT_BUFFER || admit == ADMIT_TICKET);
    if (decide_i) begin
      unique case (job_i)
        DO_POST: begin
          ops_o.outcome    = reject_outcome;
          ops_o.status     = reject_status;
          ops_o.rejected   = rejected;
          ops_o.new_ticket = !rejected;
          ops_o.ask        = !rejected && post_read_i;
        end
        DO_RSP: begin
          if (!waits || !known_i.is_read || looked_i.granted || !looked_i.fits) ops_o.outcome = OUTCOME_DROP_OLD_READ;
          else begin
            ops_o.back_off = looked_i.busy && !timing_i.too_busy;
            ops_o.end_it   = !ops_o.back_off;
            ops_o.outcome  = ops_o.back_off ? OUTCOME_BACKOFF_READ : OUTCOME_REFUSED_READ;
            ops_o.status   = looked_i.busy ? STATUS_REMOTE_BUSY : looked_i.status;
          end
        end
        DO_DECIDED: begin
          ops_o.back_off = !undone_i.no_buffer && undone_i.busy && known_i.is_read && !timing_i.too_busy;
          ops_o.end_it   = undone_i.no_buffer || (undone_i.busy && known_i.is_read && timing_i.too_busy);
          ops_o.status   = undone_i.no_buffer ? STATUS_BAD_BUFFER : STATUS_REMOTE_BUSY;
          wait_again     = !ops_o.end_it;
        end
        DO_LEAVE: begin
          if (known_i.state == TICKET_ENDING) begin
            ops_o.outcome = OUTCOME_ARRIVED;
            ops_o.end_it  = 1'b1;
            ops_o.met     = 1'b1;
            ops_o.status  = known_i.failed ? STATUS_LOCAL_ERROR : STATUS_OK;
          end else begin
            ops_o.outcome = OUTCOME_RETURNED;
            ops_o.end_it  = known_i.is_read && (unreadable_i || timing_i.last_try);
            ops_o.retry   = known_i.is_read && !ops_o.end_it;
            ops_o.status  = unreadable_i ? STATUS_REMOTE_ERROR : STATUS_DEAD_PEER;
            wait_again    = !ops_o.end_it;
          end
        end
        DO_SWEEP: begin
          if (waits && !is_open_i) begin
            ops_o.outcome = OUTCOME_CANCEL;
            ops_o.end_it  = 1'b1;
            ops_o.status  = STATUS_CANCELLED;
          end else if (waits && known_i.is_read && timing_i.due) begin
            ops_o.outcome = timing_i.last_try ? OUTCOME_GIVE_UP_READ : OUTCOME_RETRY_READ;
            ops_o.end_it  = timing_i.last_try;
            ops_o.retry   = !timing_i.last_try;
            ops_o.ask     = !timing_i.last_try;
            ops_o.status  = STATUS_NO_ANSWER;
          end
        end
        default: ;
      endcase
    end

    ops_o.put        = ops_o.new_ticket || wait_again || ops_o.end_it || ops_o.take;
    ops_o.state      = ops_o.take ? TICKET_TAKEN : ops_o.end_it ? TICKET_FREE : TICKET_WAITING;
    ops_o.pop        = ops_o.take && found_i.asks != ASKS_ANSWER;
    ops_o.push_back  = ops_o.new_ticket && !post_read_i;
    ops_o.push_front = wait_again && !known_i.is_read && is_open_i;
    ops_o.complete   = ops_o.end_it || ops_o.rejected;
    ops_o.traced     = ops_o.hand_on || (decide_i && (ops_o.outcome != OUTCOME_NONE || job_i == DO_DECIDED));
  end
endmodule
