// SPDX-License-Identifier: Apache-2.0
// The receiver's decision in two sizes side by side: lane 0 has narrow fields, none of them whole bytes, lane 1 the engine's
// defaults. Contexts cross the ports in one format for both, of whole bytes, so that C++ can copy it as a struct.
`include "rdma_typedef.svh"

package rdma_rx_decide_bench_pkg;
  import rdma_formats_pkg::*;

  typedef struct packed {
    logic [127:0] wvec;
    logic [ 15:0] zero;
    logic [  7:0] silent;
    logic [  7:0] asks;
    logic [ 31:0] wbase;
    logic [ 63:0] base;      // byte address
    logic [ 31:0] last;
    logic [ 31:0] msgid;
    logic [ 15:0] last_len;
    logic [ 15:0] sid;
    logic [ 15:0] src;
    logic [  7:0] gen;
    logic [  7:0] state;
  } context_t;

  typedef struct packed {
    logic        timeout;
    logic        expired;
    header_t     hdr;
    outcome_e    verdict;
    logic        offer_valid;
    logic [15:0] node_id;
    logic [ 1:0] ask_from_after;
    logic [ 3:0] max_silent;
    logic        weft_mode;
  } event_t;

  typedef struct packed {
    logic        ctx_we;
    outcome_e    outcome;
    logic        has_ctx;
    logic        write;
    logic [63:0] write_addr;
    logic        emit;
    header_t     emit_hdr;
    logic        timer_set;
    logic        timer_armed;
    logic        free;
  } decision_t;
endpackage

module rdma_rx_decide_lane
  import rdma_rx_decide_bench_pkg::*;
#(
  parameter int unsigned N_RX_CTX = 1,
  parameter int unsigned WINDOW   = 1,
  parameter int unsigned PAYLOAD  = 1,
  parameter int unsigned PIDX_W   = 1,
  parameter int unsigned SID_W    = 1,
  parameter int unsigned MSGID_W  = 1,
  parameter int unsigned NODE_W   = 1,
  parameter int unsigned ADDR_W   = 1
) (
  input  event_t    event_i,
  input  context_t  ctx_i,
  output context_t  ctx_o,
  output decision_t decision_o
);
  localparam int unsigned SHIFT = $clog2(PAYLOAD);
  localparam int unsigned LEN_W = SHIFT + 1;
  localparam int unsigned BASE_W = ADDR_W - SHIFT;

  `RDMA_TYPEDEF_RX_CTX(ctx_t, NODE_W, SID_W, MSGID_W, BASE_W, PIDX_W, LEN_W, WINDOW)

  ctx_t              held, next;  // context before and after the event
  logic [ADDR_W-1:0] write_addr;

  assign held = '{state: rdma_pkg::rx_state_e'(ctx_i.state[1:0]), gen: ctx_i.gen, src: NODE_W'(ctx_i.src),
                    sid: SID_W'(ctx_i.sid), msgid: MSGID_W'(ctx_i.msgid), base: BASE_W'(ctx_i.base >> SHIFT),
                    last: PIDX_W'(ctx_i.last), last_len: LEN_W'(ctx_i.last_len), asks: ctx_i.asks[1:0],
                    silent: ctx_i.silent[3:0], wbase: PIDX_W'(ctx_i.wbase), wvec: WINDOW'(ctx_i.wvec)};

  assign ctx_o = '{state: 8'(next.state), gen: next.gen, src: 16'(next.src), sid: 16'(next.sid),
                   msgid: 32'(next.msgid), base: 64'(next.base) << SHIFT, last: 32'(next.last),
                   last_len: 16'(next.last_len), asks: 8'(next.asks), silent: 8'(next.silent),
                   wbase: 32'(next.wbase), wvec: 128'(next.wvec), zero: '0};

  rdma_rx_decide #(
    .N_RX_CTX(N_RX_CTX), .WINDOW(WINDOW), .PAYLOAD(PAYLOAD), .PIDX_W(PIDX_W), .SID_W(SID_W), .MSGID_W(MSGID_W),
    .NODE_W(NODE_W), .ADDR_W(ADDR_W), .LEN_W(LEN_W), .ctx_t(ctx_t)
  ) i_dut (
    .timeout_i(event_i.timeout), .expired_i(event_i.expired), .hdr_i(event_i.hdr), .verdict_i(event_i.verdict),
    .offer_valid_i(event_i.offer_valid), .node_id_i(event_i.node_id), .ask_from_after_i(event_i.ask_from_after),
    .max_silent_i(event_i.max_silent), .weft_mode_i(event_i.weft_mode), .ctx_i(held), .ctx_o(next), .ctx_we_o(decision_o.ctx_we),
    .outcome_o(decision_o.outcome), .has_ctx_o(decision_o.has_ctx), .write_o(decision_o.write),
    .write_addr_o(write_addr), .emit_o(decision_o.emit), .emit_hdr_o(decision_o.emit_hdr),
    .timer_set_o(decision_o.timer_set), .timer_armed_o(decision_o.timer_armed), .free_o(decision_o.free)
  );
  assign decision_o.write_addr = 64'(write_addr);
