// SPDX-License-Identifier: Apache-2.0
// rdma_tx_decide, any event (forged packets among them) that finds any context whose numbers are in order: what is sent lies in the transfer and its memory up to
// the last PIDX there is, in the window, and under the key that it is for; and the numbers are in order afterwards. They are in the context of all zeros that there
// is after reset, so they always are, and none of them can wrap. And a transfer that is granted with a window can be kept from its end only by what brings it on.
`include "proof.svh"
`include "rdma_typedef.svh"

module rdma_tx_decide_proof
  import rdma_pkg::*;
  import rdma_formats_pkg::*;
#(
  parameter int unsigned PAYLOAD = 32,
  parameter int unsigned PIDX_W  = 6,
  parameter int unsigned ADDR_W  = 12,
  localparam int unsigned N_TX_CTX = 2,
  localparam int unsigned SHIFT    = $clog2(PAYLOAD),
  localparam int unsigned LEN_W    = SHIFT + 1
) (
  input logic        clk_i, rst_ni, expired_i, resend_room_i,
  input event_e      kind_i,
  input header_t     hdr_i,
  input post_t       post_i,
  input logic [3:0]  max_retry_i,
  input logic [7:0]  max_busy_i,
  input logic [1:0]  backoff_i,
  input logic [2:0]  msgid_i,
  input logic [1023:0] ctx_i  // as many bits of it as a context has
);
  `RDMA_TYPEDEF_TX_CTX(ctx_t, 2, 2, 3, ADDR_W, PIDX_W, LEN_W)

  ctx_t              old, ctx;
  logic              we, has_ctx, emit, send, resend, complete, turn, timer_set, timer_armed, free, data, first_time;
  outcome_e          outcome;
  header_t           emit_hdr, data_hdr;
  logic [ADDR_W-1:0] data_addr;
  completion_t       completion;
  logic [TX_CLASS_W-1:0] timer_class;

  `PROOF_RESET
  // A post is offered a free context, a turn was queued, packets go to the sender; tos and origins are those that there are.
  `GIVEN(kind_i != EV_POST || (old.state == TX_FREE && post_i.to != to_e'(2'd3)))
  `GIVEN(kind_i != EV_TURN || old.turn)
  `GIVEN(kind_i != EV_PACKET || for_sender(hdr_i.ptype))

  rdma_tx_decide #(
    .N_TX_CTX(N_TX_CTX), .PAYLOAD(PAYLOAD), .PIDX_W(PIDX_W), .CID_W(2), .MSGID_W(3), .NODE_W(2), .ADDR_W(ADDR_W), .LEN_W(LEN_W), .ctx_t(ctx_t)
  ) dut (
    .kind_i, .expired_i, .hdr_i, .post_i, .msgid_i, .resend_room_i, .node_id_i(16'd1), .max_retry_i, .max_busy_i, .backoff_i, .ctx_i(old), .ctx_o(ctx),
    .ctx_we_o(we), .outcome_o(outcome), .has_ctx_o(has_ctx), .emit_o(emit), .emit_hdr_o(emit_hdr), .send_o(send), .resend_o(resend), .data_hdr_o(data_hdr),
    .data_addr_o(data_addr), .complete_o(complete), .completion_o(completion), .turn_o(turn), .timer_set_o(timer_set), .timer_armed_o(timer_armed),
    .timer_class_o(timer_class), .free_o(free)
  );

  function automatic logic in_order(ctx_t c);
    logic [31:0] end_of_memory;
    logic        sent;  // each packet asked for was sent before
    end_of_memory = 32'(c.src_addr) + (32'(c.last) << SHIFT) + 32'(c.last_len);
    sent = 1'b1;
    for (int i = 0; i < int'(ACK_MAP_W); i++) if (c.asked[i] && 32'(c.acked) + 32'(i) >= 32'(c.high)) sent = 1'b0;
    if (c.state == TX_FREE) return 1'b1;
    if (c.state != TX_REQ && c.state != TX_ACTIVE) return 1'b0;
    if (c.state == TX_REQ && (c.high != '0 || c.asked != '0 || c.second || c.hole)) return 1'b0;
    if ((c.second || c.hole) && c.span == '0) return 1'b0;
    return c.acked <= c.high && c.next <= c.high && 32'(c.high) <= 32'(c.last) + 32'd1 && 32'(c.last) <= (32'd1 << PIDX_W) - 32'd2 && sent &&
           c.last_len != '0 && 32'(c.last_len) <= PAYLOAD && c.src_addr[SHIFT-1:0] == '0 && end_of_memory <= 32'd1 << ADDR_W;
  endfunction

  assign old = ctx_i[$bits(ctx_t)-1:0];
  `GIVEN(in_order(old))
  `PROVE(StaysInOrder, !we || in_order(ctx))

  logic [31:0] pidx, last, bytes;
  assign data       = send || resend;
  assign pidx       = data_hdr.pidx;
  assign last       = 32'(old.last);
  assign bytes      = (last << SHIFT) + 32'(old.last_len);
  assign first_time = data && send && pidx == 32'(old.next) && old.asked == '0;

  logic goes_on, gets_further, changes_mode, one_repeated, no_map, waited;
  assign no_map       = hdr_i.arg[ACK_MAP_W-1:0] == '0;
  assign waited       = outcome == OUTCOME_ACKED && no_map && (hdr_i.flags & FLAG_ORDER) != '0 && ctx.acked > old.acked && !old.hole &&
                        (old.next > old.last || 32'(old.next) > 32'(old.acked) + (32'd1 << old.span));
  assign goes_on      = we && old.state == TX_ACTIVE && ctx.state == TX_ACTIVE;
  assign gets_further = ctx.high > old.high || ctx.acked > old.acked;
  assign changes_mode = kind_i == EV_PACKET && outcome == OUTCOME_RESEND_FROM && ctx.span == '0;
  assign one_repeated = kind_i == EV_TIMEOUT && old.heard && !ctx.heard && 32'(ctx.busy) == 32'(old.busy) + 32'd1;

  `PROVE(DataOfATransfer, !data || old.state == TX_ACTIVE)
  `PROVE(DataInsideIt, !data || pidx <= last)
  `PROVE(DataOfItsMemory, !data || (32'(data_addr) == 32'(old.src_addr) + (pidx << SHIFT) &&
                                    32'(data_addr) + 32'(data_hdr.len) <= 32'(old.src_addr) + bytes))
  `PROVE(LastIsMarked, !data || ((data_hdr.flags & FLAG_LAST) != '0) == (pidx == last))
  `PROVE(RetryIsMarked, !data || ((data_hdr.flags & FLAG_RETRY) != '0) == (pidx < 32'(old.high)))
  `PROVE(ImmediateIsShown, !data || (((data_hdr.flags & TRANSFER_FLAG_IMM) != '0) == old.has_imm &&
                                     data_hdr.arg == {old.has_imm ? old.imm : 32'd0, 8'd0, old.rkey}))
  `PROVE(NewOnesInTheWindow, !first_time || old.span == '0 || pidx <= 32'(old.acked) + (old.second ? 32'd2 << old.span : 32'd1 << old.span))
  // A second window opens behind a packet that is sent again, or as the first one was full with nothing missing. A map closes it, and what was sent in it counts as not sent.
  `PROVE(SecondWithReason, !goes_on || !ctx.second || old.second || (resend && outcome == OUTCOME_RESEND_ONE && pidx >= 32'(old.acked)) || waited)
  `PROVE(BehindARepeatAsFarAsTheWindow, !(goes_on && outcome == OUTCOME_RESEND_ONE && old.span != '0 && pidx >= 32'(old.acked)) ||
                                        (ctx.second && 32'(ctx.next) <= pidx + (32'd1 << old.span) + 32'd1))
  `PROVE(HoleUntilItMovesOn, !goes_on || !old.hole || ctx.hole || changes_mode || (outcome == OUTCOME_ACKED && ctx.acked > old.acked && no_map))
  `PROVE(HoleNoLonger, !(goes_on && outcome == OUTCOME_ACKED && ctx.acked > old.acked && no_map) || !ctx.hole)
  `PROVE(HoleIfToldSo, !goes_on || !ctx.hole || old.hole || (outcome == OUTCOME_ACKED && !no_map))
  `PROVE(SecondEndsWithTheMap, !(goes_on && outcome == OUTCOME_ACKED && !no_map) ||
                               (!ctx.second && (old.span == '0 || 32'(ctx.next) <= 32'(ctx.acked) + (32'd1 << ctx.span) + 32'd1)))
  `PROVE(FromGoesBackToWbase, !(goes_on && outcome == OUTCOME_ACKED && !no_map && (hdr_i.flags & FLAG_FROM) != '0) ||
                              old.span == '0 || (old.next <= old.last && 32'(old.next) <= 32'(old.acked) + (32'd1 << old.span)) || 32'(ctx.next) <= 32'(ctx.acked) + 32'd1)
  `PROVE(WhatHasComeIsNotSentAgain, !(goes_on && outcome == OUTCOME_ACKED) || ctx.next >= ctx.acked)
  `PROVE(OnlyHolesGoBack, !goes_on || ctx.next >= old.next || changes_mode || (outcome == OUTCOME_RESEND_ONE && 32'(ctx.next) == pidx + (32'd1 << old.span) + 32'd1) || (outcome == OUTCOME_ACKED && (old.span == '0 || !no_map)))
  `PROVE(FreedWithACompletion, !free || complete)
  `PROVE(FaultEndsItsTransferOnly, kind_i != EV_FAULT || (free == we && free == emit && free == (old.state == TX_ACTIVE && hdr_i.msgid == 24'(old.msgid))))
  // OK is what a DONE without FAILED from this very grant says, and nothing else.
  `PROVE(OkIfDone, !complete || (completion.status == STATUS_OK) == (kind_i == EV_PACKET && hdr_i.ptype == PTYPE_DONE && (hdr_i.flags & FLAG_FAILED) == '0))
  `PROVE(DoneOfThisGrant, !(complete && hdr_i.ptype == PTYPE_DONE && kind_i == EV_PACKET) ||
         (old.state == TX_ACTIVE && hdr_i.msgid == 24'(old.msgid) && hdr_i.src == 16'(old.dst) && hdr_i.cid == 16'(old.cid) && hdr_i.gen == old.gen))
  // A context that has got a packet is not that of a transfer that has sent none.
  `PROVE(AdoptsWhatIsUntouched, outcome != OUTCOME_GRANTED || hdr_i.ptype == PTYPE_RSP || hdr_i.pidx == '0)
  // Each new packet, each step of `acked`, timeouts with nothing but repeats, and in between so many others at the most: a number that only grows.
  `PROVE(TimeOnlyForProgress, !(timer_set && old.state == TX_ACTIVE) || free || gets_further || one_repeated ||
                              (kind_i == EV_TIMEOUT && ctx.retries == old.retries + 1'b1))
  `PROVE(PatienceOnlyForProgress, !goes_on || ctx.retries >= old.retries || gets_further || one_repeated)
  `PROVE(RepeatsAreCounted, !goes_on || ctx.busy == old.busy || one_repeated)
  `PROVE(TimeoutsAreCounted, !(goes_on && kind_i == EV_TIMEOUT) || one_repeated || (old.retries < max_retry_i && ctx.retries == old.retries + 1'b1))
  `PROVE(StartsWithAllItsTime, !(outcome == OUTCOME_GRANTED) ||
                               (timer_set && timer_armed && timer_class == TX_CLASS_DEAD && ctx.retries == '0 && ctx.busy == '0 && !ctx.heard))
  `PROVE(NothingGoesBack, !goes_on || (ctx.high >= old.high && ctx.acked >= old.acked))
  `PROVE(WindowOnlyOfThisMode, !goes_on || ctx.span == old.span || changes_mode || (old.span == '0 && outcome == OUTCOME_ACKED))
  // The key is that of the RSP, if one is to be brought.
  `PROVE(KeyChangesWithTheGrant, !(we && kind_i == EV_PACKET) || ctx.rkey == old.rkey ||
                                 (old.state == TX_REQ && old.to != TO_REGION && hdr_i.ptype == PTYPE_RSP && outcome == OUTCOME_GRANTED))
  `PROVE(StartsWithItsKey, !(outcome == OUTCOME_GRANTED) || old.to == TO_REGION || hdr_i.ptype == PTYPE_RSP)
endmodule
