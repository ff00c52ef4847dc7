// SPDX-License-Identifier: Apache-2.0
// Sender of the RDMA engine: one event (packet, fault, timeout, post or turn) a clock. Protocol and context: docs/rdma.md, Sender.
//
//   A  choose the event; a post takes a free context and a place for its completion
//   B  read the context RAM
//   C  decide; write context and timer back                       (ram_1r1w forwards C to a read in B)
//   D  act: control packet, DATA order, completion, turn, freed context, trace
//
// Nothing outside can stop packets, faults and timeouts: control packets and resends that find no room are dropped (a timer of
// the receiver repeats them). Turns wait for room in the send queue, posts for a context. Posts of software wait for room for their
// completion as well, and leave some contexts to answers (docs/rdma_transfers.md), which end with a pulse, so that software which
// reads no completions cannot stop them.
`include "weft_assert.svh"
`include "rdma_typedef.svh"

module rdma_sender
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_TX_CTX     = 1024,  // send contexts, a power of two
  parameter int unsigned PAYLOAD      = 256,   // bytes of a full packet
  parameter int unsigned PIDX_W       = 24,
  parameter int unsigned CID_W        = 10,
  parameter int unsigned SID_W        = 10,
  parameter int unsigned MSGID_W      = 20,
  parameter int unsigned NODE_W       = 16,
  parameter int unsigned ADDR_W       = 48,
  parameter int unsigned CTL_DEPTH    = 16,    // control packets that may wait
  parameter int unsigned SEND_DEPTH   = 8,     // new DATA packets that may wait
  parameter int unsigned LONG         = 160,   // bytes; behind a packet of so many none waits: what is sent again overtakes it, and it may be in vain then
  parameter int unsigned RESEND_DEPTH = 64,    // resent DATA packets that may wait, a power of two
  parameter int unsigned SCHEME       = SCHEME_WINDOW,  // docs/rdma_baseline.md
  parameter int unsigned WINDOW       = 128,   // with SCHEME_SENDER: packets of a send buffer
  parameter int unsigned N_BUFFERS    = 64     // with SCHEME_SENDER: send buffers
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  output logic                ready_o,  // contexts are initialised
  output logic                idle_o,   // no context in use, nothing waiting
  // configuration
  input  logic [        15:0] node_id_i,
  input  logic [ LIMIT_W-1:0] retry_i,      // ticks, TX_RETRY
  input  logic [ LIMIT_W-1:0] dead_i,       // ticks, TX_DEAD
  input  logic [         3:0] max_retry_i,
  input  logic [         7:0] max_busy_i,   // refusals for want of a context in a row, 0: no bound
  input  logic [         1:0] backoff_i,    // a timeout doubles so often at the most
  input  logic                msgid_load_i,  // number requests from msgid_i on; no request is waiting
  input  logic [ MSGID_W-1:0] msgid_i,
  input  logic [  TICK_W-1:0] now_i,        // ticks
  // packets RSP, RESEND, DONE
  input  logic                hdr_valid_i,
  output logic                hdr_ready_o,
  input  header_t             hdr_i,
  // requests of software, and answers to READs
  input  logic [        15:0] keep_i,       // contexts to be left to answers; followed a clock later
  input  logic                post_valid_i,
  output logic                post_ready_o,
  input  post_t               post_i,       // may change while it waits
  output logic                answer_done_o,  // an answer is over, in the clock in which its context is freed
  output logic [        15:0] answer_tag_o,   // of its post
  // completions for the software
  output logic                cpl_valid_o,
  input  logic                cpl_ready_i,
  output completion_t         cpl_o,
  output logic [        15:0] cpl_count_o,
  // control packets RQT, RELEASE
  output logic                ctl_valid_o,
  input  logic                ctl_ready_i,
  output header_t             ctl_o,
  output logic                ctl_dropped_o,  // a control packet found no room
  // DATA packets to fetch and send: resent and new ones in turn
  output logic                data_valid_o,
  input  logic                data_ready_i,
  output header_t             data_hdr_o,
  output logic [  ADDR_W-1:0] data_addr_o,
  // whether the transfer of such a packet is over, answered in the next clock; an end counts from the clock of its trace record on
  input  logic                query_i,
  input  logic [        15:0] query_sid_i,
  input  logic [        23:0] query_msgid_i,
  output logic                query_over_o,
  // a packet of this transfer could not be read; what is over may be told of, too
  input  logic                fault_valid_i,
  output logic                fault_ready_o,
  input  logic [        15:0] fault_sid_i,
  input  logic [        23:0] fault_msgid_i,
  // trace: one record per event, see docs/rdma.md
  output logic                trace_valid_o,
  output event_e              trace_kind_o,
  output outcome_e            trace_outcome_o,
  output logic                trace_room_o,
  output logic                trace_resend_room_o,
  output logic                trace_offer_valid_o,
  output logic [        15:0] trace_offer_sid_o,
  output logic [        15:0] trace_sid_o,
  output logic [  TICK_W-1:0] trace_now_o,
  output logic [        31:0] trace_next_o
);
  localparam int unsigned SHIFT       = $clog2(PAYLOAD);
  localparam int unsigned LEN_W       = SHIFT + 1;
  localparam int unsigned IDX_W       = $clog2(N_TX_CTX);
  localparam bit          COUNTS      = SCHEME == SCHEME_COUNTER;
  localparam bit          KEEPS       = SCHEME == SCHEME_SENDER;
  localparam int unsigned BUF_W       = $clog2(N_BUFFERS);
  localparam int unsigned SLOT_W      = $clog2(WINDOW);
  localparam int unsigned SUMMING     = COUNTS ? 2 : 0;  // clocks from D to the send queue
  localparam int unsigned QUEUE_DEPTH = SEND_DEPTH + SUMMING;
  localparam int unsigned UNDERWAY    = 3 + SUMMING;  // events in B, C and D, and those on the way to the send queue

  if (N_TX_CTX < 2 || (N_TX_CTX & (N_TX_CTX - 1)) != 0) begin : g_bad_n
    $error("N_TX_CTX must be a power of two of at least 2, is %0d", N_TX_CTX);
  end
  if (N_TX_CTX > 32768) begin : g_bad_max
    $error("N_TX_CTX must be at most 32768, is %0d", N_TX_CTX);
  end
  if (N_TX_CTX > (1 << SID_W) || SID_W > 16) begin : g_bad_sid
    $error("SID_W (%0d) must number N_TX_CTX (%0d) contexts and be at most 16", SID_W, N_TX_CTX);
  end
  if (PIDX_W > 31 || PIDX_W + SHIFT < 8 || CID_W > 16 || MSGID_W > 24 || NODE_W > 16) begin : g_bad_widths
    $error("PIDX_W (%0d), CID_W (%0d), MSGID_W (%0d), NODE_W (%0d) must be at most 31, 16, 24, 16", PIDX_W, CID_W,
           MSGID_W, NODE_W);
  end
  if (MSGID_W > ADDR_W) begin : g_bad_number
    $error("ADDR_W (%0d) must hold the number of a READ, of MSGID_W (%0d) bits", ADDR_W, MSGID_W);
  end
  if (RESEND_DEPTH < 4 || (RESEND_DEPTH & (RESEND_DEPTH - 1)) != 0) begin : g_bad_resend
    $error("RESEND_DEPTH must be a power of two of at least 4, is %0d", RESEND_DEPTH);
  end

  if (SCHEME > SCHEME_SENDER) begin : g_bad_scheme
    $error("SCHEME must be %0d to %0d, is %0d", SCHEME_WINDOW, SCHEME_SENDER, SCHEME);
  end

  `RDMA_TYPEDEF_TX_CTX(ctx_t, NODE_W, CID_W, MSGID_W, ADDR_W, PIDX_W, LEN_W)

  typedef struct packed {
    event_e           kind;
    header_t          hdr;          // sid: context of any event
    post_t            post;
    logic [BUF_W-1:0]  buffer;      // with SCHEME_SENDER: of the event, and a slot there
    logic [SLOT_W-1:0] at;
  } event_t;

  // What a slot of a send buffer has: one packet of one transfer.
  typedef struct packed {
    logic [IDX_W-1:0]   sid;
    logic [MSGID_W-1:0] msgid;
    logic [PIDX_W-1:0]  pidx;
  } slot_t;

  typedef struct packed {
    header_t           hdr;
    logic [ADDR_W-1:0] addr;
  } order_t;

  typedef struct packed {
    event_e            kind;
    outcome_e          outcome;
    logic              room;
    logic              resend_room;
    logic [15:0]       sid;
    logic [TICK_W-1:0] now;
    logic [PIDX_W-1:0] next;
    logic              emit;
    header_t           emit_hdr;
    logic              dropped;
    logic              send;
    logic              resend;
    order_t            order;
    logic              complete;
    logic              answer_done;
    completion_t       completion;
    logic              turn;
    logic              free;
    logic              waits;     // the turn is to wait for room in the buffer
    logic [BUF_W-1:0]  buffer;    // that of the destination; of a buffer's event that one
  } action_t;

  // ------------------------------------------------------------------------------------------------- after reset
  logic             clearing_q;
  logic [IDX_W-1:0] clear_idx_q;
  logic             timer_ready, list_ready, buffers_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q  <= 1'b1;
      clear_idx_q <= '0;
    end else if (clearing_q) begin
      clear_idx_q <= clear_idx_q + 1'b1;
      clearing_q  <= clear_idx_q != '1;
    end
  end

  assign ready_o = !clearing_q && timer_ready && list_ready && buffers_ready;

  // ------------------------------------------------------------------------------------------------- A: choose
  logic             take_packet, take_fault, take_timeout, take_post, take_turn;
  logic             offer_valid, expired_valid, turn_valid, send_room, place, from_software, post_welcome;
  logic             spare_q;  // there are more free contexts than are kept for answers
  logic [IDX_W-1:0] offer, expired_idx, turn_sid;
  logic [IDX_W:0]   free;
  // With SCHEME_SENDER: a buffer's timer has ended, a context that has waited for room, a packet to be sent again.
  logic              buffer_expired, waiting, again, buffers_idle;
  logic [BUF_W-1:0]  expired_buffer, waiting_buffer, again_buffer, turn_buffer;
  logic [IDX_W-1:0]  waiting_sid;
  logic [SLOT_W-1:0] again_at;
  slot_t             again_slot;
  event_t           a_event, b_q, c_q;
  action_t          d_q;
  logic             b_valid_q, c_valid_q, d_valid_q;

  assign from_software = post_i.origin != ORIGIN_ANSWERS;
  assign post_welcome  = post_valid_i && offer_valid && (!from_software || (place && spare_q));

  rdma_tx_choose i_choose (
    .clk_i,
    .rst_ni,
    .ready_i       (ready_o),
    .packet_i      (hdr_valid_i),
    .fault_i       (fault_valid_i),
    .timeout_i     (expired_valid || buffer_expired),
    .post_i        (post_welcome),
    .turn_i        ((turn_valid || waiting || again) && send_room),
    .packet_ready_o(hdr_ready_o),
    .take_packet_o (take_packet),
    .take_fault_o  (take_fault),
    .take_timeout_o(take_timeout),
    .take_post_o   (take_post),
    .take_turn_o   (take_turn)
  );
  assign post_ready_o  = take_post;
  assign fault_ready_o = take_fault;

  always_comb begin : p_event
    a_event      = '0;
    a_event.hdr  = hdr_i;
    a_event.post = post_i;
    a_event.kind = EV_PACKET;
    a_event.buffer = hdr_i.src[BUF_W-1:0];
    a_event.at     = hdr_i.arg[SLOT_W-1:0];
    if (take_timeout && buffer_expired) begin
      a_event.kind    = EV_BUFFER_TIMEOUT;
      a_event.buffer  = expired_buffer;
    end else if (take_timeout) begin
      a_event.kind    = EV_TIMEOUT;
      a_event.hdr.sid = 16'(expired_idx);
    end else if (take_fault) begin
      a_event.kind      = EV_FAULT;
      a_event.hdr.sid   = fault_sid_i;
      a_event.hdr.msgid = fault_msgid_i;
    end else if (take_post) begin
      a_event.kind    = EV_POST;
      a_event.hdr.sid = 16'(offer);
    end else if (take_turn && again && !waiting) begin
      a_event.kind      = EV_BUFFER_TURN;
      a_event.buffer    = again_buffer;
      a_event.at        = again_at;
      a_event.hdr.sid   = 16'(again_slot.sid);
      a_event.hdr.msgid = 24'(again_slot.msgid);
      a_event.hdr.pidx  = 32'(again_slot.pidx);
    end else if (take_turn) begin
      a_event.kind    = EV_TURN;
      a_event.buffer  = waiting ? waiting_buffer : turn_buffer;
      a_event.hdr.sid = waiting ? 16'(waiting_sid) : 16'(turn_sid);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
    end else begin
      b_valid_q <= take_packet || take_fault || take_timeout || take_post || take_turn;
      c_valid_q <= b_valid_q;
      d_valid_q <= c_valid_q;
    end
    b_q <= a_event;
    c_q <= b_q;
  end

  // A post takes its context here; a rejected one gives it back in D.
  free_list #(
    .N(N_TX_CTX)
  ) i_free (
    .clk_i,
    .rst_ni,
    .ready_o  (list_ready),
    .valid_o  (offer_valid),
    .id_o     (offer),
    .pop_i    (take_post),
    .push_i   (d_valid_q && d_q.free),
    .push_id_i(d_q.sid[IDX_W-1:0]),
    .count_o  (free)
  );

  // Compared a clock before it is used: contexts freed meanwhile are counted a clock later.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) spare_q <= 1'b0;
    else spare_q <= take_post ? 17'(free) > 17'(keep_i) + 1'b1 : 17'(free) > 17'(keep_i);
  end

  // Places in the completion queue, taken by a post of software and given back when the completion is read.
  logic [IDX_W:0] places_q;
  assign place = places_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) places_q <= (IDX_W + 1)'(N_TX_CTX);
    else places_q <= places_q - (IDX_W + 1)'(take_post && from_software) + (IDX_W + 1)'(cpl_valid_o && cpl_ready_i);
  end

  // ------------------------------------------------------------------------------------------------- B, C: decide
  ctx_t              c_ctx, c_ctx_new;
  logic              c_we, c_has_ctx, c_emit, c_send, c_resend, c_complete, c_turn, c_free, c_expired;
  logic              c_timer_set, c_timer_armed, ctl_room, resend_room;
  logic [TX_CLASS_W-1:0] c_timer_class;
  outcome_e          c_outcome;
  header_t           c_emit_hdr, c_data_hdr;
  logic [ADDR_W-1:0] c_data_addr;
  completion_t       c_completion;
  action_t           c_action;
  logic [MSGID_W-1:0] msgid_q;
  logic [IDX_W-1:0]  c_idx;
  logic              c_rejected, c_of_buffer;

  assign c_idx = c_q.hdr.sid[IDX_W-1:0];

  buffer_facts_t c_buffer;
  buffer_step_t  c_buffer_step;
  logic          c_wait, buffer_expired_now;

  // Kept is what the scheme needs: what ACKs say, or the attempt.
  localparam int unsigned ATTEMPT_W = 8;
  localparam int unsigned ACKS_W = 2 + SPAN_W + PIDX_W + ACK_MAP_W;
  localparam int unsigned REST_W = $bits(ctx_t) - 1 - ATTEMPT_W - ACKS_W;
  localparam int unsigned KEPT_W = REST_W + (COUNTS ? ATTEMPT_W : KEEPS ? 1 + PIDX_W : ACKS_W);
  logic [KEPT_W-1:0] c_kept, c_kept_new;

  if (COUNTS) begin : g_kept_counter
    assign c_ctx      = {1'b0, c_kept[KEPT_W-1-:ATTEMPT_W], ACKS_W'(0), c_kept[REST_W-1:0]};
    assign c_kept_new = {c_ctx_new.attempt, c_ctx_new[REST_W-1:0]};
  end else if (KEEPS) begin : g_kept_sender
    assign c_ctx      = {c_kept[KEPT_W-1], ATTEMPT_W'(0), (2 + SPAN_W)'(0), c_kept[REST_W+:PIDX_W], ACK_MAP_W'(0), c_kept[REST_W-1:0]};
    assign c_kept_new = {c_ctx_new.failed, c_ctx_new.acked, c_ctx_new[REST_W-1:0]};
  end else begin : g_kept_window
    assign c_ctx      = {1'b0, ATTEMPT_W'(0), c_kept};
    assign c_kept_new = c_ctx_new[KEPT_W-1:0];
  end
  logic unused_ctx;
  assign unused_ctx = ^{c_ctx_new.failed, c_ctx_new.attempt, c_ctx_new.second, c_ctx_new.hole, c_ctx_new.span, c_ctx_new.acked, c_ctx_new.asked};  // of the other schemes

  ram_1r1w #(
    .DEPTH(N_TX_CTX),
    .WIDTH(KEPT_W)
  ) i_contexts (
    .clk_i,
    .we_i   (clearing_q || (c_valid_q && c_we)),
    .waddr_i(clearing_q ? clear_idx_q : c_idx),
    .wdata_i(clearing_q ? '0 : c_kept_new),
    .re_i   (b_valid_q),
    .raddr_i(b_q.hdr.sid[IDX_W-1:0]),
    .rdata_o(c_kept)
  );

  rdma_tx_decide #(
    .N_TX_CTX(N_TX_CTX),
    .PAYLOAD (PAYLOAD),
    .PIDX_W  (PIDX_W),
    .CID_W   (CID_W),
    .MSGID_W (MSGID_W),
    .NODE_W  (NODE_W),
    .ADDR_W  (ADDR_W),
    .LEN_W   (LEN_W),
    .SCHEME  (SCHEME),
    .ctx_t   (ctx_t)
  ) i_decide (
    .kind_i       (c_q.kind),
    .expired_i    (c_q.kind == EV_BUFFER_TIMEOUT ? buffer_expired_now : c_expired),
    .hdr_i        (c_q.hdr),
    .post_i       (c_q.post),
    .msgid_i      (msgid_q),
    .resend_room_i(resend_room),
    .buffer_i     (c_buffer),
    .node_id_i,
    .max_retry_i,
    .max_busy_i,
    .backoff_i,
    .ctx_i        (c_ctx),
    .ctx_o        (c_ctx_new),
    .ctx_we_o     (c_we),
    .outcome_o    (c_outcome),
    .has_ctx_o    (c_has_ctx),
    .emit_o       (c_emit),
    .emit_hdr_o   (c_emit_hdr),
    .send_o       (c_send),
    .resend_o     (c_resend),
    .data_hdr_o   (c_data_hdr),
    .data_addr_o  (c_data_addr),
    .complete_o   (c_complete),
    .completion_o (c_completion),
    .turn_o       (c_turn),
    .timer_set_o  (c_timer_set),
    .timer_armed_o(c_timer_armed),
    .timer_class_o(c_timer_class),
    .free_o       (c_free),
    .buffer_o     (c_buffer_step),
    .wait_o       (c_wait)
  );

  rdma_timer #(
    .N      (N_TX_CTX),
    .CLASSES(TX_CLASSES)
  ) i_timer (
    .clk_i,
    .rst_ni,
    .ready_o        (timer_ready),
    .now_i          (STAMP_W'(now_i)),
    .limits_i       ({dead_i, backoff_limits(retry_i)}),
    .set_i          (c_valid_q && c_timer_set),
    .set_idx_i      (c_idx),
    .set_armed_i    (c_timer_armed),
    .set_class_i    (c_timer_class),
    .expired_valid_o(expired_valid),
    .expired_idx_o  (expired_idx),
    .expired_ready_i(take_timeout && !buffer_expired),
    .decided_i      (c_valid_q && c_q.kind == EV_TIMEOUT),
    .expired_now_o  (c_expired)
  );

  assign c_rejected = c_q.kind == EV_POST && c_outcome != OUTCOME_SUBMIT;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) msgid_q <= '0;
    else if (msgid_load_i) msgid_q <= msgid_i;
    else if (c_valid_q && c_outcome == OUTCOME_SUBMIT) msgid_q <= msgid_q + 1'b1;
  end

  always_comb begin : p_action
    c_action             = '0;
    c_action.kind        = c_q.kind;
    c_action.outcome     = c_outcome;
    c_action.room        = ctl_room;
    c_action.resend_room = resend_room;
    c_action.sid         = c_q.hdr.sid;
    c_action.now         = now_i;
    c_action.next        = c_has_ctx ? c_ctx_new.next : '0;
    c_action.emit        = c_emit && ctl_room;
    c_action.emit_hdr    = c_emit_hdr;
    c_action.dropped     = c_emit && !ctl_room;
    c_action.send        = c_send;
    c_action.resend      = c_resend;
    c_action.order       = '{hdr: c_data_hdr, addr: c_data_addr};
    c_action.complete    = c_complete && c_completion.origin != ORIGIN_ANSWERS;
    c_action.answer_done = c_complete && c_completion.origin == ORIGIN_ANSWERS;
    c_action.completion  = c_completion;
    c_action.turn        = c_turn;
    c_action.free        = c_free || c_rejected;
    c_action.waits       = c_wait;
    c_action.buffer      = c_of_buffer ? c_q.buffer : BUF_W'(c_ctx_new.dst);
  end
  assign c_of_buffer = c_q.kind == EV_BUFFER_TIMEOUT || c_q.kind == EV_BUFFER_TURN;

  always_ff @(posedge clk_i) d_q <= c_action;

  // ------------------------------------------------------------------------------------------------- B, C: send buffers
  if (KEEPS) begin : g_buffers
    slot_t             c_slot;
    logic [SLOT_W-1:0] c_next;
    logic              c_open;

    rdma_send_buffers #(
      .N_TX_CTX (N_TX_CTX),
      .N_BUFFERS(N_BUFFERS),
      .WINDOW   (WINDOW),
      .slot_t   (slot_t)
    ) i_buffers (
      .clk_i,
      .rst_ni,
      .ready_o        (buffers_ready),
      .idle_o         (buffers_idle),
      .retry_i,
      .backoff_i,
      .now_i          (STAMP_W'(now_i)),
      .expired_valid_o(buffer_expired),
      .expired_take_i (take_timeout && buffer_expired),
      .expired_o      (expired_buffer),
      .waiting_valid_o(waiting),
      .waiting_take_i (take_turn && waiting),
      .waiting_sid_o  (waiting_sid),
      .waiting_o      (waiting_buffer),
      .again_valid_o  (again),
      .again_take_i   (take_turn && again && !waiting),
      .again_o        (again_buffer),
      .again_at_o     (again_at),
      .again_slot_o   (again_slot),
      .b_valid_i      (b_valid_q),
      .b_buffer_i     (b_q.buffer),
      .b_at_i         (b_q.at),
      .c_valid_i      (c_valid_q),
      .c_timeout_i    (c_q.kind == EV_BUFFER_TIMEOUT),
      .c_full_o       (c_buffer.full),
      .c_next_o       (c_next),
      .c_open_o       (c_open),
      .c_slot_o       (c_slot),
      .c_expired_o    (buffer_expired_now),
      .c_again_o      (c_buffer.again),
      .c_add_i        (c_buffer_step.add),
      .c_added_i      ('{sid: c_idx, msgid: c_ctx.msgid, pidx: c_ctx.next}),
      .c_close_i      (c_buffer_step.close),
      .c_restart_i    (c_buffer_step.restart),
      .c_again_i      (c_buffer_step.again),
      .d_wait_i       (d_valid_q && d_q.waits),
      .d_sid_i        (d_q.sid[IDX_W-1:0]),
      .d_buffer_i     (d_q.buffer)
    );
    assign c_buffer.its_own = c_q.buffer == BUF_W'(c_ctx.dst);
    assign c_buffer.next    = 8'(c_next);
    assign c_buffer.at      = 8'(c_q.at);
    assign c_buffer.open    = c_open;
    assign c_buffer.match   = c_open && c_q.hdr.arg < 64'(WINDOW) && 16'(c_slot.sid) == c_q.hdr.sid && 24'(c_slot.msgid) == c_q.hdr.msgid &&
                              32'(c_slot.pidx) == c_q.hdr.pidx;
  end else begin : g_no_buffers
    assign {buffers_ready, buffers_idle} = '1;
    assign {buffer_expired, waiting, again, buffer_expired_now} = '0;
    assign {expired_buffer, waiting_buffer, again_buffer, waiting_sid, again_at, again_slot} = '0;
    assign c_buffer = '0;
    logic unused_buffers;
    assign unused_buffers = ^{c_buffer_step, d_q.waits, d_q.buffer, c_q.buffer, c_q.at, turn_buffer};
  end

  // ------------------------------------------------------------------------------------------------- transfers under way
  typedef struct packed {
    logic               going;
    logic [MSGID_W-1:0] msgid;
  } going_t;
  going_t             going_in, going;
  logic [MSGID_W-1:0] query_msgid_q;
  logic               d_begins, d_ends;

  assign d_begins = d_valid_q && d_q.outcome == OUTCOME_SUBMIT;
  assign d_ends   = d_valid_q && d_q.free;
  assign going_in = '{going: d_begins && !clearing_q, msgid: d_q.emit_hdr.msgid[MSGID_W-1:0]};

  ram_1r1w #(
    .DEPTH(N_TX_CTX),
    .WIDTH($bits(going_t))
  ) i_going (
    .clk_i,
    .we_i   (clearing_q || d_begins || d_ends),
    .waddr_i(clearing_q ? clear_idx_q : d_q.sid[IDX_W-1:0]),
    .wdata_i(going_in),
    .re_i   (query_i),
    .raddr_i(query_sid_i[IDX_W-1:0]),
    .rdata_o(going)
  );
  always_ff @(posedge clk_i) query_msgid_q <= query_msgid_i[MSGID_W-1:0];
  assign query_over_o = !going.going || going.msgid != query_msgid_q;

  logic unused_query;
  assign unused_query = ^{query_sid_i, query_msgid_i};  // upper bits are 0

  // ------------------------------------------------------------------------------------------------- D: act
  logic ctl_ready, send_ready, resend_ready, cpl_ready, turn_ready;
  logic send_valid, resend_valid, take_resend, resent_last_q;
  order_t send_order, resend_order;
  logic [$clog2(CTL_DEPTH+1)-1:0]    ctls;
  logic [$clog2(QUEUE_DEPTH+1)-1:0]  sends, longs_q;
  logic   queue_send, summing;  // an order comes to the send queue; others are on the way there
  order_t queue_order;
  logic [$clog2(RESEND_DEPTH+1)-1:0] resends;
  logic [IDX_W:0] cpls;

  assign ctl_room    = ctls <= ($bits(ctls))'(CTL_DEPTH - 2);
  assign resend_room = resends <= ($bits(resends))'(RESEND_DEPTH - 2);
  assign send_room   = sends <= ($bits(sends))'(QUEUE_DEPTH - UNDERWAY - 1) && longs_q == '0;

  logic send_fire, long_in, long_out;  // a packet leaves the send queue; the one that comes, or leaves, is long
  assign send_fire = send_valid && data_ready_i && !take_resend;
  assign long_in   = queue_send && queue_order.hdr.len >= 16'(LONG);
  assign long_out  = send_fire && send_order.hdr.len >= 16'(LONG);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) longs_q <= '0;
    else if (long_in != long_out) longs_q <= long_in ? longs_q + 1'b1 : longs_q - 1'b1;
  end
  `ASSERT(LongOnesAreInTheQueue, longs_q <= sends)

  ram_fifo #(
    .DEPTH(CTL_DEPTH),
    .WIDTH($bits(header_t))
  ) i_control (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.emit),
    .ready_o(ctl_ready),
    .data_i (d_q.emit_hdr),
    .valid_o(ctl_valid_o),
    .ready_i(ctl_ready_i),
    .data_o (ctl_o),
    .count_o(ctls)
  );
  assign ctl_dropped_o = d_valid_q && d_q.dropped;

  if (COUNTS) begin : g_sum
    rdma_tx_sum #(
      .N_TX_CTX(N_TX_CTX),
      .order_t (order_t)
    ) i_sum (
      .clk_i,
      .rst_ni,
      .valid_i(d_valid_q && d_q.send),
      .order_i(d_q.order),
      .valid_o(queue_send),
      .order_o(queue_order),
      .busy_o (summing)
    );
  end else begin : g_no_sum
    assign queue_send  = d_valid_q && d_q.send;
    assign queue_order = d_q.order;
    assign summing     = 1'b0;
  end

  sync_fifo #(
    .DEPTH(QUEUE_DEPTH),
    .T    (order_t)
  ) i_send (
    .clk_i,
    .rst_ni,
    .valid_i(queue_send),
    .ready_o(send_ready),
    .data_i (queue_order),
    .valid_o(send_valid),
    .ready_i(data_ready_i && !take_resend),
    .data_o (send_order),
    .count_o(sends)
  );

  ram_fifo #(
    .DEPTH(RESEND_DEPTH),
    .WIDTH($bits(order_t))
  ) i_resend (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.resend),
    .ready_o(resend_ready),
    .data_i (d_q.order),
    .valid_o(resend_valid),
    .ready_i(data_ready_i && take_resend),
    .data_o (resend_order),
    .count_o(resends)
  );

  assign data_valid_o = resend_valid || send_valid;
  assign data_hdr_o   = take_resend ? resend_order.hdr : send_order.hdr;
  assign data_addr_o  = take_resend ? resend_order.addr : send_order.addr;

  // In turn, so that a storm of resends cannot keep other transfers from starting.
  assign take_resend = resend_valid && !(send_valid && resent_last_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) resent_last_q <= 1'b0;
    else if (data_valid_o && data_ready_i) resent_last_q <= take_resend;
  end

  ram_fifo #(
    .DEPTH(N_TX_CTX),
    .WIDTH($bits(completion_t))
  ) i_completions (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.complete),
    .ready_o(cpl_ready),
    .data_i (d_q.completion),
    .valid_o(cpl_valid_o),
    .ready_i(cpl_ready_i),
    .data_o (cpl_o),
    .count_o(cpls)
  );
  assign cpl_count_o   = 16'(cpls);
  assign answer_done_o = d_valid_q && d_q.answer_done;
  assign answer_tag_o  = d_q.completion.tag;

  localparam int unsigned TURN_W = IDX_W + (KEEPS ? BUF_W : 0);
  logic [TURN_W-1:0] turn;
  assign {turn_buffer, turn_sid} = (BUF_W + IDX_W)'(turn);

  ram_fifo #(
    .DEPTH(N_TX_CTX),
    .WIDTH(TURN_W)
  ) i_turns (
    .clk_i,
    .rst_ni,
    .valid_i(d_valid_q && d_q.turn),
    .ready_o(turn_ready),
    .data_i (TURN_W'({d_q.buffer, d_q.sid[IDX_W-1:0]})),
    .valid_o(turn_valid),
    .ready_i(take_turn && !waiting && !again),
    .data_o (turn),
    .count_o()  // not needed
  );

  // By the counts: a packet taken into a queue is at its output only a clock later.
  assign idle_o = places_q == (IDX_W + 1)'(N_TX_CTX) && free == (IDX_W + 1)'(N_TX_CTX) && !post_valid_i && !b_valid_q && !c_valid_q && !d_valid_q && !summing &&
                  ctls == '0 && sends == '0 && resends == '0 && buffers_idle;

  assign trace_valid_o       = d_valid_q && d_q.outcome != OUTCOME_NONE;
  assign trace_kind_o        = d_q.kind;
  assign trace_outcome_o     = d_q.outcome;
  assign trace_room_o        = d_q.room;
  assign trace_resend_room_o = d_q.resend_room;
  assign trace_offer_valid_o = d_q.kind == EV_POST;
  assign trace_offer_sid_o   = d_q.sid;
  assign trace_sid_o         = KEEPS && (d_q.kind == EV_BUFFER_TIMEOUT || d_q.kind == EV_BUFFER_TURN) ? 16'(d_q.buffer) :
                               d_q.kind == EV_POST && d_q.outcome != OUTCOME_SUBMIT ? '0 : d_q.sid;
  assign trace_now_o         = d_q.now;
  assign trace_next_o        = 32'(d_q.next);

  `ASSERT(ControlHasRoom, !(d_valid_q && d_q.emit) || ctl_ready)
  `ASSERT(SendHasRoom, !queue_send || send_ready)
  `ASSERT(ResendHasRoom, !(d_valid_q && d_q.resend) || resend_ready)
  `ASSERT(CompletionHasRoom, !(d_valid_q && d_q.complete) || cpl_ready)
  `ASSERT(TurnHasRoom, !(d_valid_q && d_q.turn) || turn_ready)
  `ASSERT(PostTakesFreeContext, !(c_valid_q && c_q.kind == EV_POST) || c_ctx.state == TX_FREE)
  `ASSERT(AnswersGoToTickets, !take_post || (post_i.origin == ORIGIN_ANSWERS) == (post_i.to == TO_TICKET))
  `ASSERT(AddressFitsItsKind, !take_post || post_i.to == TO_REGION || (post_i.dst_addr >> MSGID_W) == '0)
  `ASSERT(AnswerGivesItsContextBack, !answer_done_o || d_q.free)
  `ASSERT(FaultOfAContext, !fault_valid_i || 32'(fault_sid_i) < N_TX_CTX)
  `ASSERT(TurnIsMarked, !(c_valid_q && c_q.kind == EV_TURN) || c_ctx.turn)
  `ASSERT(NextInsideTransfer, !(c_valid_q && c_we && c_ctx_new.state == TX_ACTIVE) ||
          (c_ctx_new.next <= c_ctx_new.high && c_ctx_new.high <= c_ctx_new.last + 1'b1))
endmodule
