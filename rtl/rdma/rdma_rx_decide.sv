// SPDX-License-Identifier: Apache-2.0
// What the receiver does with one event (docs/rdma.md, Receiver): combinational, from the event and the context as it was to
// the context as it shall be, an outcome, and the actions that follow.
module rdma_rx_decide
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned N_RX_CTX = 1024,
  parameter int unsigned WINDOW   = 128,
  parameter int unsigned PAYLOAD  = 256,
  parameter int unsigned PIDX_W   = 24,
  parameter int unsigned SID_W    = 10,
  parameter int unsigned MSGID_W  = 20,
  parameter int unsigned NODE_W   = 16,
  parameter int unsigned ADDR_W   = 48,
  parameter int unsigned LEN_W    = 9,
  parameter type         ctx_t    = logic
) (
  // event
  input  logic               timeout_i,      // timeout, else packet
  input  logic               expired_i,      // timeout: the timer is still expired
  input  header_t            hdr_i,
  input  outcome_e           verdict_i,      // of the arrival checks, or of the RQT checks
  input  logic               offer_valid_i,  // RQT: a free context is offered
  input  logic [       15:0] node_id_i,
  input  logic [        1:0] ask_from_after_i,
  input  logic [        3:0] max_silent_i,
  input  logic                weft_mode_i,
  // context
  input  ctx_t               ctx_i,
  output ctx_t               ctx_o,
  output logic               ctx_we_o,
  // what follows
  output outcome_e           outcome_o,
  output logic               has_ctx_o,      // WBASE and WVEC of the outcome mean something
  output logic               write_o,        // payload to memory
  output logic [ ADDR_W-1:0] write_addr_o,
  output logic               emit_o,         // send the control packet, if there is room
  output header_t            emit_hdr_o,
  output logic               timer_set_o,
  output logic               timer_armed_o,
  output logic               free_o          // the context is free again
);
  localparam int unsigned ACK_SHIFT = WINDOW > 4 ? $clog2(WINDOW) - 2 : 0;  // an ACK at every quarter of the window
  localparam int unsigned SHIFT  = $clog2(PAYLOAD);
  localparam int unsigned BASE_W = ADDR_W - SHIFT;

  logic               duplicate, beyond, in_order;
  logic [ PIDX_W-1:0] wbase;
  logic [ WINDOW-1:0] wvec;
  logic               known, match, at_last, beyond_end, good_length;
  logic [ PIDX_W-1:0] last_of_request;
  logic [  LEN_W-1:0] tail_of_request;

  rdma_window #(
    .WINDOW(WINDOW),
    .PIDX_W(PIDX_W)
  ) i_window (
    .pidx_i     (hdr_i.pidx[PIDX_W-1:0]),
    .wbase_i    (ctx_i.wbase),
    .wvec_i     (ctx_i.wvec),
    .duplicate_o(duplicate),
    .beyond_o   (beyond),
    .in_order_o (in_order),
    .wbase_o    (wbase),
    .wvec_o     (wvec)
  );

  assign known = hdr_i.cid < 16'(N_RX_CTX) && ctx_i.state != RX_FREE;
  assign match = hdr_i.src == 16'(ctx_i.src) && hdr_i.sid == 16'(ctx_i.sid) && hdr_i.msgid == 24'(ctx_i.msgid) &&
                 hdr_i.gen == ctx_i.gen;
  assign beyond_end  = hdr_i.pidx > 32'(ctx_i.last);
  assign at_last     = hdr_i.pidx == 32'(ctx_i.last);
  assign good_length = hdr_i.len == (at_last ? 16'(ctx_i.last_len) : 16'(PAYLOAD)) &&
                       ((hdr_i.flags & FLAG_LAST) != '0) == at_last;

  assign last_of_request = PIDX_W'((hdr_i.pidx - 32'd1) >> SHIFT);
  assign tail_of_request = LEN_W'({1'b0, SHIFT'(hdr_i.pidx - 32'd1)}) + 1'b1;

  assign write_addr_o = {ctx_i.base + BASE_W'(hdr_i.pidx), SHIFT'(0)};

  // RESEND and DONE go to the sender named in the context, a RSP to the one named in the packet.
  header_t to_context, to_packet;

  always_comb begin : p_answers
    to_context       = '0;
    to_context.ptype = PTYPE_RESEND;
    to_context.src   = node_id_i;
    to_context.dst   = 16'(ctx_i.src);
    to_context.sid   = 16'(ctx_i.sid);
    to_context.msgid = 24'(ctx_i.msgid);
    to_context.cid   = hdr_i.cid;
    to_context.gen   = ctx_i.gen;

    to_packet       = '0;
    to_packet.ptype = PTYPE_RSP;
    to_packet.src   = node_id_i;
    to_packet.dst   = hdr_i.src;
    to_packet.sid   = hdr_i.sid;
    to_packet.msgid = hdr_i.msgid;
  end

  // Packets that are missing although a later one has come, from WBASE on.
  logic [ACK_MAP_W-1:0] missing;
  always_comb begin : p_missing
    missing    = '0;
    missing[0] = 1'b1;
    for (int i = 1; i < int'(ACK_MAP_W) && i < int'(WINDOW); i++) begin
      missing[i] = !ctx_i.wvec[i-1] && (ctx_i.wvec >> i) != '0;
    end
  end

  header_t ack, ask;
  always_comb begin : p_ack
    ack       = to_context;
    ack.ptype = PTYPE_ACK;
    ack.pidx  = 32'(wbase);
    ack.arg   = {8'($clog2(WINDOW)), {ACK_MAP_W{1'b0}}};
    ask       = ack;
    ask.pidx  = 32'(ctx_i.wbase);
    ask.arg   = {8'($clog2(WINDOW)), missing};
  end

  always_comb begin : p_decide
    ctx_o         = ctx_i;
    ctx_we_o      = 1'b0;
    outcome_o     = OUTCOME_NONE;
    has_ctx_o     = 1'b0;
    write_o       = 1'b0;
    emit_o        = 1'b0;
    emit_hdr_o    = to_context;
    timer_set_o   = 1'b0;
    timer_armed_o = 1'b1;
    free_o        = 1'b0;

    if (timeout_i) begin
      if (ctx_i.state != RX_FREE && expired_i) begin
        has_ctx_o   = 1'b1;
        ctx_we_o    = 1'b1;
        timer_set_o = 1'b1;
        ctx_o.silent    = ctx_i.silent + 1'b1;
        emit_hdr_o.pidx = 32'(ctx_i.wbase);
        if (ctx_i.silent >= max_silent_i) begin
          outcome_o     = OUTCOME_RECLAIM;
          ctx_o.silent  = ctx_i.silent;
          ctx_o.state   = RX_FREE;
          timer_armed_o = 1'b0;
          free_o        = 1'b1;
        end else if (ctx_i.state == RX_DONE) begin
          outcome_o        = OUTCOME_DONE_AGAIN;
          emit_o           = 1'b1;
          emit_hdr_o       = to_context;
          emit_hdr_o.ptype = PTYPE_DONE;
        end else if (weft_mode_i) begin
          outcome_o  = OUTCOME_ASK_MAP;
          emit_o     = 1'b1;
          emit_hdr_o = ask;
        end else if (ctx_i.asks >= ask_from_after_i) begin
          outcome_o        = OUTCOME_ASK_FROM;
          emit_o           = 1'b1;
          emit_hdr_o.flags = FLAG_FROM;
        end else begin
          outcome_o  = OUTCOME_ASK_ONE;
          ctx_o.asks = ctx_i.asks + 1'b1;
          emit_o     = 1'b1;
        end
      end
    end else if (verdict_i != OUTCOME_NONE) begin
      outcome_o = verdict_i;
      // refused requests get an answer
      emit_o     = verdict_i == OUTCOME_REFUSE_LENGTH || verdict_i == OUTCOME_REFUSE_ALIGN ||
                   verdict_i == OUTCOME_REFUSE_REGION;
      emit_hdr_o = to_packet;
      emit_hdr_o.arg   = verdict_i == OUTCOME_REFUSE_LENGTH ? 64'(REFUSAL_BAD_LENGTH) :
                         verdict_i == OUTCOME_REFUSE_ALIGN ? 64'(REFUSAL_MISALIGNED) : 64'(REFUSAL_BAD_REGION);
    end else if (hdr_i.ptype == PTYPE_RQT) begin
      emit_o     = 1'b1;
      emit_hdr_o = to_packet;
      if (!offer_valid_i) begin
        outcome_o      = OUTCOME_REFUSE_NO_CONTEXT;
        emit_hdr_o.arg = 64'(REFUSAL_NO_CONTEXT);
      end else begin
        outcome_o      = OUTCOME_GRANT;
        has_ctx_o      = 1'b1;
        emit_hdr_o.cid = hdr_i.cid;
        if (weft_mode_i) emit_hdr_o.pidx = 32'($clog2(WINDOW));
        emit_hdr_o.gen = ctx_i.gen + 1'b1;
        ctx_we_o       = 1'b1;
        timer_set_o    = 1'b1;
        ctx_o.state    = RX_ACTIVE;
        ctx_o.gen      = ctx_i.gen + 1'b1;
        ctx_o.src      = NODE_W'(hdr_i.src);
        ctx_o.sid      = SID_W'(hdr_i.sid);
        ctx_o.msgid    = MSGID_W'(hdr_i.msgid);
        ctx_o.base     = BASE_W'(hdr_i.arg >> SHIFT);
        ctx_o.last     = last_of_request;
        ctx_o.last_len = tail_of_request;
        ctx_o.asks     = '0;
        ctx_o.silent   = '0;
        ctx_o.wbase    = '0;
        ctx_o.wvec     = '0;
      end
    end else if (!known) begin
      outcome_o = OUTCOME_DROP_UNKNOWN_CID;
    end else if (!match) begin
      outcome_o = OUTCOME_DROP_ZOMBIE;
      has_ctx_o = 1'b1;
    end else if (hdr_i.ptype == PTYPE_RELEASE) begin
      outcome_o     = OUTCOME_RELEASED;
      has_ctx_o     = 1'b1;
      ctx_we_o      = 1'b1;
      ctx_o.state   = RX_FREE;
      timer_set_o   = 1'b1;
      timer_armed_o = 1'b0;
      free_o        = 1'b1;
    end else begin  // DATA
      has_ctx_o       = 1'b1;
      emit_hdr_o.pidx = hdr_i.pidx;
      if (beyond_end) begin
        outcome_o = OUTCOME_DROP_BEYOND_END;
      end else if (!good_length) begin
        outcome_o = OUTCOME_DROP_BAD_LENGTH;
      end else if (duplicate) begin
        outcome_o = OUTCOME_DROP_DUPLICATE;
      end else if (beyond) begin
        outcome_o = OUTCOME_DROP_WINDOW;
        emit_o    = !weft_mode_i;  // who keeps within the window never comes here
      end else begin
        write_o      = 1'b1;
        ctx_we_o     = 1'b1;
        ctx_o.silent = '0;
        ctx_o.wbase = wbase;
        ctx_o.wvec  = wvec;
        if (!in_order) begin
          outcome_o = OUTCOME_ACCEPT;
        end else begin
          outcome_o   = OUTCOME_ADVANCE;
          timer_set_o = 1'b1;
          if ((hdr_i.flags & FLAG_RETRY) == '0) ctx_o.asks = '0;
          if (wbase > ctx_i.last) begin
            outcome_o   = OUTCOME_FINISH;
            ctx_o.state = RX_DONE;
            ctx_o.asks  = '0;
            emit_o      = 1'b1;
            emit_hdr_o  = to_context;
            emit_hdr_o.ptype = PTYPE_DONE;
          end else begin
            emit_o     = weft_mode_i && (ctx_i.wbase >> ACK_SHIFT) != (wbase >> ACK_SHIFT);
            emit_hdr_o = ack;
          end
        end
      end
    end
  end

  logic unused;
  assign unused = ^{hdr_i.crc, hdr_i.dst};  // checked before
endmodule
