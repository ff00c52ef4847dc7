// SPDX-License-Identifier: Apache-2.0
// Inbox of the RDMA engine: tickets of RECVs and READs, one event after the other (docs/rdma_transfers.md, Inbox).
//
//   choose  the event: a decision first; the others in turn. It waits in front, where post and RQT look up region, fingerprint of the message and queue
//   seek    the last clock in front; RQT: a ticket with that fingerprint that is not yet ruled out, otherwise the one that it would take
//   READ    what is kept of the ticket
//   DATA    compare; post: take a free ticket
//   DECIDE  all changes in one clock; or the RQT, which has stayed in its FIFO, is looked at once more; the trace record comes one clock later
//
// One event is in front while the one before is in READ, DATA or DECIDE; it may seek during DECIDE, a RQT only if that cannot change a list. So a message costs
// nine clocks: three each for its RECV, its RQT and its end.
//
// The receiver's events change tickets meanwhile, one a clock. A trace record of clock t knows of them (and of write errors) up to clock t - 3, of queues
// and other settings up to clock t - 2, of regions up to clock t - 4: in this order is the golden model to be called, errors before the event of the
// same clock. A decision that is not a grant has its own record and counts from there on.
//
// Nothing outside can stop the inbox: a post is taken when there is a place for its completion; a READ that finds no room is dropped, its timer
// repeats it. Only the next RQT waits until the receiver has taken the one before, and decided all but UNDECIDED - 1 of them.
`include "weft_assert.svh"

module rdma_inbox
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
  import rdma_inbox_pkg::*;
#(
  parameter int unsigned N_TICKETS = 64,   // a power of two
  parameter int unsigned N_QUEUES  = 8,
  parameter int unsigned N_REGIONS = 64,
  parameter int unsigned PAYLOAD   = 256,  // bytes of a full packet
  parameter int unsigned PIDX_W    = 24,
  parameter int unsigned CID_W     = 10,
  parameter int unsigned SID_W     = 10,
  parameter int unsigned MSGID_W   = 20,
  parameter int unsigned NODE_W    = 16,
  parameter int unsigned ADDR_W    = 48,
  parameter int unsigned RQT_DEPTH = 8,    // requests that may wait, a power of two
  parameter int unsigned RSP_DEPTH = 8,    // refusals of READs that may wait, a power of two
  parameter int unsigned CTL_DEPTH = 16,   // control packets that may wait, a power of two
  parameter int unsigned UNDECIDED = 4,    // requests that the receiver may have to decide
  localparam int unsigned BASE_W   = ADDR_W - $clog2(PAYLOAD),
  localparam int unsigned OFFSET_W = offset_bits(BASE_W)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,  // tables are initialised
  output logic                idle_o,   // nothing under way, no tickets but RECVs that wait
  // configuration
  input  logic [        15:0] node_id_i,
  input  logic [ LIMIT_W-1:0] retry_i,        // ticks, TX_RETRY
  input  logic [         3:0] max_retry_i,
  input  logic [         7:0] max_busy_i,     // refusals for want of a context in a row, 0: no bound
  input  logic [         1:0] backoff_i,      // a timeout doubles so often at the most
  input  logic [        15:0] ticket_quota_i, // tickets of a queue, 0: all
  input  logic                number_load_i,  // number READs from number_i on
  input  logic [ MSGID_W-1:0] number_i,
  input  logic [  TICK_W-1:0] now_i,          // ticks
  // regions as they are set
  input  logic                region_set_i,
  input  logic [         7:0] region_idx_i,
  input  logic                region_write_i,    // open to remote writes
  input  logic                region_receive_i,  // buffers may lie in it
  input  logic [         8:0] region_queue_i,    // [8]: there is one
  input  logic [        15:0] region_key_i,
  input  logic [  BASE_W-1:0] region_base_i,
  input  logic [OFFSET_W-1:0] region_last_i,
  // queues
  input  logic                queue_set_i,
  input  logic [         7:0] queue_idx_i,
  input  logic                queue_open_i,
  input  logic [        15:0] queue_key_i,
  output logic [N_QUEUES-1:0] queue_held_o,      // it has tickets: must not be opened in this clock
  // requests of the software
  input  logic                post_valid_i,
  output logic                post_ready_o,
  input  ticket_post_t        post_i,
  // completions for the software
  output logic                cpl_valid_o,
  input  logic                cpl_ready_i,
  output ticket_completion_t  cpl_o,
  // RQT with a flag of transfers; not ready: no room
  input  logic                rqt_valid_i,
  output logic                rqt_ready_o,
  input  header_t             rqt_i,
  // RSP with flag READ; not ready: no room
  input  logic                rsp_valid_i,
  output logic                rsp_ready_o,
  input  header_t             rsp_i,
  // the same RQT, for the receiver, and what it does
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output admitted_t           req_o,
  input  logic                ret_valid_i,
  input  rx_retired_t         ret_i,
  // memory
  input  logic [WRITES_W-1:0] writes_done_i,     // host writes answered
  input  logic                error_i,           // one of this context with an error
  input  logic [   CID_W-1:0] error_cid_i,
  // control packets READ
  output logic                ctl_valid_o,
  input  logic                ctl_ready_i,
  output header_t             ctl_o,
  output logic                ctl_dropped_o,     // a control packet found no room
  // trace: one record per event
  output logic                trace_valid_o,
  output inbox_event_e        trace_kind_o,
  output outcome_e            trace_outcome_o,
  output logic [        15:0] trace_ticket_o,
  output logic                trace_room_o,
  output logic                trace_offer_valid_o,
  output logic [        15:0] trace_offer_o,
  output logic [  TICK_W-1:0] trace_now_o,
  output admit_e              trace_admit_o
);
  localparam int unsigned IDX_W     = $clog2(N_TICKETS);
  localparam int unsigned Q_W       = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1;
  localparam int unsigned CPL_DEPTH = 2 * N_TICKETS;  // so that posts are rejected when there is no ticket, not kept waiting

  if (N_TICKETS < 2 || N_TICKETS > 32768 || (N_TICKETS & (N_TICKETS - 1)) != 0 || IDX_W > SID_W) begin : g_bad_n
    $error("N_TICKETS must be a power of two from 2 to 32768 and 2**SID_W (%0d), is %0d", SID_W, N_TICKETS);
  end

  typedef struct packed {
    logic [15:0]        tag;
    logic [ADDR_W-1:0]  address;
    logic [31:0]        bytes;
    logic [23:0]        rkey;
    logic [NODE_W-1:0]  node;
    logic [ADDR_W-1:0]  remote_addr;
    logic [23:0]        remote_rkey;
    logic [MSGID_W-1:0] number;
  } kept_t;

  typedef struct packed {
    logic [NODE_W-1:0]  src;
    logic [SID_W-1:0]   sid;
    logic [MSGID_W-1:0] msgid;
    logic [31:0]        bytes;
    logic               immediate;
  } message_t;

  // ------------------------------------------------------------------------------------------------- the event
  job_e                 job;
  step_t                step;
  ops_t                 ops;
  found_t               found;
  known_t               known;
  header_t              hdr;
  ticket_post_t         post;
  undone_t              undone, undone_now;
  logic [PRINT_W-1:0]   print;
  logic [N_TICKETS-1:0] asked, watched;
  logic [IDX_W-1:0]     idx, list_first, leaving_idx, undone_idx, offer;
  logic [Q_W-1:0]       queue, look_queue, t_queue;
  logic                 regions_ready, list_ready, nothing_chosen, answered, undone_valid, take_leave, take_undone, full;
  logic                 offer_valid, offered, over_quota, place_q;

  assign ready_o = regions_ready && list_ready;

  rdma_inbox_front #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES),
    .N_REGIONS(N_REGIONS),
    .PAYLOAD  (PAYLOAD),
    .PIDX_W   (PIDX_W),
    .ADDR_W   (ADDR_W),
    .RQT_DEPTH(RQT_DEPTH),
    .RSP_DEPTH(RSP_DEPTH)
  ) i_front (
    .clk_i,
    .rst_ni,
    .ready_i        (ready_o),
    .regions_ready_o(regions_ready),
    .none_o         (nothing_chosen),
    .region_set_i,
    .region_idx_i,
    .region_write_i,
    .region_receive_i,
    .region_queue_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .post_valid_i,
    .post_ready_o,
    .post_i,
    .place_i        (place_q),
    .rqt_valid_i,
    .rqt_ready_o,
    .rqt_i,
    .rqt_stop_i     (req_valid_o || full),
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_i,
    .leave_valid_i  (answered),
    .leave_ready_o  (take_leave),
    .leave_idx_i    (leaving_idx),
    .undone_valid_i (undone_valid),
    .undone_ready_o (take_undone),
    .undone_idx_i   (undone_idx),
    .undone_i       (undone_now),
    .print_o        (print),
    .asked_i        (asked),
    .watched_i      (watched),
    .look_o         (look_queue),
    .first_i        (list_first),
    .offer_valid_i  (offer_valid),
    .offer_i        (offer),
    .of_queue_i     (t_queue),
    .ending_i       (known.state == TICKET_ENDING),
    .ops_i          (ops),
    .step_o         (step),
    .job_o          (job),
    .idx_o          (idx),
    .queue_o        (queue),
    .post_o         (post),
    .hdr_o          (hdr),
    .undone_o       (undone),
    .offered_o      (offered),
    .found_o        (found)
  );

  // ------------------------------------------------------------------------------------------------- tickets and queues
  logic             is_open, list_any, left, granted, tickets_busy;
  logic [15:0]      key;
  logic [IDX_W-1:0] left_idx, granted_idx;
  logic [CID_W-1:0] t_cid;
  kept_t            kept, kept_new;
  message_t         message;

  rdma_inbox_store #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES),
    .CID_W    (CID_W),
    .SID_W    (SID_W),
    .MSGID_W  (MSGID_W),
    .NODE_W   (NODE_W),
    .ADDR_W   (ADDR_W),
    .kept_t   (kept_t),
    .message_t(message_t)
  ) i_store (
    .clk_i,
    .rst_ni,
    .ready_o      (list_ready),
    .busy_o       (tickets_busy),
    .queue_set_i,
    .queue_idx_i,
    .queue_open_i,
    .queue_key_i,
    .queue_held_o,
    .quota_i      (ticket_quota_i),
    .number_load_i,
    .number_i,
    .print_i      (print),
    .asked_o      (asked),
    .watched_o    (watched),
    .look_i       (look_queue),
    .first_o      (list_first),
    .offer_valid_o(offer_valid),
    .offer_o      (offer),
    .ret_valid_i,
    .ret_i,
    .granted_i    (granted),
    .granted_idx_i(granted_idx),
    .left_o       (left),
    .left_idx_o   (left_idx),
    .error_i,
    .error_cid_i,
    .step_i       (step),
    .idx_i        (idx),
    .queue_i      (queue),
    .known_o      (known),
    .cid_o        (t_cid),
    .of_queue_o   (t_queue),
    .kept_o       (kept),
    .message_o    (message),
    .is_open_o    (is_open),
    .key_o        (key),
    .list_any_o   (list_any),
    .over_quota_o (over_quota),
    .ops_i        (ops),
    .hdr_i        (hdr),
    .immediate_i  (found.asks == ASKS_WRITE),
    .post_i       (post),
    .kept_new_o   (kept_new)
  );

  // ------------------------------------------------------------------------------------------------- what the receiver and memory say
  logic        nothing_handed, nothing_leaves, unreadable, has_imm;
  logic [31:0] imm;

  rdma_inbox_handed #(
    .IDX_W    (IDX_W),
    .UNDECIDED(UNDECIDED)
  ) i_handed (
    .clk_i,
    .rst_ni,
    .full_o        (full),
    .none_o        (nothing_handed),
    .hand_on_i     (ops.hand_on),
    .take_i        (ops.take),
    .idx_i         (idx),
    .decides_i     (ret_valid_i && ret_i.decides),
    .outcome_i     (ret_i.outcome),
    .granted_o     (granted),
    .granted_idx_o (granted_idx),
    .undone_valid_o(undone_valid),
    .undone_ready_i(take_undone),
    .undone_idx_o  (undone_idx),
    .undone_o      (undone_now)
  );

  rdma_inbox_leaving #(
    .N_TICKETS(N_TICKETS)
  ) i_leaving (
    .clk_i,
    .rst_ni,
    .ret_i,
    .left_i       (left),
    .left_idx_i   (left_idx),
    .writes_done_i,
    .none_o       (nothing_leaves),
    .answered_o   (answered),
    .idx_o        (leaving_idx),
    .take_i       (take_leave),
    .read_i       (step.read),
    .read_idx_i   (idx),
    .unreadable_o (unreadable),
    .has_imm_o    (has_imm),
    .imm_o        (imm)
  );

  // ------------------------------------------------------------------------------------------------- decide
  looked_t           looked;
  timing_t           timing;
  logic [TICK_W-1:0] now;

  rdma_inbox_look #(
    .N_TICKETS(N_TICKETS),
    .PAYLOAD  (PAYLOAD),
    .NODE_W   (NODE_W),
    .ADDR_W   (ADDR_W),
    .kept_t   (kept_t),
    .message_t(message_t)
  ) i_look (
    .clk_i,
    .step_i     (step),
    .hdr_i      (hdr),
    .post_i     (post),
    .writes_i   (found.asks == ASKS_WRITE),
    .kept_i     (kept),
    .message_i  (message),
    .queue_set_i,
    .key_i      (key),
    .looked_o   (looked)
  );

  rdma_inbox_timers #(
    .N_TICKETS(N_TICKETS)
  ) i_timers (
    .clk_i,
    .retry_i,
    .max_retry_i,
    .max_busy_i,
    .backoff_i,
    .now_i,
    .step_i    (step),
    .idx_i     (idx),
    .timing_o  (timing),
    .now_o     (now),
    .new_i     (ops.new_ticket),
    .back_off_i(ops.back_off),
    .again_i   (ops.retry)
  );

  rdma_inbox_decide i_decide (
    .decide_i    (step.decide),
    .job_i       (job),
    .post_read_i (post.is_read),
    .post_empty_i(post.bytes == '0),
    .undone_i    (undone),
    .found_i     (found),
    .looked_i    (looked),
    .known_i     (known),
    .timing_i    (timing),
    .unreadable_i(unreadable),
    .is_open_i   (is_open),
    .list_any_i  (list_any),
    .room_i      (offered && !over_quota),
    .ops_o       (ops)
  );

  // ------------------------------------------------------------------------------------------------- tell
  logic             nothing_to_tell;
  logic [IDX_W+1:0] places_q;  // for completions, taken by a post and given back when software reads the completion

  rdma_inbox_tell #(
    .IDX_W    (IDX_W),
    .Q_W      (Q_W),
    .CID_W    (CID_W),
    .CTL_DEPTH(CTL_DEPTH),
    .CPL_DEPTH(CPL_DEPTH),
    .kept_t   (kept_t),
    .message_t(message_t)
  ) i_tell (
    .clk_i,
    .rst_ni,
    .none_o   (nothing_to_tell),
    .node_id_i,
    .job_i    (job),
    .ops_i    (ops),
    .hdr_i    (hdr),
    .post_i   (post),
    .offered_i(offered),
    .now_i    (now),
    .idx_i    (idx),
    .queue_i  (queue),
    .is_read_i(known.is_read),
    .cid_i    (t_cid),
    .kept_i   (ops.new_ticket ? kept_new : kept),
    .message_i(message),
    .has_imm_i(has_imm),
    .imm_i    (imm),
    .req_valid_o,
    .req_ready_i,
    .req_o,
    .ctl_valid_o,
    .ctl_ready_i,
    .ctl_o,
    .ctl_dropped_o,
    .cpl_valid_o,
    .cpl_ready_i,
    .cpl_o,
    .trace_valid_o,
    .trace_kind_o,
    .trace_outcome_o,
    .trace_ticket_o,
    .trace_room_o,
    .trace_offer_valid_o,
    .trace_offer_o,
    .trace_now_o,
    .trace_admit_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      places_q <= (IDX_W + 2)'(CPL_DEPTH);
      place_q  <= 1'b0;
      idle_o   <= 1'b0;
    end else begin
      places_q <= places_q - (IDX_W + 2)'(post_valid_i && post_ready_o) + (IDX_W + 2)'(cpl_valid_o && cpl_ready_i);
      place_q  <= places_q != '0 && !(post_valid_i && post_ready_o);
      idle_o   <= ready_o && nothing_chosen && !tickets_busy && nothing_handed && nothing_leaves && nothing_to_tell && !rqt_valid_i &&
                  !rsp_valid_i && !post_valid_i;
    end
  end

  `ASSERT(PostOfAQueueThatExists, !(post_valid_i && post_ready_o) || 9'(post_i.qid) < 9'(N_QUEUES))
  `ASSERT(LeavesAfterItsEnd, !(step.decide && job == DO_LEAVE) || known.state == TICKET_ENDING || known.state == TICKET_RETURNING)
  `ASSERT(DecisionOfATakenTicket, !(step.decide && job == DO_DECIDED) || known.state == TICKET_TAKEN)
  `ASSERT(ListOfAnOpenQueue, !step.decide || job == DO_RQT || job == DO_RSP || is_open || !list_any)
  `ASSERT(NumbersFitRqt, !(rqt_valid_i && rqt_ready_o) || ((rqt_i.src >> NODE_W) == '0 && (rqt_i.sid >> SID_W) == '0 && (rqt_i.msgid >> MSGID_W) == '0))
endmodule