endmodule

module rdma_rx_decide_bench
  import rdma_rx_decide_bench_pkg::*;
(
  input  logic         clk_i,  // combinational: the clock is there for the harness only
  input  logic         lane_i,
  // event
  input  logic         timeout_i,
  input  logic         expired_i,
  input  logic [255:0] hdr_i,
  input  logic [  7:0] verdict_i,
  input  logic         offer_valid_i,
  input  logic [ 15:0] node_id_i,
  input  logic [  1:0] ask_from_after_i,
  input  logic [  3:0] max_silent_i,
  input  logic         weft_mode_i,
  input  context_t     ctx_i,
  // decision
  output context_t     ctx_o,
  output logic         ctx_we_o,
  output logic [  7:0] outcome_o,
  output logic         has_ctx_o,
  output logic         write_o,
  output logic [ 63:0] write_addr_o,
  output logic         emit_o,
  output logic [255:0] emit_hdr_o,
  output logic         timer_set_o,
  output logic         timer_armed_o,
  output logic         free_o
);
  event_t    happened;
  decision_t decision, decisions[2];
  context_t  contexts[2];

  assign happened = '{timeout: timeout_i, expired: expired_i, hdr: hdr_i, verdict: rdma_formats_pkg::outcome_e'(verdict_i),
                      offer_valid: offer_valid_i, node_id: node_id_i, ask_from_after: ask_from_after_i,
                      max_silent: max_silent_i, weft_mode: weft_mode_i};

  rdma_rx_decide_lane #(
    .N_RX_CTX(4), .WINDOW(16), .PAYLOAD(64), .PIDX_W(6), .SID_W(5), .MSGID_W(7), .NODE_W(9), .ADDR_W(21)
  ) i_narrow (
    .event_i(happened), .ctx_i, .ctx_o(contexts[0]), .decision_o(decisions[0])
  );

  rdma_rx_decide_lane #(
    .N_RX_CTX(1024), .WINDOW(128), .PAYLOAD(256), .PIDX_W(24), .SID_W(10), .MSGID_W(20), .NODE_W(16), .ADDR_W(48)
  ) i_default (
    .event_i(happened), .ctx_i, .ctx_o(contexts[1]), .decision_o(decisions[1])
  );

  assign ctx_o         = contexts[lane_i];
  assign decision      = decisions[lane_i];
  assign ctx_we_o      = decision.ctx_we;
  assign outcome_o     = decision.outcome;
  assign has_ctx_o     = decision.has_ctx;
  assign write_o       = decision.write;
  assign write_addr_o  = decision.write_addr;
  assign emit_o        = decision.emit;
  assign emit_hdr_o    = decision.emit_hdr;
  assign timer_set_o   = decision.timer_set;
  assign timer_armed_o = decision.timer_armed;
  assign free_o        = decision.free;

  logic unused;
  assign unused = clk_i;
endmodule
