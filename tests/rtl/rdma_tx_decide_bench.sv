// SPDX-License-Identifier: Apache-2.0
// rdma_tx_decide with every number narrow (lane 0) and at the default widths (lane 1), behind ports that are as wide as
// any lane needs: lane_i chooses whose outputs are seen.
`include "rdma_typedef.svh"

package rdma_tx_decide_bench_pkg;
  import rdma_pkg::*;
  import rdma_formats_pkg::*;

  typedef struct packed {
    tx_state_e   state;
    logic [15:0] dst;
    logic [15:0] cid;
    logic [ 7:0] gen;
    logic [23:0] msgid;
    logic [15:0] tag;
    logic [63:0] src_addr;
    logic [63:0] dst_addr;
    logic [23:0] rkey;
    logic [31:0] last;
    logic [31:0] last_len;
    logic [31:0] next;
    logic [31:0] high;
    logic [ 3:0] span;
    logic        second;
    logic        hole;
    logic [31:0] acked;
    logic [55:0] asked;
    logic [ 3:0] retries;
    logic [ 7:0] busy;
    logic        heard;
    logic        turn;
    origin_e     origin;
    to_e         to;
    logic        has_imm;
    logic [31:0] imm;
  } wide_ctx_t;

  typedef struct packed {
    event_e      kind;
    logic        expired;
    header_t     hdr;
    post_t       post;
    logic [23:0] msgid;
    logic        resend_room;
    logic [15:0] node_id;
    logic [ 3:0] max_retry;
    logic [ 7:0] max_busy;
    logic [ 1:0] backoff;
    wide_ctx_t   ctx;
  } stimulus_t;

  typedef struct packed {
    wide_ctx_t   ctx;
    logic        ctx_we;
    outcome_e    outcome;
    logic        has_ctx;
    logic        emit;
    header_t     emit_hdr;
    logic        send;
    logic        resend;
    header_t     data_hdr;
    logic [63:0] data_addr;
    logic        complete;
    completion_t completion;
    logic        turn;
    logic        timer_set;
    logic        timer_armed;
    logic [TX_CLASS_W-1:0] timer_class;
    logic        free;
  } decision_t;
endpackage

module rdma_tx_decide_lane
  import rdma_pkg::*;
  import rdma_tx_decide_bench_pkg::*;
#(
  parameter int unsigned N_TX_CTX = 8,
  parameter int unsigned PAYLOAD  = 64,
  parameter int unsigned PIDX_W   = 6,
  parameter int unsigned CID_W    = 3,
  parameter int unsigned MSGID_W  = 5,
  parameter int unsigned NODE_W   = 4,
  parameter int unsigned ADDR_W   = 16
) (
  input  stimulus_t s,
  output decision_t d
);
  localparam int unsigned LEN_W = $clog2(PAYLOAD) + 1;
  `RDMA_TYPEDEF_TX_CTX(ctx_t, NODE_W, CID_W, MSGID_W, ADDR_W, PIDX_W, LEN_W)

  ctx_t              ctx_in, ctx_out;
  logic [ADDR_W-1:0] data_addr;

  always_comb begin : p_ctx_in
    ctx_in = '{
        failed: '0,
        attempt: '0,
        state: s.ctx.state,
        dst: NODE_W'(s.ctx.dst),
        cid: CID_W'(s.ctx.cid),
        gen: s.ctx.gen,
        msgid: MSGID_W'(s.ctx.msgid),
        tag: s.ctx.tag,
        src_addr: ADDR_W'(s.ctx.src_addr),
        dst_addr: ADDR_W'(s.ctx.dst_addr),
        rkey: s.ctx.rkey,
        last: PIDX_W'(s.ctx.last),
        last_len: LEN_W'(s.ctx.last_len),
        next: PIDX_W'(s.ctx.next),
        high: PIDX_W'(s.ctx.high),
        span: s.ctx.span,
        second: s.ctx.second,
        hole: s.ctx.hole,
        acked: PIDX_W'(s.ctx.acked),
        asked: s.ctx.asked,
        retries: s.ctx.retries,
        busy: s.ctx.busy,
        heard: s.ctx.heard,
        turn: s.ctx.turn,
        origin: s.ctx.origin,
        to: s.ctx.to,
        has_imm: s.ctx.has_imm,
        imm: s.ctx.imm
    };
  end

  rdma_tx_decide #(
    .N_TX_CTX(N_TX_CTX), .PAYLOAD(PAYLOAD), .PIDX_W(PIDX_W), .CID_W(CID_W), .MSGID_W(MSGID_W), .NODE_W(NODE_W),
    .ADDR_W(ADDR_W), .LEN_W(LEN_W), .ctx_t(ctx_t)
  ) i_decide (
    .kind_i(s.kind), .expired_i(s.expired), .hdr_i(s.hdr), .post_i(s.post), .msgid_i(MSGID_W'(s.msgid)),
    .resend_room_i(s.resend_room), .node_id_i(s.node_id), .max_retry_i(s.max_retry), .max_busy_i(s.max_busy), .backoff_i(s.backoff), .ctx_i(ctx_in), .ctx_o(ctx_out),
    .ctx_we_o(d.ctx_we), .outcome_o(d.outcome), .has_ctx_o(d.has_ctx), .emit_o(d.emit), .emit_hdr_o(d.emit_hdr),
    .send_o(d.send), .resend_o(d.resend), .data_hdr_o(d.data_hdr), .data_addr_o(data_addr), .complete_o(d.complete),
    .completion_o(d.completion), .turn_o(d.turn), .timer_set_o(d.timer_set), .timer_armed_o(d.timer_armed),
    .timer_class_o(d.timer_class), .free_o(d.free), .buffer_i('0), .buffer_o(), .wait_o()  // of another scheme
  );

  assign d.data_addr = 64'(data_addr);
  assign d.ctx = '{
          state: ctx_out.state,
          dst: 16'(ctx_out.dst),
          cid: 16'(ctx_out.cid),
          gen: ctx_out.gen,
          msgid: 24'(ctx_out.msgid),
          tag: ctx_out.tag,
          src_addr: 64'(ctx_out.src_addr),
          dst_addr: 64'(ctx_out.dst_addr),
          rkey: ctx_out.rkey,
          last: 32'(ctx_out.last),
          last_len: 32'(ctx_out.last_len),
          next: 32'(ctx_out.next),
          high: 32'(ctx_out.high),
          span: ctx_out.span,
          second: ctx_out.second,
          hole: ctx_out.hole,
          acked: 32'(ctx_out.acked),
          asked: ctx_out.asked,
          retries: ctx_out.retries,
          busy: ctx_out.busy,
          heard: ctx_out.heard,
          turn: ctx_out.turn,
          origin: ctx_out.origin,
          to: ctx_out.to,
          has_imm: ctx_out.has_imm,
          imm: ctx_out.imm
      };
endmodule

module rdma_tx_decide_bench
  import rdma_pkg::*;
  import rdma_tx_decide_bench_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        lane_i,
  // event
  input  logic [  2:0] kind_i,
  input  logic         expired_i,
  input  logic [255:0] hdr_i,
  input  logic [ 63:0] post_src_i,
  input  logic [ 63:0] post_dst_i,
  input  logic [ 31:0] post_bytes_i,
  input  logic [ 31:0] post_node_i,
  input  logic [ 15:0] post_tag_i,
  input  logic [ 23:0] post_key_i,
  input  logic [  1:0] post_origin_i,
  input  logic [  1:0] post_to_i,
  input  logic         post_has_imm_i,
  input  logic [ 31:0] post_imm_i,
  input  logic [ 23:0] msgid_i,
  input  logic         resend_room_i,
  input  logic [ 15:0] node_id_i,
  input  logic [  3:0] max_retry_i,
  input  logic [  7:0] max_busy_i,
  input  logic [  1:0] backoff_i,
  // context before and after
  input  logic [  1:0] state_i,
  input  logic [ 15:0] dst_i,
  input  logic [ 15:0] cid_i,
  input  logic [  7:0] gen_i,
  input  logic [ 23:0] ctx_msgid_i,
  input  logic [ 15:0] tag_i,
  input  logic [ 63:0] src_addr_i,
  input  logic [ 63:0] dst_addr_i,
  input  logic [ 23:0] rkey_i,
  input  logic [ 31:0] last_i,
  input  logic [ 31:0] last_len_i,
  input  logic [ 31:0] next_i,
  input  logic [ 31:0] high_i,
  input  logic [  3:0] span_i,
  input  logic         second_i,
  input  logic         hole_i,
  input  logic [ 31:0] acked_i,
  input  logic [ 55:0] asked_i,
  input  logic [  3:0] retries_i,
  input  logic [  7:0] busy_i,
  input  logic         heard_i,
  input  logic         turn_i,
  input  logic [  1:0] origin_i,
  input  logic [  1:0] to_i,
  input  logic         has_imm_i,
  input  logic [ 31:0] imm_i,
  output logic         ctx_we_o,
  output logic [  1:0] state_o,
  output logic [ 15:0] dst_o,
  output logic [ 15:0] cid_o,
  output logic [  7:0] gen_o,
  output logic [ 23:0] ctx_msgid_o,
  output logic [ 15:0] tag_o,
  output logic [ 63:0] src_addr_o,
  output logic [ 63:0] dst_addr_o,
  output logic [ 23:0] rkey_o,
  output logic [ 31:0] last_o,
  output logic [ 31:0] last_len_o,
  output logic [ 31:0] next_o,
  output logic [ 31:0] high_o,
  output logic [  3:0] span_o,
  output logic         second_o,
  output logic         hole_o,
  output logic [ 31:0] acked_o,
  output logic [ 55:0] asked_o,
  output logic [  3:0] retries_o,
  output logic [  7:0] busy_o,
  output logic         heard_o,
  output logic         turn_o,
  output logic [  1:0] origin_o,
  output logic [  1:0] to_o,
  output logic         has_imm_o,
  output logic [ 31:0] imm_o,
  // decision
  output logic [  7:0] outcome_o,
  output logic         has_ctx_o,
  output logic         emit_o,
  output logic [255:0] emit_hdr_o,
  output logic         send_o,
  output logic         resend_o,
  output logic [255:0] data_hdr_o,
  output logic [ 63:0] data_addr_o,
  output logic         complete_o,
  output logic [ 15:0] cpl_tag_o,
  output logic [  7:0] cpl_status_o,
  output logic [  1:0] cpl_origin_o,
  output logic         queue_turn_o,
  output logic         timer_set_o,
  output logic         timer_armed_o,
  output logic [  2:0] timer_class_o,
  output logic         free_o
);
  stimulus_t s;
  decision_t d0, d1, d;

  assign s.kind        = rdma_pkg::event_e'(kind_i);
  assign s.expired     = expired_i;
  assign s.hdr         = hdr_i;
  assign s.post = '{
          origin: origin_e'(post_origin_i),
          to: to_e'(post_to_i),
          has_imm: post_has_imm_i,
          imm: post_imm_i,
          rkey: post_key_i,
          tag: post_tag_i,
          node: post_node_i,
          bytes: post_bytes_i,
          dst_addr: post_dst_i,
          src_addr: post_src_i
      };
  assign s.msgid       = msgid_i;
  assign s.resend_room = resend_room_i;
  assign s.node_id     = node_id_i;
  assign s.max_retry   = max_retry_i;
  assign s.max_busy    = max_busy_i;
  assign s.backoff     = backoff_i;
  assign s.ctx = {state_i, dst_i, cid_i, gen_i, ctx_msgid_i, tag_i, src_addr_i, dst_addr_i, rkey_i, last_i, last_len_i, next_i,
                  high_i, span_i, second_i, hole_i, acked_i, asked_i, retries_i, busy_i, heard_i, turn_i, origin_i, to_i, has_imm_i, imm_i};

  rdma_tx_decide_lane i_narrow (.s, .d(d0));
  rdma_tx_decide_lane #(
    .N_TX_CTX(1024), .PAYLOAD(256), .PIDX_W(24), .CID_W(10), .MSGID_W(20), .NODE_W(16), .ADDR_W(48)
  ) i_default (.s, .d(d1));

  assign d = lane_i ? d1 : d0;
  assign {state_o, dst_o, cid_o, gen_o, ctx_msgid_o, tag_o, src_addr_o, dst_addr_o, rkey_o, last_o, last_len_o, next_o, high_o,
          span_o, second_o, hole_o, acked_o, asked_o, retries_o, busy_o, heard_o, turn_o, origin_o, to_o, has_imm_o, imm_o} = d.ctx;
  assign ctx_we_o      = d.ctx_we;
  assign outcome_o     = d.outcome;
  assign has_ctx_o     = d.has_ctx;
  assign emit_o        = d.emit;
  assign emit_hdr_o    = d.emit_hdr;
  assign send_o        = d.send;
  assign resend_o      = d.resend;
  assign data_hdr_o    = d.data_hdr;
  assign data_addr_o   = d.data_addr;
  assign complete_o    = d.complete;
  assign cpl_tag_o     = d.completion.tag;
  assign cpl_status_o  = d.completion.status;
  assign cpl_origin_o  = d.completion.origin;
  assign queue_turn_o  = d.turn;
  assign timer_set_o   = d.timer_set;
  assign timer_armed_o = d.timer_armed;
  assign timer_class_o = d.timer_class;
  assign free_o        = d.free;
endmodule
