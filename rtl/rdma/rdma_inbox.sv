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
  // RSP with flag READ
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
  localparam int unsigned HELD_W    = $clog2(N_TICKETS + 1);
  localparam int unsigned Q_W       = (N_QUEUES > 1) ? $clog2(N_QUEUES) : 1;
  localparam int unsigned PRINT_W   = 8;
  localparam int unsigned CPL_DEPTH = 2 * N_TICKETS;  // so that posts are rejected when there is no ticket, not kept waiting

  if (N_TICKETS < 2 || N_TICKETS > 32768 || (N_TICKETS & (N_TICKETS - 1)) != 0 || IDX_W > SID_W) begin : g_bad_n
    $error("N_TICKETS must be a power of two from 2 to 32768 and 2**SID_W (%0d), is %0d", SID_W, N_TICKETS);
  end
  if (N_QUEUES < 1 || N_QUEUES > 256) begin : g_bad_queues
    $error("N_QUEUES must be from 1 to 256, is %0d", N_QUEUES);
  end
  if (UNDECIDED < 1 || UNDECIDED > N_TICKETS) begin : g_bad_undecided
    $error("UNDECIDED must be from 1 to N_TICKETS (%0d), is %0d", N_TICKETS, UNDECIDED);
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

  typedef struct packed {
    logic [TICK_W-1:0] start;
    logic [1:0]        doublings;
    logic [3:0]        retries;
    logic [7:0]        busy;
  } clock_t;

  typedef struct packed {
    logic [IDX_W-1:0]    idx;
    logic [WRITES_W-1:0] writes;
  } leaving_t;

  typedef enum logic [2:0] {
    DO_POST,
    DO_RQT,
    DO_RSP,
    DO_LEAVE,
    DO_SWEEP,
    DO_DECIDED
  } job_e;

  typedef struct packed {
    logic             taken;  // it has a ticket
    logic [IDX_W-1:0] idx;
  } handed_t;

  typedef struct packed {
    logic [IDX_W-1:0] idx;
    logic             no_buffer;
    logic             busy;
  } undone_t;

  typedef enum logic [1:0] {
    S_IDLE,
    S_READ,
    S_DATA,
    S_DECIDE
  } step_e;

  typedef enum logic [1:0] {
    ASKS_NOTHING,
    ASKS_WRITE,   // with immediate
    ASKS_SEND,
    ASKS_ANSWER
  } asks_e;

  job_e             job_q;
  step_e            step_q;
  header_t          hdr_q;
  ticket_post_t     post_q;
  logic [IDX_W-1:0] idx_q;     // ticket of this event
  logic [Q_W-1:0]   queue_q;   // and its queue
  logic             front_q;      // an event waits in front
  job_e             front_job_q;
  logic [1:0]       front_left_q; // clocks until it may go on
  logic             decide, pick, go, regions_ready, list_ready;

  assign ready_o = regions_ready && list_ready;
  assign decide  = step_q == S_DECIDE;

  // ------------------------------------------------------------------------------------------------- queues
  logic [N_QUEUES-1:0] open_q;
  logic [15:0]         key_q  [N_QUEUES];
  logic [HELD_W-1:0]   held_q [N_QUEUES];
  logic                is_open, end_it, new_ticket;

  assign is_open = open_q[queue_q];
  for (genvar i = 0; i < int'(N_QUEUES); i++) begin : g_queue
    logic here;
    assign here            = queue_q == Q_W'(i);
    assign queue_held_o[i] = held_q[i] != '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        open_q[i] <= 1'b0;
        held_q[i] <= '0;
      end else begin
        if (queue_set_i && queue_idx_i == 8'(i)) open_q[i] <= queue_open_i;
        held_q[i] <= held_q[i] + HELD_W'(here && new_ticket) - HELD_W'(here && end_it);
      end
      if (queue_set_i && queue_idx_i == 8'(i)) key_q[i] <= queue_key_i;
    end
    `ASSERT(OpenedWithoutTickets, !(queue_set_i && queue_open_i && queue_idx_i == 8'(i)) || !queue_held_o[i])
  end

  logic             list_any, pop, push_front, push_back;
  logic [Q_W-1:0]   front_queue;
  logic [IDX_W-1:0] list_first;
  rdma_inbox_lists #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES)
  ) i_lists (
    .clk_i,
    .rst_ni,
    .clear_i      (queue_set_i),
    .clear_queue_i(queue_idx_i[Q_W-1:0]),
    .look_i       (front_queue),
    .first_o      (list_first),
    .queue_i      (queue_q),
    .any_o        (list_any),
    .pop_i        (pop),
    .push_front_i (push_front),
    .push_back_i  (push_back),
    .idx_i        (idx_q),
    .next_re_i    (step_q == S_READ),
    .next_idx_i   (idx_q)
  );

  // ------------------------------------------------------------------------------------------------- what the receiver says
  localparam int unsigned UNDECIDED_W = $clog2(UNDECIDED + 1);

  logic [CID_W-1:0] ret_cid;
  handed_t          handed;
  undone_t          undone, decision;
  logic             handed_valid, handed_ready, undone_valid, undone_ready;
  logic             decided, granted, finish, freed, hand_on, take, full;
  logic             no_buffer_q, busy_q;  // why it was not granted
  logic [UNDECIDED_W-1:0] handed_count, undone_count;

  assign ret_cid  = ret_i.cid[CID_W-1:0];
  assign decided  = ret_valid_i && ret_i.decides && handed_valid;
  assign granted  = decided && handed.taken && ret_i.outcome == OUTCOME_GRANT;
  assign finish   = ret_valid_i && ret_i.outcome == OUTCOME_FINISH;
  assign freed    = ret_valid_i && (ret_i.outcome == OUTCOME_RELEASED || ret_i.outcome == OUTCOME_RECLAIM);
  assign decision = '{idx: handed.idx, no_buffer: ret_i.outcome == OUTCOME_REFUSE_BUFFER,
                      busy: ret_i.outcome == OUTCOME_REFUSE_QUOTA || ret_i.outcome == OUTCOME_REFUSE_NO_CONTEXT};
  assign full     = (UNDECIDED_W + 1)'(handed_count) + (UNDECIDED_W + 1)'(undone_count) >= (UNDECIDED_W + 1)'(UNDECIDED);

  // Requests that the receiver has not decided, in their order.
  sync_fifo #(
    .DEPTH(UNDECIDED),
    .T    (handed_t)
  ) i_handed (
    .clk_i,
    .rst_ni,
    .valid_i(hand_on),
    .ready_o(handed_ready),
    .data_i ({take, idx_q}),
    .valid_o(handed_valid),
    .ready_i(decided),
    .data_o (handed),
    .count_o(handed_count)
  );

  // Those with a ticket that were not granted.
  sync_fifo #(
    .DEPTH(UNDECIDED),
    .T    (undone_t)
  ) i_undone (
    .clk_i,
    .rst_ni,
    .valid_i(decided && handed.taken && !granted),
    .ready_o(undone_ready),
    .data_i (decision),
    .valid_o(undone_valid),
    .ready_i(go && front_job_q == DO_DECIDED),
    .data_o (undone),
    .count_o(undone_count)
  );

  always_ff @(posedge clk_i) begin
    if (go) {no_buffer_q, busy_q} <= {undone.no_buffer, undone.busy};
  end

  ticket_state_e        t_state, set_state;
  logic                 t_is_read, t_failed, left, set, tickets_busy;
  logic [Q_W-1:0]       t_queue;
  logic [CID_W-1:0]     t_cid;
  logic [IDX_W-1:0]     left_idx;
  logic [PRINT_W-1:0]   print_q;
  logic [N_TICKETS-1:0] asked, watched;

  rdma_inbox_tickets #(
    .N_TICKETS(N_TICKETS),
    .N_QUEUES (N_QUEUES),
    .CID_W    (CID_W),
    .PRINT_W  (PRINT_W)
  ) i_tickets (
    .clk_i,
    .rst_ni,
    .set_i        (set),
    .set_idx_i    (idx_q),
    .set_state_i  (set_state),
    .new_i        (new_ticket),
    .new_read_i   (post_q.is_read),
    .new_queue_i  (queue_q),
    .set_print_i  (print_q),
    .grant_i      (granted),
    .grant_idx_i  (handed.idx),
    .finish_i     (finish),
    .freed_i      (freed),
    .cid_i        (ret_cid),
    .left_o       (left),
    .left_idx_o   (left_idx),
    .error_i,
    .error_cid_i,
    .idx_i        (idx_q),
    .state_o      (t_state),
    .is_read_o    (t_is_read),
    .queue_o      (t_queue),
    .cid_o        (t_cid),
    .failed_o     (t_failed),
    .print_i      (print_q),
    .asked_o      (asked),
    .open_i       (open_q),
    .watched_o    (watched),
    .busy_o       (tickets_busy)
  );

  // Tickets that leave, each when memory has answered all that was decided before.
  leaving_t            leaving;
  logic                leaving_valid, leaving_ready, take_leave, answered_q, imm_q;
  logic [IDX_W:0]      leavings;
  logic [31:0]         imm_data_q;
  logic [WRITES_W-1:0] writes_q, done_q, ahead;

  ram_fifo #(
    .DEPTH(N_TICKETS),
    .WIDTH($bits(leaving_t))
  ) i_leaving (
    .clk_i,
    .rst_ni,
    .valid_i(left),
    .ready_o(leaving_ready),
    .data_i ({left_idx, writes_q}),
    .valid_o(leaving_valid),
    .ready_i(take_leave),
    .data_o (leaving),
    .count_o(leavings)
  );

  assign ahead = done_q - leaving.writes;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) answered_q <= 1'b0;
    else answered_q <= leaving_valid && !take_leave && !ahead[WRITES_W-1];
    done_q     <= writes_done_i;
    writes_q   <= ret_i.writes;
    imm_q      <= ret_i.has_imm && ret_i.outcome == OUTCOME_FINISH;
    imm_data_q <= ret_i.imm;
  end

  // ------------------------------------------------------------------------------------------------- choose
  logic             rqt_valid, rqt_ready, place, offer_valid, offered_q, job_valid, sweep_found_q, rqt_inside, lists_stay, names_region;
  logic [IDX_W-1:0] offer, sweep_q;
  logic [4:0]       asks, gnt;
  header_t          rqt;
  logic [$clog2(RQT_DEPTH+1)-1:0] rqts;

  ram_fifo #(
    .DEPTH(RQT_DEPTH),
    .WIDTH($bits(header_t))
  ) i_rqts (
    .clk_i,
    .rst_ni,
    .valid_i(rqt_valid_i && ready_o),
    .ready_o(rqt_ready),
    .data_i (rqt_i),
    .valid_o(rqt_valid),
    .ready_i(hand_on),
    .data_o (rqt),
    .count_o(rqts)
  );
  assign rqt_ready_o = rqt_ready && ready_o;

  assign rqt_inside = (front_q && front_job_q == DO_RQT) || (step_q != S_IDLE && job_q == DO_RQT);
  assign asks = {sweep_found_q, post_valid_i && place, rsp_valid_i, rqt_valid && !rqt_inside && !req_valid_o && !full, answered_q};
  assign pick = !front_q && ready_o;

  logic [2:0] unused_choice;
  rr_arbiter #(
    .N(5)
  ) i_choice (
    .clk_i,
    .rst_ni,
    .req_i  (asks),
    .take_i (pick && !undone_valid),
    .valid_o(job_valid),
    .gnt_o  (gnt),
    .idx_o  (unused_choice)
  );

  assign take_leave   = go && front_job_q == DO_LEAVE;
  assign rsp_ready_o  = go && front_job_q == DO_RSP;
  assign post_ready_o = go && front_job_q == DO_POST;

  // A RQT takes the first of a list, so the event in DECIDE must not change one meanwhile.
  assign lists_stay = job_q == DO_RSP || job_q == DO_SWEEP || (job_q == DO_LEAVE && t_state == TICKET_ENDING);
  assign go = front_q && front_left_q == '0 && (step_q == S_IDLE || (decide && (front_job_q != DO_RQT || lists_stay)));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      front_q <= 1'b0;
      step_q  <= S_IDLE;
    end else begin
      if (pick) front_q <= undone_valid || job_valid;
      else if (go) front_q <= 1'b0;

      if (go) step_q <= S_READ;
      else if (step_q == S_READ) step_q <= S_DATA;
      else if (step_q == S_DATA) step_q <= S_DECIDE;
      else step_q <= S_IDLE;
    end

    if (front_left_q != '0) front_left_q <= front_left_q - 1'b1;
    if (pick) begin
      front_left_q <= '0;
      if (undone_valid) front_job_q <= DO_DECIDED;
      else begin
        unique case (1'b1)
          gnt[0]:  front_job_q <= DO_LEAVE;
          gnt[1]:  front_job_q <= DO_RQT;
          gnt[2]:  front_job_q <= DO_RSP;
          gnt[3]:  front_job_q <= DO_POST;
          gnt[4]:  front_job_q <= DO_SWEEP;
          default: ;
        endcase
        // Until its region's queue is known; until tickets have been compared with its fingerprint; until its region has been looked up.
        if (gnt[1]) front_left_q <= names_region ? 2'd3 : 2'd1;
        if (gnt[3]) front_left_q <= 2'd1;
      end
    end
    if (go) job_q <= front_job_q;
  end

  // Places for completions, taken by a post and given back when software reads the completion.
  logic [IDX_W+1:0] places_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      places_q <= (IDX_W + 2)'(CPL_DEPTH);
      place    <= 1'b0;
    end else begin
      places_q <= places_q - (IDX_W + 2)'(post_valid_i && post_ready_o) + (IDX_W + 2)'(cpl_valid_o && cpl_ready_i);
      place    <= places_q != '0 && !(post_valid_i && post_ready_o);
    end
  end

  free_list #(
    .N(N_TICKETS)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (list_ready),
    .valid_o  (offer_valid),
    .id_o     (offer),
    .pop_i    (new_ticket),
    .push_i   (end_it),
    .push_id_i(idx_q),
    .count_o  ()  // not needed
  );

  // ------------------------------------------------------------------------------------------------- in front, seek
  asks_e                asks_q;
  logic [N_TICKETS-1:0] maybe;               // tickets that may have this message
  logic [N_TICKETS-1:0] ruled_out_q;         // that have another one
  logic [IDX_W-1:0]     first_maybe;
  logic                 maybe_found_q;       // the ticket is one of them
  logic                 queue_exists_q;
  logic [8:0]           region_queue, region_queue_q, checked_queue, seen_queue_q, queue_named;
  logic                 is_post;
  outcome_e             verdict;
  logic                 other_message, look_again;

  rdma_inbox_check #(
    .N_REGIONS(N_REGIONS),
    .PAYLOAD  (PAYLOAD),
    .PIDX_W   (PIDX_W),
    .ADDR_W   (ADDR_W)
  ) i_check (
    .clk_i,
    .rst_ni,
    .ready_o        (regions_ready),
    .region_set_i,
    .region_idx_i,
    .region_write_i,
    .region_receive_i,
    .region_queue_i,
    .region_key_i,
    .region_base_i,
    .region_last_i,
    .receive_i      (is_post),
    .rkey_i         (is_post ? post_i.rkey : {rqt.gen, rqt.cid}),
    .addr_i         (is_post ? post_i.address : rqt.arg),
    .bytes_i        (is_post ? post_i.bytes : rqt.pidx),
    .queue_o        (region_queue),
    .verdict_o      (verdict),
    .checked_queue_o(checked_queue)
  );

  // Spread so that contexts in a row of sources in a row differ.
  function automatic logic [PRINT_W-1:0] fingerprint(logic [15:0] src, logic [15:0] sid, logic [23:0] msgid, logic immediate);
    logic [23:0] mixed;
    mixed = msgid ^ {src, 8'd0} ^ {5'd0, src, 3'd0} ^ {8'd0, sid} ^ {3'd0, sid, 5'd0};
    return mixed[7:0] ^ mixed[15:8] ^ mixed[23:16] ^ {immediate, 7'd0};
  endfunction

  assign is_post      = front_job_q == DO_POST;
  assign names_region = (rqt.flags & (TRANSFER_FLAG_READ | TRANSFER_FLAG_SEND)) == '0;
  assign maybe        = asked & ~ruled_out_q;
  assign queue_named  = asks_q == ASKS_SEND ? {1'b1, rqt.gen} : region_queue_q;
  assign front_queue  = queue_named[Q_W-1:0];

  always_comb begin : p_first_maybe
    first_maybe = '0;
    for (int i = int'(N_TICKETS) - 1; i >= 0; i--) if (maybe[i]) first_maybe = IDX_W'(i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ruled_out_q   <= '0;
      sweep_q       <= '0;
      sweep_found_q <= 1'b0;
    end else begin
      if (other_message) ruled_out_q[idx_q] <= 1'b1;
      else if (decide && job_q == DO_RQT) ruled_out_q <= '0;
      // The next ticket that is to be looked at, as soon as it is its turn.
      if (sweep_found_q ? go && front_job_q == DO_SWEEP : !watched[sweep_q]) begin
        sweep_q       <= sweep_q + 1'b1;
        sweep_found_q <= 1'b0;
      end else sweep_found_q <= 1'b1;
    end
    region_queue_q <= region_queue;

    // Of the one RQT that is inside.
    if (pick && gnt[1] && !undone_valid) begin
      if ((rqt.flags & TRANSFER_FLAG_READ) != '0) asks_q <= ASKS_ANSWER;
      else if ((rqt.flags & TRANSFER_FLAG_SEND) != '0) asks_q <= ASKS_SEND;
      else asks_q <= (rqt.flags & TRANSFER_FLAG_IMM) != '0 ? ASKS_WRITE : ASKS_NOTHING;
      print_q <= fingerprint(rqt.src, rqt.sid, rqt.msgid, names_region);
    end

    if (go) begin
      maybe_found_q  <= maybe != '0;
      seen_queue_q   <= queue_named;
      queue_exists_q <= queue_named[8] && 9'(queue_named[7:0]) < 9'(N_QUEUES);
      queue_q        <= is_post ? post_i.qid[Q_W-1:0] : front_queue;
      post_q         <= post_i;
      hdr_q          <= front_job_q == DO_RQT ? rqt : rsp_i;
      unique case (front_job_q)
        DO_RQT: begin
          if (maybe != '0) idx_q <= first_maybe;
          else idx_q <= asks_q == ASKS_ANSWER ? rqt.cid[IDX_W-1:0] : list_first;
        end
        DO_RSP:     idx_q <= rsp_i.sid[IDX_W-1:0];
        DO_LEAVE:   idx_q <= leaving.idx;
        DO_DECIDED: idx_q <= undone.idx;
        default:    idx_q <= sweep_q;
      endcase
    end else if (step_q == S_DATA) begin
      if (job_q == DO_POST) begin
        idx_q     <= offer;
        offered_q <= offer_valid;
      end else if (!(job_q == DO_RQT && (asks_q == ASKS_SEND || asks_q == ASKS_WRITE))) queue_q <= t_queue;
    end
  end

  // ------------------------------------------------------------------------------------------------- READ, DATA
  kept_t      kept, kept_new;
  message_t   message, message_new;
  clock_t     timer, timer_new;
  logic       has_imm, timer_we;
  logic [31:0] imm;

  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH($bits(kept_t))) i_kept (
    .clk_i, .we_i(new_ticket), .waddr_i(idx_q), .wdata_i(kept_new), .re_i(step_q == S_READ), .raddr_i(idx_q), .rdata_o(kept)
  );
  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH($bits(message_t))) i_messages (
    .clk_i, .we_i(take), .waddr_i(idx_q), .wdata_i(message_new), .re_i(step_q == S_READ), .raddr_i(idx_q), .rdata_o(message)
  );
  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH($bits(clock_t))) i_timers (
    .clk_i, .we_i(timer_we), .waddr_i(idx_q), .wdata_i(timer_new), .re_i(step_q == S_READ), .raddr_i(idx_q), .rdata_o(timer)
  );
  ram_sdp #(.DEPTH(N_TICKETS), .WIDTH(33)) i_immediates (
    .clk_i, .we_i(left), .waddr_i(left_idx), .wdata_i({imm_q, imm_data_q}), .re_i(step_q == S_READ), .raddr_i(idx_q), .rdata_o({has_imm, imm})
  );

  logic [BACKOFFS-1:0][LIMIT_W-1:0] limits;
  logic [MSGID_W-1:0] number_q;
  logic               same_q, wanted_q, key_ok_q, too_long_q, exists_q, over_quota_q, rsp_granted_q, rsp_busy_q, rsp_fits_q;
  logic               set_lately_q;    // a queue got another key, perhaps
  logic               last_try_q, too_busy_q, misaligned_q, bad_node_q, beyond_q;
  logic [LIMIT_W-1:0] limit_q;
  logic [TICK_W-1:0]  elapsed_q, now_q;
  logic [3:0]         retries_q;
  logic [1:0]         backoff_q;
  logic [7:0]         busier_q;
  logic [64:0]        remote_end_q;   // behind the last byte
  status_e            rsp_status_q;

  assign limits = backoff_limits(retry_i);

  always_ff @(posedge clk_i) begin
    if (step_q == S_READ) remote_end_q <= 65'(post_q.remote_addr) + 65'(post_q.bytes);
    set_lately_q <= queue_set_i;
    if (step_q == S_DATA) begin
      // RQT
      same_q     <= 16'(message.src) == hdr_q.src && 16'(message.sid) == hdr_q.sid && 24'(message.msgid) == hdr_q.msgid &&
                    message.immediate == (asks_q == ASKS_WRITE);
      key_ok_q   <= key_q[queue_q] == hdr_q.cid;
      exists_q   <= hdr_q.cid < 16'(N_TICKETS);
      wanted_q   <= hdr_q.arg == 64'(kept.number) && hdr_q.src == 16'(kept.node) && hdr_q.pidx == kept.bytes;
      too_long_q <= hdr_q.pidx > kept.bytes;
      // RSP
      rsp_granted_q <= hdr_q.arg == 64'(REFUSAL_GRANTED);
      rsp_busy_q    <= hdr_q.arg == 64'(REFUSAL_NO_CONTEXT);
      rsp_fits_q    <= hdr_q.sid < 16'(N_TICKETS) && hdr_q.msgid == 24'(kept.number) && hdr_q.src == 16'(kept.node);
      unique case (hdr_q.arg)
        64'(REFUSAL_BAD_LENGTH): rsp_status_q <= STATUS_BAD_LENGTH;
        64'(REFUSAL_MISALIGNED): rsp_status_q <= STATUS_MISALIGNED;
        64'(REFUSAL_BAD_KEY):    rsp_status_q <= STATUS_BAD_KEY;
        default:                 rsp_status_q <= STATUS_BAD_REGION;
      endcase
      // timers
      now_q      <= now_i;
      elapsed_q  <= now_i - timer.start;
      limit_q    <= limits[timer.doublings] == '0 ? LIMIT_W'(1) : limits[timer.doublings];
      last_try_q <= timer.retries >= max_retry_i;
      too_busy_q <= max_busy_i != '0 && timer.busy >= max_busy_i;
      retries_q  <= timer.retries + 1'b1;
      backoff_q  <= backoff_i;
      busier_q   <= timer.busy == '1 ? '1 : timer.busy + 1'b1;
      // post
      over_quota_q <= ticket_quota_i != '0 && 16'(held_q[queue_q]) >= ticket_quota_i;
      misaligned_q <= (post_q.address[$clog2(PAYLOAD)-1:0] | (post_q.is_read ? post_q.remote_addr[$clog2(PAYLOAD)-1:0] : '0)) != '0;
      bad_node_q   <= (post_q.node >> NODE_W) != '0;
      beyond_q     <= remote_end_q > (65'd1 << ADDR_W);
    end
  end

  // ------------------------------------------------------------------------------------------------- DECIDE
  outcome_e    outcome, reject_outcome, refusal;
  status_e     reject_status, status;
  admit_e      admit;
  logic        rejected, post_empty, bad_length, wait_again, restart, retry, back_off, ask, complete, met, ctl_ready, room, waits;

  assign room       = ctl_ready;
  assign waits      = t_state == TICKET_WAITING;
  assign post_empty = post_q.bytes == '0;
  assign bad_length = post_empty ? post_q.is_read : verdict == OUTCOME_REFUSE_LENGTH;

  always_comb begin : p_post
    rejected       = 1'b1;
    reject_outcome = OUTCOME_REJECT_TICKET;
    reject_status  = STATUS_NO_TICKET;
    if (!is_open) begin
      reject_outcome = OUTCOME_REJECT_CLOSED;
      reject_status  = STATUS_CANCELLED;
    end else if (post_q.is_read && bad_node_q) begin
      reject_outcome = OUTCOME_REJECT_NODE;
      reject_status  = STATUS_BAD_NODE;
    end else if (bad_length) begin
      reject_outcome = OUTCOME_REJECT_LENGTH;
      reject_status  = STATUS_BAD_LENGTH;
    end else if (misaligned_q) begin
      reject_outcome = OUTCOME_REJECT_ALIGN;
      reject_status  = STATUS_MISALIGNED;
    end else if (post_q.is_read && beyond_q) begin
      reject_outcome = OUTCOME_REJECT_ADDRESS;
      reject_status  = STATUS_BAD_ADDRESS;
    end else if (!post_empty && verdict != OUTCOME_NONE) begin
      reject_outcome = OUTCOME_REJECT_BUFFER;
      reject_status  = STATUS_BAD_BUFFER;
    end else if (offered_q && !over_quota_q) begin
      rejected       = 1'b0;
      reject_outcome = post_q.is_read ? OUTCOME_ASK : OUTCOME_WAIT;
    end
  end

  always_comb begin : p_admit
    admit         = ADMIT_NONE;
    refusal       = OUTCOME_NONE;
    other_message = 1'b0;
    look_again    = 1'b0;
    if (decide && job_q == DO_RQT && asks_q != ASKS_NOTHING && verdict != OUTCOME_REFUSE_LENGTH &&
        !(asks_q == ASKS_WRITE && verdict != OUTCOME_NONE)) begin
      admit = ADMIT_REFUSE;
      if (maybe_found_q && !same_q) other_message = 1'b1;
      else if (maybe_found_q && t_state == TICKET_BOUND) admit = ADMIT_AGAIN;
      else if (maybe_found_q && t_state == TICKET_TAKEN) admit = ADMIT_DROP;
      else if (maybe_found_q) look_again = 1'b1;  // it was over meanwhile
      else if (asks_q == ASKS_ANSWER) begin
        if (!exists_q || !t_is_read || t_state == TICKET_FREE || t_state == TICKET_ENDING || (waits && !is_open) || !wanted_q)
          refusal = OUTCOME_REFUSE_NOT_WANTED;
        else admit = waits ? ADMIT_BUFFER : ADMIT_DROP;
      end else if (asks_q == ASKS_SEND ? set_lately_q : checked_queue != seen_queue_q) look_again = 1'b1;  // key or region was changed meanwhile
      else if (!queue_exists_q || !is_open || (asks_q == ASKS_SEND && !key_ok_q)) refusal = OUTCOME_REFUSE_QUEUE;
      else if (!list_any) refusal = OUTCOME_REFUSE_NOT_READY;
      else if (asks_q == ASKS_SEND && too_long_q) refusal = OUTCOME_REFUSE_TOO_LONG;
      else admit = asks_q == ASKS_SEND ? ADMIT_BUFFER : ADMIT_TICKET;
    end
  end

  assign hand_on = decide && job_q == DO_RQT && !other_message && !look_again;
  assign take    = hand_on && (admit == ADMIT_BUFFER || admit == ADMIT_TICKET);

  always_comb begin : p_decide
    outcome    = OUTCOME_NONE;
    new_ticket = 1'b0;
    wait_again = 1'b0;
    end_it     = 1'b0;
    back_off   = 1'b0;
    retry      = 1'b0;
    ask        = 1'b0;
    met        = 1'b0;
    status     = STATUS_OK;
    if (decide) begin
      unique case (job_q)
        DO_POST: begin
          outcome    = reject_outcome;
          status     = reject_status;
          new_ticket = !rejected;
          ask        = !rejected && post_q.is_read;
        end
        DO_RSP: begin
          if (!waits || !t_is_read || rsp_granted_q || !rsp_fits_q) outcome = OUTCOME_DROP_OLD_READ;
          else begin
            back_off = rsp_busy_q && !too_busy_q;
            end_it   = !back_off;
            outcome  = back_off ? OUTCOME_BACKOFF_READ : OUTCOME_REFUSED_READ;
            status   = rsp_busy_q ? STATUS_REMOTE_BUSY : rsp_status_q;
          end
        end
        DO_DECIDED: begin
          back_off   = !no_buffer_q && busy_q && t_is_read && !too_busy_q;
          end_it     = no_buffer_q || (busy_q && t_is_read && too_busy_q);
          wait_again = !end_it;
          status     = no_buffer_q ? STATUS_BAD_BUFFER : STATUS_REMOTE_BUSY;
        end
        DO_LEAVE: begin
          if (t_state == TICKET_ENDING) begin
            outcome = OUTCOME_ARRIVED;
            end_it  = 1'b1;
            met     = 1'b1;
            status  = t_failed ? STATUS_LOCAL_ERROR : STATUS_OK;
          end else begin
            outcome    = OUTCOME_RETURNED;
            end_it     = t_is_read && last_try_q;
            retry      = t_is_read && !last_try_q;
            wait_again = !end_it;
            status     = STATUS_DEAD_PEER;
          end
        end
        DO_SWEEP: begin
          if (waits && !is_open) begin
            outcome = OUTCOME_CANCEL;
            end_it  = 1'b1;
            status  = STATUS_CANCELLED;
          end else if (waits && t_is_read && elapsed_q >= TICK_W'(limit_q)) begin
            outcome = last_try_q ? OUTCOME_GIVE_UP_READ : OUTCOME_RETRY_READ;
            end_it  = last_try_q;
            retry   = !last_try_q;
            ask     = !last_try_q;
            status  = STATUS_NO_ANSWER;
          end
        end
        default: ;
      endcase
    end
  end

  assign set        = new_ticket || wait_again || end_it || take;
  assign push_back  = new_ticket && !post_q.is_read;
  assign push_front = wait_again && !t_is_read && is_open;
  assign pop        = take && asks_q != ASKS_ANSWER;
  assign complete   = end_it || (decide && job_q == DO_POST && rejected);
  assign restart    = back_off || retry;
  assign timer_we   = new_ticket || restart;

  always_comb begin : p_state
    set_state = TICKET_WAITING;
    if (end_it) set_state = TICKET_FREE;
    if (take) set_state = TICKET_TAKEN;
  end

  always_comb begin : p_kept
    kept_new    = '{tag: post_q.tag, address: post_q.address[ADDR_W-1:0], bytes: post_q.bytes, rkey: post_q.rkey, node: post_q.node[NODE_W-1:0],
                    remote_addr: post_q.remote_addr[ADDR_W-1:0], remote_rkey: post_q.remote_rkey, number: number_q};
    message_new = '{src: hdr_q.src[NODE_W-1:0], sid: hdr_q.sid[SID_W-1:0], msgid: hdr_q.msgid[MSGID_W-1:0], bytes: hdr_q.pidx,
                    immediate: asks_q == ASKS_WRITE};
    timer_new   = '{start: now_q, doublings: '0, retries: '0, busy: '0};
    if (back_off) begin
      timer_new.doublings = doublings(busier_q > 8'd3 ? 4'd3 : 4'(busier_q), backoff_q);
      timer_new.busy      = busier_q;
    end else if (retry) begin
      timer_new.doublings = doublings(retries_q, backoff_q);
      timer_new.retries   = retries_q;
      timer_new.busy      = timer.busy;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) number_q <= '0;
    else if (number_load_i) number_q <= number_i;
    else if (ask && new_ticket) number_q <= number_q + 1'b1;
  end

  // ------------------------------------------------------------------------------------------------- after it
  logic               ctl_push_q, cpl_push_q, cpl_ready;
  header_t            ctl_q;
  ticket_completion_t cpl_q;
  logic [$clog2(CTL_DEPTH+1)-1:0] ctls;
  logic [$clog2(CPL_DEPTH+1)-1:0] cpls;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      req_valid_o   <= 1'b0;
      ctl_push_q    <= 1'b0;
      cpl_push_q    <= 1'b0;
      ctl_dropped_o <= 1'b0;
      trace_valid_o <= 1'b0;
    end else begin
      if (hand_on) req_valid_o <= 1'b1;
      else if (req_ready_i) req_valid_o <= 1'b0;
      ctl_push_q    <= ask && room;
      cpl_push_q    <= complete;
      ctl_dropped_o <= ask && !room;
      trace_valid_o <= hand_on || (decide && (outcome != OUTCOME_NONE || job_q == DO_DECIDED));
    end

    if (hand_on) begin
      req_o <= '{kind: admit, of_read: t_is_read && admit == ADMIT_BUFFER, refusal: refusal, hdr: hdr_q};
      if (admit == ADMIT_BUFFER) begin
        req_o.hdr.arg <= 64'(kept.address);
        req_o.hdr.gen <= kept.rkey[23:16];
        req_o.hdr.cid <= kept.rkey[15:0];
      end
      if (admit == ADMIT_AGAIN) begin
        req_o.hdr.arg <= 64'(kept.rkey);
        req_o.hdr.cid <= 16'(t_cid);
      end
    end

    ctl_q       <= '0;
    ctl_q.ptype <= PTYPE_READ;
    ctl_q.src   <= node_id_i;
    ctl_q.sid   <= 16'(idx_q);
    if (new_ticket) begin
      ctl_q.dst   <= post_q.node[15:0];
      ctl_q.msgid <= 24'(number_q);
      ctl_q.pidx  <= post_q.bytes;
      ctl_q.arg   <= post_q.remote_addr;
      {ctl_q.gen, ctl_q.cid} <= post_q.remote_rkey;
    end else begin
      ctl_q.dst   <= 16'(kept.node);
      ctl_q.msgid <= 24'(kept.number);
      ctl_q.pidx  <= kept.bytes;
      ctl_q.arg   <= 64'(kept.remote_addr);
      {ctl_q.gen, ctl_q.cid} <= kept.remote_rkey;
    end

    cpl_q         <= '0;
    cpl_q.status  <= status;
    if (end_it) begin
      cpl_q.qid     <= 8'(queue_q);
      cpl_q.tag     <= kept.tag;
      cpl_q.is_read <= t_is_read;
      if (met) begin
        cpl_q.node     <= 16'(message.src);
        cpl_q.imm_form <= message.immediate;
        cpl_q.bytes    <= message.bytes;
        cpl_q.has_imm  <= has_imm;
        cpl_q.imm      <= has_imm ? imm : '0;
      end else if (t_is_read) cpl_q.node <= 16'(kept.node);
    end else begin
      cpl_q.qid     <= post_q.qid;
      cpl_q.tag     <= post_q.tag;
      cpl_q.is_read <= post_q.is_read;
    end

    trace_outcome_o     <= outcome;
    trace_ticket_o      <= 16'(idx_q);
    trace_room_o        <= room;
    trace_offer_valid_o <= job_q == DO_POST && offered_q;
    trace_offer_o       <= 16'(idx_q);
    trace_now_o         <= now_q;
    trace_admit_o       <= admit;
    unique case (job_q)
      DO_POST: begin
        trace_kind_o <= INBOX_POST;
        if (rejected) trace_ticket_o <= '0;
      end
      DO_RQT: begin
        trace_kind_o <= INBOX_RQT;
        if (!take && admit != ADMIT_AGAIN) trace_ticket_o <= '0;
      end
      DO_RSP: begin
        trace_kind_o   <= INBOX_RSP;
        trace_ticket_o <= hdr_q.sid;
      end
      DO_LEAVE:   trace_kind_o <= INBOX_LEAVE;
      DO_DECIDED: trace_kind_o <= INBOX_DECIDED;
      default:    trace_kind_o <= outcome == OUTCOME_CANCEL ? INBOX_CANCEL : INBOX_TIMEOUT;
    endcase
  end

  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH($bits(header_t))
  ) i_control (
    .clk_i,
    .rst_ni,
    .valid_i(ctl_push_q),
    .ready_o(ctl_ready),
    .data_i (ctl_q),
    .valid_o(ctl_valid_o),
    .ready_i(ctl_ready_i),
    .data_o (ctl_o),
    .count_o(ctls)
  );

  ram_fifo #(
    .DEPTH(CPL_DEPTH),
    .WIDTH($bits(ticket_completion_t))
  ) i_completions (
    .clk_i,
    .rst_ni,
    .valid_i(cpl_push_q),
    .ready_o(cpl_ready),
    .data_i (cpl_q),
    .valid_o(cpl_valid_o),
    .ready_i(cpl_ready_i),
    .data_o (cpl_o),
    .count_o(cpls)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) idle_o <= 1'b0;
    else
      idle_o <= ready_o && !front_q && step_q == S_IDLE && !tickets_busy && !handed_valid && !undone_valid && !ctl_push_q && !cpl_push_q && rqts == '0 && leavings == '0 &&
                ctls == '0 && cpls == '0 && !rqt_valid_i && !rsp_valid_i && !post_valid_i;
  end

  `ASSERT(CompletionsHaveAPlace, !cpl_push_q || cpl_ready)
  `ASSERT(LeavingHaveAPlace, !left || leaving_ready)
  `ASSERT(SetQueueExists, !queue_set_i || 9'(queue_idx_i) < 9'(N_QUEUES))
  `ASSERT(PostOfAQueueThatExists, !(post_valid_i && post_ready_o) || 9'(post_i.qid) < 9'(N_QUEUES))
  `ASSERT(DecisionOfARequest, !(ret_valid_i && ret_i.decides) || handed_valid)
  `ASSERT(HandedHavePlaces, !hand_on || (handed_ready && undone_ready))
  `ASSERT(OneRequestAtTheOutput, !hand_on || !req_valid_o)
  `ASSERT(SourceOfFrontStays, !front_q || (front_job_q == DO_RQT ? rqt_valid : front_job_q == DO_RSP ? rsp_valid_i : front_job_q == DO_POST ? post_valid_i :
                              front_job_q == DO_LEAVE ? leaving_valid : front_job_q != DO_DECIDED || undone_valid))
  `ASSERT(LeavesAfterItsEnd, !(decide && job_q == DO_LEAVE) || t_state == TICKET_ENDING || t_state == TICKET_RETURNING)
  `ASSERT(DecisionOfATakenTicket, !(decide && job_q == DO_DECIDED) || t_state == TICKET_TAKEN)
  `ASSERT(ListOfAnOpenQueue, !decide || job_q == DO_RQT || job_q == DO_RSP || is_open || !list_any)
  `ASSERT(FirstOfListWaits, !pop || (t_state == TICKET_WAITING && !t_is_read))
  `ASSERT(NumbersFitRqt, !(rqt_valid_i && rqt_ready_o) || ((rqt_i.src >> NODE_W) == '0 && (rqt_i.sid >> SID_W) == '0 && (rqt_i.msgid >> MSGID_W) == '0))
endmodule
