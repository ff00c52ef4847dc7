// SPDX-License-Identifier: Apache-2.0
// What the sender does with one event (docs/rdma.md and docs/rdma_transfers.md, Sender): combinational, from the event and the context as it was to
// the context as it shall be, an outcome, and the actions that follow.
`include "weft_when.svh"

module rdma_tx_decide
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 1024,
  parameter int unsigned PAYLOAD  = 256,
  parameter int unsigned PIDX_W   = 24,
  parameter int unsigned CID_W    = 10,
  parameter int unsigned MSGID_W  = 20,
  parameter int unsigned NODE_W   = 16,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned LEN_W    = 9,  // bits of a packet's payload in bytes, 1 to PAYLOAD
  parameter int unsigned SCHEME   = SCHEME_WINDOW,
  parameter type         ctx_t    = logic
) (
  // event
  input  event_e              kind_i,
  input  logic                expired_i,      // timeout: the timer is still expired
  input  header_t             hdr_i,          // packet; sid: context of any event; msgid of a fault, too
  input  post_t               post_i,
  input  logic [ MSGID_W-1:0] msgid_i,        // number of the next transfer
  input  logic                resend_room_i,  // the resend queue can take a packet
  input  buffer_facts_t       buffer_i,       // SCHEME_SENDER: what the event finds in its buffer
  input  logic [        15:0] node_id_i,
  input  logic [         3:0] max_retry_i,
  input  logic [         7:0] max_busy_i,     // 0: no bound
  input  logic [         1:0] backoff_i,
  // context
  input  ctx_t                ctx_i,
  output ctx_t                ctx_o,
  output logic                ctx_we_o,
  // what follows
  output outcome_e            outcome_o,
  output logic                has_ctx_o,      // `next` of the outcome means something
  output logic                emit_o,         // send the control packet, if there is room
  output header_t             emit_hdr_o,
  output logic                send_o,         // DATA packet into the send queue
  output logic                resend_o,       // DATA packet into the resend queue
  output header_t             data_hdr_o,
  output logic [  ADDR_W-1:0] data_addr_o,    // its payload in host memory
  output logic                complete_o,
  output completion_t         completion_o,
  output logic                turn_o,         // queue a turn
  output logic                timer_set_o,
  output logic                timer_armed_o,
  output logic [TX_CLASS_W-1:0] timer_class_o,  // TX_RETRY doubled so often, or TX_CLASS_DEAD: TX_DEAD
  output logic                free_o,         // the context is free again
  output buffer_step_t        buffer_o,       // SCHEME_SENDER: what becomes of the buffer
  output logic                wait_o          // ... the context waits for room in it
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);
  localparam bit COUNTS = SCHEME == SCHEME_COUNTER;
  localparam bit KEEPS  = SCHEME == SCHEME_SENDER;

  // ------------------------------------------------------------------------------------------------- post checks
  logic [31:0] post_last;
  logic [63:0] post_remote;  // address there; only a region has one
  logic [64:0] post_src_end, post_dst_end;
  outcome_e    post_reject;
  status_e     post_status;

  assign post_last    = (post_i.bytes - 32'd1) >> SHIFT;
  assign post_src_end = {1'b0, post_i.src_addr} + 65'(post_i.bytes);
  assign post_remote  = post_i.to == TO_REGION ? post_i.dst_addr : '0;
  assign post_dst_end = {1'b0, post_remote} + 65'(post_i.bytes);

  always_comb begin : p_post
    post_reject = OUTCOME_NONE;
    post_status = STATUS_OK;
    if ((post_i.node >> NODE_W) != '0) begin
      post_reject = OUTCOME_REJECT_NODE;
      post_status = STATUS_BAD_NODE;
    end else if (post_i.bytes == '0 || post_last >= 32'((64'd1 << PIDX_W) - 1)) begin
      post_reject = OUTCOME_REJECT_LENGTH;
      post_status = STATUS_BAD_LENGTH;
    end else if (post_i.src_addr[SHIFT-1:0] != '0 || post_remote[SHIFT-1:0] != '0) begin
      post_reject = OUTCOME_REJECT_ALIGN;
      post_status = STATUS_MISALIGNED;
    end else if (post_src_end > (65'd1 << ADDR_W) || post_dst_end > (65'd1 << ADDR_W)) begin
      post_reject = OUTCOME_REJECT_ADDRESS;
      post_status = STATUS_BAD_ADDRESS;
    end
  end

  // ------------------------------------------------------------------------------------------------- packet checks
  logic    in_range, same_transfer, same_grant, failed;
  logic    plain;            // a write that nobody there is told of
  logic    has_key;          // RSP: above the code is the key of a buffer, not part of the code
  logic    is_code;          // the bits above the code are not part of it, or zero
  logic    grants;
  logic    asks_first;       // RESEND, ACK: for no packet but the first, as when none has come
  logic    for_request;      // it may be for the request, of which no DATA has been sent yet
  logic    wrong_grant;      // RSP: it brings no key although the transfer needs one, or the other way round
  logic    try_again;        // refused for now
  status_e refusal_status;   // the status if it is refused for good

  assign in_range      = hdr_i.sid < 16'(N_TX_CTX);
  assign same_transfer = in_range && ctx_i.state != TX_FREE && hdr_i.msgid == 24'(ctx_i.msgid) &&
                         hdr_i.src == 16'(ctx_i.dst);
  assign same_grant    = hdr_i.cid == 16'(ctx_i.cid) && hdr_i.gen == ctx_i.gen;
  assign asks_first    = hdr_i.pidx == '0 && (COUNTS || KEEPS ? hdr_i.ptype == PTYPE_RESEND && !hdr_i.arg[8]
                                                     : hdr_i.ptype != PTYPE_ACK || hdr_i.arg[ACK_MAP_W-1:1] == '0);
  assign for_request   = same_transfer && ctx_i.state == TX_REQ && hdr_i.ptype != PTYPE_DONE && (hdr_i.ptype == PTYPE_RSP || asks_first);
  assign failed        = (hdr_i.flags & FLAG_FAILED) != '0;
  assign plain         = ctx_i.to == TO_REGION && !ctx_i.has_imm;
  assign has_key       = (hdr_i.flags & TRANSFER_FLAG_SEND) != '0;
  assign is_code       = has_key || hdr_i.arg[63:32] == '0;
  assign wrong_grant   = hdr_i.ptype == PTYPE_RSP && grants && has_key != (ctx_i.to != TO_REGION);
  assign grants        = is_code && hdr_i.arg[31:0] == 32'(REFUSAL_GRANTED);

  // Plain writes know only the codes that there were before the others.
  always_comb begin : p_refusal
    try_again      = 1'b0;
    refusal_status = STATUS_BAD_REGION;
    if (is_code) begin
      unique case (hdr_i.arg[31:0])
        32'(REFUSAL_NO_CONTEXT): begin
          try_again      = 1'b1;
          refusal_status = STATUS_REMOTE_BUSY;
        end
        32'(REFUSAL_BAD_LENGTH): refusal_status = STATUS_BAD_LENGTH;
        32'(REFUSAL_MISALIGNED): refusal_status = STATUS_MISALIGNED;
        32'(REFUSAL_BAD_KEY):    refusal_status = STATUS_BAD_KEY;
        32'(REFUSAL_NOT_READY): begin
          try_again = !plain;
          if (!plain) refusal_status = STATUS_NOT_READY;
        end
        32'(REFUSAL_TOO_LONG):   if (!plain) refusal_status = STATUS_TOO_LONG;
        default:                 refusal_status = STATUS_BAD_REGION;
      endcase
    end
  end

  // ------------------------------------------------------------------------------------------------- packets out
  header_t            request_hdr;  // asks for what the context needs
  header_t            release_hdr;  // answer to the packet; of a fault: for the receive context of the transfer
  logic [PIDX_W-1:0]  data_pidx;
  logic               data_last, more;

  // Flag of a RQT, by what it asks for.
  function automatic logic [7:0] request_flag(to_e to, logic has_imm);
    logic [7:0] flag;
    unique case (to)
      TO_QUEUE:  flag = TRANSFER_FLAG_SEND;
      TO_TICKET: flag = TRANSFER_FLAG_READ;
      default:   flag = has_imm ? TRANSFER_FLAG_IMM : 8'd0;
    endcase
    return flag;
  endfunction

  always_comb begin : p_request
    request_hdr       = '0;
    request_hdr.ptype = PTYPE_RQT;
    request_hdr.src   = node_id_i;
    request_hdr.sid   = hdr_i.sid;
    if (kind_i == EV_POST) begin
      request_hdr.dst   = post_i.node[15:0];
      request_hdr.msgid = 24'(msgid_i);
      request_hdr.pidx  = post_i.bytes;
      request_hdr.arg   = post_i.dst_addr;
      request_hdr.flags = request_flag(post_i.to, post_i.has_imm);
      {request_hdr.gen, request_hdr.cid} = post_i.rkey;
    end else begin
      request_hdr.dst   = 16'(ctx_i.dst);
      request_hdr.msgid = 24'(ctx_i.msgid);
      request_hdr.pidx  = (32'(ctx_i.last) << SHIFT) + 32'(ctx_i.last_len);
      request_hdr.arg   = 64'(ctx_i.dst_addr);
      request_hdr.flags = request_flag(ctx_i.to, ctx_i.has_imm);
      {request_hdr.gen, request_hdr.cid} = ctx_i.rkey;
    end
  end

  logic not_yet_released;  // a receiver that asks whether its context is of use is told so
  assign not_yet_released = KEEPS && hdr_i.ptype == PTYPE_RESEND && ctx_i.state == TX_ACTIVE && same_transfer && same_grant;

  always_comb begin : p_release
    release_hdr       = '0;
    release_hdr.ptype = PTYPE_RELEASE;
    release_hdr.src   = node_id_i;
    release_hdr.dst   = kind_i == EV_FAULT ? 16'(ctx_i.dst) : hdr_i.src;
    release_hdr.sid   = hdr_i.sid;
    release_hdr.cid   = kind_i == EV_FAULT ? 16'(ctx_i.cid) : hdr_i.cid;
    release_hdr.gen   = kind_i == EV_FAULT ? ctx_i.gen : hdr_i.gen;
    release_hdr.msgid = hdr_i.msgid;
    release_hdr.flags = kind_i == EV_FAULT ? FLAG_FAILED : not_yet_released ? FLAG_RETRY : '0;
  end

  // What may be sent: packets that an ACK asked for, before the next one if it lies within the window.
  logic                 again;
  logic [ACK_MAP_W-1:0] asked_low, asked_rest, asked_new;  // lowest asked for; the others; after the ACK in hand
  logic [PIDX_W-1:0]  passed;       // packets by which the ACK is further, or what a RESEND asks for
  logic [5:0]           again_at;
  logic [PIDX_W-1:0]    again_pidx;
  logic [PIDX_W-1:0]    next_new;
  logic                 in_first, in_second;  // the next one is in the window, in that or the one behind it
  logic                 more_then;   // behind the next one

  assign again      = ctx_i.asked != '0;
  assign asked_low  = ctx_i.asked & (~ctx_i.asked + 1'b1);
  assign asked_rest = ctx_i.asked & ~asked_low;
  assign again_pidx = ctx_i.acked + PIDX_W'(again_at);
  assign next_new   = ctx_i.next + 1'b1;
  // Both windows at once, here and below: which it is is known late.
  assign in_first   = may_send(ctx_i.next, ctx_i.acked, ctx_i.last, ctx_i.span, 1'b0);
  assign in_second  = may_send(ctx_i.next, ctx_i.acked, ctx_i.last, ctx_i.span, 1'b1);
  assign more       = ctx_i.second ? in_second : in_first;
  assign more_then  = ctx_i.second ? may_send(next_new, ctx_i.acked, ctx_i.last, ctx_i.span, 1'b1)
                                   : may_send(next_new, ctx_i.acked, ctx_i.last, ctx_i.span, 1'b0);

  always_comb begin : p_again_at
    again_at = '0;
    `WEFT_WHEN(again) begin
      for (int i = 0; i < int'(ACK_MAP_W); i++) if (asked_low[i]) again_at = again_at | 6'(i);
    end
  end

  // A map tells all that is missing; an empty one nothing, so that what was asked for before stays asked for.
  assign passed = hdr_i.pidx[PIDX_W-1:0] - ctx_i.acked;
  always_comb begin : p_asked_new
    asked_new = '0;
    if (hdr_i.arg[ACK_MAP_W-1:0] == '0 && passed < PIDX_W'(ACK_MAP_W)) asked_new = ctx_i.asked >> passed[5:0];
    `WEFT_WHEN(kind_i == EV_PACKET && hdr_i.ptype == PTYPE_ACK) begin
      for (int i = 0; i < int'(ACK_MAP_W); i++) begin
        asked_new[i] |= hdr_i.arg[i] && 33'(hdr_i.pidx) + 33'(i) < 33'(ctx_i.high);
      end
    end
  end

  // Whether this PIDX is in the transfer, and in the window that begins with `acked`, or in the second one behind that.
  function automatic logic may_send(logic [PIDX_W-1:0] pidx, logic [PIDX_W-1:0] acked, logic [PIDX_W-1:0] last,
                                    logic [SPAN_W-1:0] span, logic second);
    return pidx <= last && (span == '0 || 33'(pidx) <= 33'(acked) + (second ? 33'd2 << span : 33'd1 << span));
  endfunction

  assign data_pidx   = kind_i != EV_TURN ? hdr_i.pidx[PIDX_W-1:0] : again ? again_pidx : ctx_i.next;
  assign data_last   = data_pidx == ctx_i.last;
  assign data_addr_o = ctx_i.src_addr + (ADDR_W'(data_pidx) << SHIFT);

  logic [7:0] slot;  // of the packet in its buffer
  assign slot = !KEEPS ? 8'd0 : kind_i == EV_TURN ? buffer_i.next : buffer_i.at;

  always_comb begin : p_data
    data_hdr_o       = '0;
    data_hdr_o.ptype = PTYPE_DATA;
    data_hdr_o.dst   = 16'(ctx_i.dst);
    data_hdr_o.src   = node_id_i;
    data_hdr_o.sid   = hdr_i.sid;
    data_hdr_o.cid   = 16'(ctx_i.cid);
    data_hdr_o.gen   = ctx_i.gen;
    data_hdr_o.msgid = 24'(ctx_i.msgid);
    data_hdr_o.pidx  = 32'(data_pidx);
    data_hdr_o.arg   = {ctx_i.has_imm ? ctx_i.imm : '0, COUNTS ? ctx_i.attempt : slot, ctx_i.rkey};
    data_hdr_o.len   = data_last ? 16'(ctx_i.last_len) : 16'(PAYLOAD);
    data_hdr_o.flags = (data_last ? FLAG_LAST : 8'd0) | (data_pidx < ctx_i.high ? FLAG_RETRY : 8'd0) |
                       (ctx_i.has_imm ? TRANSFER_FLAG_IMM : 8'd0);
  end

  // ------------------------------------------------------------------------------------------------- decision
  logic              no_window;  // the receiver is in paper mode, and does not tell how far it is
  logic              patient;    // another timeout may pass
  logic              from;       // RESEND: of all from there on; ACK: all from there on is missing
  logic              not_yet;    // RESEND: there is nothing to be sent again
  logic              changed;    // ACK: the receiver was in paper mode before
  logic              progress;   // the transfer gets on
  logic              heard;      // without a window: of what was sent before, which may be all that is missing
  logic              opens;      // RESEND: a second window, as the first one moves on with this packet
  logic              too_early;  // ... and packets were sent from behind the first one before that
  logic              tells;      // ACK: what is missing; packets sent behind the window may be, too, or all behind WBASE
  logic              beyond;     // ... and there are such
  logic              ordered;    // ACK: no packet gets a window ahead of another
  logic              short_one;  // ... and all of the window was sent and nothing is missing, so a round trip is longer
  logic              lost;       // ACK: all that was sent; not if there is some to send in the window: that is on its way again
  logic              passes;     // ACK: it says of the next one, which is sent again, that it has come, or asks for it
  logic [32:0]       after_wbase, after_window;  // of the packet that ACK or RESEND names
  logic              second;     // after the ACK
  logic              goes_on;    // ACK: there are packets to send
  logic [SPAN_W-1:0] told_span;
  logic [7:0]        attempts;   // RESEND: by which it is beyond the one under way

  assign no_window = ctx_i.span == '0;
  assign patient   = ctx_i.retries < max_retry_i;
  assign from      = (hdr_i.flags & FLAG_FROM) != '0;
  assign not_yet   = from ? hdr_i.pidx > 32'(ctx_i.high) : hdr_i.pidx >= 32'(ctx_i.high);
  assign opens     = !no_window && hdr_i.pidx >= 32'(ctx_i.acked);
  assign too_early = 33'(ctx_i.next) > after_window;
  assign tells     = hdr_i.arg[ACK_MAP_W-1:0] != '0;
  assign lost      = from && !in_first;
  assign passes    = 32'(ctx_i.next) <= hdr_i.pidx;
  assign after_wbase  = 33'(hdr_i.pidx) + 33'd1;
  assign after_window = 33'(hdr_i.pidx) + (33'd1 << ctx_i.span | 33'd1);
  assign beyond    = !no_window && tells && (lost ? 33'(ctx_i.next) > after_wbase : too_early);
  assign ordered   = (hdr_i.flags & FLAG_ORDER) != '0;
  assign short_one = passed != '0 && !in_first && !ctx_i.hole && ordered;
  assign second    = !no_window && !tells && (ctx_i.second || short_one);
  assign goes_on   = second ? may_send(ctx_i.next, PIDX_W'(hdr_i.pidx), ctx_i.last, ctx_i.span, 1'b1)
                            : may_send(ctx_i.next, PIDX_W'(hdr_i.pidx), ctx_i.last, ctx_i.span, 1'b0);
  assign told_span = hdr_i.arg[ACK_MAP_W+:SPAN_W];
  assign changed   = no_window && told_span != '0;
  assign attempts  = hdr_i.arg[7:0] - ctx_i.attempt;

  always_comb begin : p_decide
    ctx_o         = ctx_i;
    ctx_we_o      = 1'b0;
    outcome_o     = OUTCOME_NONE;
    has_ctx_o     = 1'b1;
    emit_o        = 1'b0;
    emit_hdr_o    = release_hdr;
    send_o        = 1'b0;
    resend_o      = 1'b0;
    complete_o    = 1'b0;
    completion_o  = '{origin: ctx_i.origin, tag: ctx_i.tag, status: STATUS_OK};
    turn_o        = 1'b0;
    timer_set_o   = 1'b0;
    timer_armed_o = 1'b1;
    timer_class_o = ctx_i.state == TX_ACTIVE ? TX_CLASS_DEAD : '0;
    free_o        = 1'b0;
    buffer_o      = '0;
    wait_o        = 1'b0;
    progress      = 1'b0;
    heard         = 1'b0;

    unique case (kind_i)
      EV_POST: begin
        if (post_reject != OUTCOME_NONE) begin
          outcome_o    = post_reject;
          has_ctx_o    = 1'b0;
          complete_o   = 1'b1;
          completion_o = '{origin: post_i.origin, tag: post_i.tag, status: post_status};
        end else begin
          outcome_o      = OUTCOME_SUBMIT;
          ctx_we_o       = 1'b1;
          ctx_o          = '0;
          ctx_o.turn     = ctx_i.turn;
          ctx_o.state    = TX_REQ;
          ctx_o.dst      = NODE_W'(post_i.node);
          ctx_o.msgid    = msgid_i;
          ctx_o.tag      = post_i.tag;
          ctx_o.origin   = post_i.origin;
          ctx_o.to       = post_i.to;
          ctx_o.has_imm  = post_i.has_imm;
          ctx_o.imm      = post_i.imm;
          ctx_o.src_addr = ADDR_W'(post_i.src_addr);
          ctx_o.dst_addr = ADDR_W'(post_i.dst_addr);
          ctx_o.rkey     = post_i.rkey;
          ctx_o.last     = PIDX_W'(post_last);
          ctx_o.last_len = LEN_W'({1'b0, SHIFT'(post_i.bytes - 32'd1)}) + 1'b1;
          timer_set_o    = 1'b1;
          timer_class_o  = '0;
          emit_o         = 1'b1;
          emit_hdr_o     = request_hdr;
        end
      end

      EV_TURN: begin
        ctx_we_o = 1'b1;
        if (ctx_i.state == TX_ACTIVE && again) begin
          outcome_o   = OUTCOME_SEND_AGAIN;
          send_o      = 1'b1;
          ctx_o.asked = asked_rest;
          ctx_o.turn  = asked_rest != '0 || more;
          turn_o      = ctx_o.turn;
          heard       = no_window;
        end else if (KEEPS && ctx_i.state == TX_ACTIVE && more && !buffer_i.its_own) begin
          turn_o      = 1'b1;  // of an older transfer; it gets one of its own
        end else if (KEEPS && ctx_i.state == TX_ACTIVE && more && buffer_i.full) begin
          outcome_o   = OUTCOME_LAPSE;
          wait_o      = 1'b1;
        end else if (ctx_i.state == TX_ACTIVE && more) begin
          buffer_o.add = KEEPS;
          outcome_o   = OUTCOME_SEND;
          send_o      = 1'b1;
          ctx_o.next  = next_new;
          ctx_o.high  = ctx_i.next >= ctx_i.high ? next_new : ctx_i.high;
          ctx_o.turn  = ctx_i.next != ctx_i.last && more_then;
          turn_o      = ctx_o.turn;
          progress    = ctx_i.next >= ctx_i.high;
          heard       = no_window;
        end else begin
          outcome_o  = OUTCOME_LAPSE;
          has_ctx_o  = ctx_i.state != TX_FREE;
          ctx_o.turn = 1'b0;
        end
      end

      EV_TIMEOUT: begin
        if (ctx_i.state != TX_FREE && expired_i) begin
          ctx_we_o    = 1'b1;
          timer_set_o = 1'b1;
          if (ctx_i.state == TX_REQ && patient) begin
            outcome_o      = OUTCOME_RETRY_RQT;
            ctx_o.retries  = ctx_i.retries + 1'b1;
            timer_class_o  = TX_CLASS_W'(doublings(ctx_o.retries, backoff_i));
            emit_o         = 1'b1;
            emit_hdr_o     = request_hdr;
          end else if (ctx_i.state == TX_ACTIVE && ctx_i.heard && ctx_i.busy != '1) begin
            outcome_o     = OUTCOME_STILL_ASKED;
            ctx_o.retries = '0;
            ctx_o.busy    = ctx_i.busy + 1'b1;
            ctx_o.heard   = 1'b0;
          end else if (ctx_i.state == TX_ACTIVE && ctx_i.turn && patient) begin
            outcome_o     = OUTCOME_STILL_SENDING;
            ctx_o.retries = ctx_i.retries + 1'b1;
          end else begin
            outcome_o           = OUTCOME_GIVE_UP;
            complete_o          = 1'b1;
            completion_o.status = ctx_i.state == TX_REQ ? STATUS_NO_ANSWER : STATUS_DEAD_PEER;
            ctx_o.state         = TX_FREE;
            timer_armed_o       = 1'b0;
            free_o              = 1'b1;
          end
        end
      end

      EV_FAULT: begin
        if (ctx_i.state == TX_ACTIVE && hdr_i.msgid == 24'(ctx_i.msgid)) begin
          outcome_o           = OUTCOME_SOURCE_FAILED;
          ctx_we_o            = 1'b1;
          complete_o          = 1'b1;
          completion_o.status = STATUS_SOURCE_ERROR;
          ctx_o.state         = TX_FREE;
          timer_set_o         = 1'b1;
          timer_armed_o       = 1'b0;
          free_o              = 1'b1;
          emit_o              = 1'b1;
        end
      end

      EV_BUFFER_TIMEOUT: begin
        if (KEEPS && expired_i) begin
          outcome_o        = OUTCOME_RESEND_FROM;
          has_ctx_o        = 1'b0;
          buffer_o.restart = 1'b1;
        end
      end

      EV_BUFFER_TURN: begin
        buffer_o.again = KEEPS && buffer_i.again;
        has_ctx_o      = 1'b0;
        if (buffer_o.again && buffer_i.open) begin
          if (ctx_i.state == TX_ACTIVE && hdr_i.msgid == 24'(ctx_i.msgid)) begin
            outcome_o = OUTCOME_RESEND_ONE;
            send_o    = 1'b1;
          end else begin  // of a transfer that is over: nobody waits for its answer
            outcome_o      = OUTCOME_LAPSE;
            buffer_o.close = 1'b1;
          end
        end
      end

      EV_PACKET: begin
        if (hdr_i.ptype != PTYPE_RSP && for_request && ctx_i.to != TO_REGION) begin
          outcome_o = OUTCOME_DROP_NO_KEY;
        end else if (for_request && !wrong_grant) begin
          ctx_we_o    = 1'b1;
          timer_set_o = 1'b1;
          if (hdr_i.ptype != PTYPE_RSP || grants) begin  // RESEND and ACK name the context as a RSP does
            if (ctx_i.to != TO_REGION) ctx_o.rkey = hdr_i.arg[55:32];
            if (COUNTS) ctx_o.attempt = hdr_i.ptype == PTYPE_RESEND ? hdr_i.arg[7:0] : '0;
            else if (!KEEPS) ctx_o.span = hdr_i.ptype == PTYPE_RSP ? hdr_i.pidx[SPAN_W-1:0] :
                              hdr_i.ptype == PTYPE_ACK ? told_span : '0;
            outcome_o     = OUTCOME_GRANTED;
            progress      = 1'b1;
            ctx_o.busy    = '0;
            ctx_o.state   = TX_ACTIVE;
            ctx_o.cid     = CID_W'(hdr_i.cid);
            ctx_o.gen     = hdr_i.gen;
            ctx_o.turn    = 1'b1;
            turn_o        = !ctx_i.turn;
            timer_class_o = TX_CLASS_DEAD;
          end else if (try_again && (max_busy_i == '0 || ctx_i.busy < max_busy_i)) begin
            outcome_o     = OUTCOME_BACKOFF;
            ctx_o.retries = '0;
            ctx_o.busy    = ctx_i.busy == '1 ? '1 : ctx_i.busy + 1'b1;
            timer_class_o = TX_CLASS_W'(doublings(ctx_o.busy > 8'd3 ? 4'd3 : ctx_o.busy[3:0], backoff_i));
          end else begin
            outcome_o           = OUTCOME_REFUSED;
            complete_o          = 1'b1;
            completion_o.status = refusal_status;
            ctx_o.state         = TX_FREE;
            timer_armed_o       = 1'b0;
            free_o              = 1'b1;
          end
        end else if (hdr_i.ptype == PTYPE_RSP && same_transfer && ctx_i.state == TX_ACTIVE && (!grants || same_grant)) begin
          outcome_o = OUTCOME_DROP_REPEATED_RSP;
        end else if (hdr_i.ptype == PTYPE_RSP || ctx_i.state != TX_ACTIVE || !same_transfer || !same_grant) begin
          outcome_o = OUTCOME_STALE;
          has_ctx_o = in_range && ctx_i.state != TX_FREE;
          emit_o    = hdr_i.ptype != PTYPE_RSP || grants;
        end else if (KEEPS) begin
          if (hdr_i.ptype == PTYPE_RESEND) begin  // whether the receive context is of use
            outcome_o = OUTCOME_DROP_NOT_YET;
            emit_o    = 1'b1;
          end else if (hdr_i.ptype != PTYPE_ACK || !buffer_i.match) begin
            outcome_o = OUTCOME_DROP_OLD_ACK;
          end else begin
            outcome_o      = OUTCOME_ACKED;
            ctx_we_o       = 1'b1;
            progress       = 1'b1;
            buffer_o.close = 1'b1;
            ctx_o.acked    = ctx_i.acked + 1'b1;
            ctx_o.failed   = ctx_i.failed || failed;
            if (ctx_i.acked == ctx_i.last) begin
              outcome_o     = ctx_o.failed ? OUTCOME_COMPLETE_ERROR : OUTCOME_COMPLETE;
              complete_o    = 1'b1;
              completion_o.status = ctx_o.failed ? STATUS_REMOTE_ERROR : STATUS_OK;
              ctx_o.state   = TX_FREE;
              timer_armed_o = 1'b0;
              free_o        = 1'b1;
              emit_o        = 1'b1;
            end
          end
        end else if (hdr_i.ptype == PTYPE_DONE) begin
          outcome_o     = failed ? OUTCOME_COMPLETE_ERROR : OUTCOME_COMPLETE;
          ctx_we_o      = 1'b1;
          complete_o    = 1'b1;
          completion_o.status = failed ? STATUS_REMOTE_ERROR : STATUS_OK;
          ctx_o.state   = TX_FREE;
          timer_set_o   = 1'b1;
          timer_armed_o = 1'b0;
          free_o        = 1'b1;
          emit_o        = 1'b1;
        end else if (COUNTS) begin
          if (hdr_i.ptype == PTYPE_ACK) begin  // which no receiver of this scheme sends
            outcome_o = OUTCOME_DROP_OLD_ACK;
          end else begin
            ctx_we_o = 1'b1;
            heard    = 1'b1;
            outcome_o = OUTCOME_DROP_NOT_YET;
            if (attempts != '0 && !attempts[7]) begin
              outcome_o     = OUTCOME_RESEND_FROM;
              ctx_o.attempt = hdr_i.arg[7:0];
              ctx_o.next    = '0;
              ctx_o.turn    = 1'b1;
              turn_o        = !ctx_i.turn;
            end
          end
        end else if (hdr_i.ptype == PTYPE_ACK) begin
          if (hdr_i.pidx < 32'(ctx_i.acked) || hdr_i.pidx > 32'(ctx_i.high)) begin
            outcome_o = OUTCOME_DROP_OLD_ACK;
          end else begin
            outcome_o   = OUTCOME_ACKED;
            ctx_we_o    = 1'b1;
            progress    = hdr_i.pidx != 32'(ctx_i.acked);
            heard       = no_window;
            ctx_o.acked = PIDX_W'(hdr_i.pidx);
            ctx_o.asked = asked_new;
            if (changed) begin  // and may have dropped what was beyond its window
              ctx_o.span = told_span;
              ctx_o.next = PIDX_W'(hdr_i.pidx);
            end else if (beyond) begin
              ctx_o.next = lost ? PIDX_W'(after_wbase) : PIDX_W'(after_window);
            end else if (passes) begin
              ctx_o.next = asked_new[0] ? PIDX_W'(hdr_i.pidx) + 1'b1 : PIDX_W'(hdr_i.pidx);
            end
            ctx_o.second = second;
            ctx_o.hole   = !no_window && (tells || (ctx_i.hole && passed == '0));
            ctx_o.turn  = ctx_i.turn || asked_new != '0 || (beyond && from) || (changed || passes ? hdr_i.pidx <= 32'(ctx_i.last) : goes_on);
            turn_o      = ctx_o.turn && !ctx_i.turn;
          end
        end else if (not_yet) begin
          outcome_o = OUTCOME_DROP_NOT_YET;
          ctx_we_o  = 1'b1;
          heard     = no_window;
        end else if (from) begin
          outcome_o    = OUTCOME_RESEND_FROM;
          ctx_we_o     = 1'b1;
          heard        = 1'b1;
          ctx_o.span   = '0;
          ctx_o.second = 1'b0;
          ctx_o.hole   = 1'b0;
          ctx_o.turn   = 1'b1;
          turn_o       = !ctx_i.turn;
          if (hdr_i.pidx < 32'(ctx_i.next)) ctx_o.next = PIDX_W'(hdr_i.pidx);
        end else if (!resend_room_i) begin
          outcome_o = OUTCOME_DROP_FULL;
        end else begin
          outcome_o    = OUTCOME_RESEND_ONE;
          ctx_we_o     = 1'b1;
          heard        = no_window;
          resend_o     = 1'b1;
          ctx_o.turn   = ctx_i.turn || (opens && (too_early ? 33'(passed) < 33'd1 << ctx_i.span : in_second));
          turn_o       = ctx_o.turn && !ctx_i.turn;
          if (opens) begin
            ctx_o.second = 1'b1;
            if (too_early) ctx_o.next = PIDX_W'(after_window);
          end
        end
      end

      default: ;
    endcase

    if (progress) begin
      ctx_o.retries = '0;
      ctx_o.heard   = 1'b0;
      timer_set_o   = 1'b1;
    end else if (heard) begin
      ctx_o.heard   = 1'b1;
    end
  end

  logic unused;
  assign unused = ^{hdr_i.crc, hdr_i.dst, hdr_i.len,  // checked before
                    buffer_i, ctx_i.failed};          // of another scheme
endmodule
