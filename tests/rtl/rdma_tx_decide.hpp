// SPDX-License-Identifier: Apache-2.0
// rdma_tx_decide_bench with events and decisions as plain values.
#pragma once

#include <cstdint>
#include <optional>

#include "Vrdma_tx_decide_bench.h"
#include "bench.hpp"
#include "rdma/sender.hpp"
#include "rdma_ports.hpp"

namespace weft::rtl_test {

enum class TxKind : uint8_t { packet = 0, timeout = 1, post = 2, turn = 3, fault = 4 };

/// `header`: the packet; its sid is the context of any event, its msgid the transfer of a fault.
struct TxEvent {
  TxKind kind = TxKind::packet;
  bool expired = true;
  rdma::formats::Header header;
  rdma::Post post;
  uint32_t msgid = 0;
  bool resend_room = true;
  uint16_t node_id = 0;
  uint8_t max_retry = 0;
  uint8_t max_busy = 0;
  uint8_t backoff = 0;
  rdma::TxContext context;            // its timer is not looked at
  Origin origin = Origin::registers;  // of the post, or of the context
};

enum class TimerAction { none, retry, dead, stop };

struct TxDecision {
  rdma::formats::Outcome outcome = rdma::formats::Outcome::none;
  rdma::TxContext context;     // as it is afterwards
  bool context_known = false;  // the trace may show its `next`
  std::optional<rdma::formats::Header> control;
  std::optional<rdma::DataOrder> data;
  std::optional<rdma::Completion> completion;
  Origin origin = Origin::registers;  // of the completion, or of the context written
  bool queue_turn = false;
  TimerAction timer = TimerAction::none;
  uint8_t doublings = 0;  // of TX_RETRY
  bool freed = false;
};

/// The sizes in rdma_tx_decide_bench.sv.
inline rdma::Params tx_decide_params(unsigned lane) {
  rdma::Params params;
  if (lane == 1) return params;
  params.n_tx_ctx = 8;
  params.payload = 64;
  params.pidx_bits = 6;
  params.cid_bits = 3;
  params.sid_bits = 4;
  params.msgid_bits = 5;
  params.node_bits = 4;
  params.addr_bits = 16;
  return params;
}

class TxDecideBench : public Bench<Vrdma_tx_decide_bench> {
 public:
  explicit TxDecideBench(unsigned lane) { top().lane_i = lane & 1; }

  TxDecision decide(const TxEvent& event) {
    put_event(event);
    put_context(event.context);
    top().origin_i = event.kind == TxKind::post ? 0 : static_cast<uint8_t>(event.origin);
    settle();
    return decision(event);
  }

 private:
  void put_event(const TxEvent& event) {
    auto& in = top();
    in.kind_i = static_cast<uint8_t>(event.kind);
    in.expired_i = event.expired;
    put_header(in.hdr_i, event.header);
    in.post_src_i = event.post.src_addr;
    in.post_dst_i = event.post.dst_addr;
    in.post_bytes_i = event.post.bytes;
    in.post_node_i = event.post.node;
    in.post_tag_i = event.post.tag;
    in.post_key_i = event.post.rkey;
    in.post_origin_i = event.kind == TxKind::post ? static_cast<uint8_t>(event.origin) : 0;
    in.post_to_i = static_cast<uint8_t>(event.post.to);
    in.post_has_imm_i = event.post.imm.has_value();
    in.post_imm_i = event.post.imm.value_or(0xffffffff);  // not looked at if there is none
    in.msgid_i = event.msgid;
    in.resend_room_i = event.resend_room;
    in.node_id_i = event.node_id;
    in.max_retry_i = event.max_retry;
    in.max_busy_i = event.max_busy;
    in.backoff_i = event.backoff;
  }

  void put_context(const rdma::TxContext& context) {
    auto& in = top();
    in.state_i = static_cast<uint8_t>(context.state);
    in.dst_i = context.dst;
    in.cid_i = context.cid;
    in.gen_i = context.gen;
    in.ctx_msgid_i = context.msgid;
    in.tag_i = context.tag;
    in.src_addr_i = context.src_addr;
    in.dst_addr_i = context.dst_addr;
    in.rkey_i = context.rkey;
    in.last_i = context.cut.last;
    in.last_len_i = context.cut.last_len;
    in.next_i = context.next;
    in.high_i = context.high;
    in.span_i = context.span;
    in.second_i = context.second;
    in.hole_i = context.hole;
    in.acked_i = context.acked;
    in.asked_i = context.asked;
    in.retries_i = context.retries;
    in.busy_i = context.busy;
    in.heard_i = context.heard;
    in.turn_i = context.turn;
    in.to_i = static_cast<uint8_t>(context.to);
    in.has_imm_i = context.imm.has_value();
    in.imm_i = context.imm.value_or(0xffffffff);
  }

  rdma::TxContext written_context() {
    const auto& out = top();
    rdma::TxContext context;
    context.state = static_cast<rdma::TxContext::State>(out.state_o);
    context.dst = out.dst_o;
    context.cid = out.cid_o;
    context.gen = out.gen_o;
    context.msgid = out.ctx_msgid_o;
    context.tag = out.tag_o;
    context.src_addr = out.src_addr_o;
    context.dst_addr = out.dst_addr_o;
    context.rkey = out.rkey_o;
    context.cut = {out.last_o, out.last_len_o};
    context.next = out.next_o;
    context.high = out.high_o;
    context.span = out.span_o;
    context.second = out.second_o;
    context.hole = out.hole_o;
    context.acked = out.acked_o;
    context.asked = out.asked_o;
    context.retries = out.retries_o;
    context.busy = out.busy_o;
    context.heard = out.heard_o;
    context.turn = out.turn_o;
    context.to = static_cast<rdma::Post::To>(out.to_o);
    if (out.has_imm_o) context.imm = out.imm_o;
    return context;
  }

  TxDecision decision(const TxEvent& event) {
    const auto& out = top();
    TxDecision decision;
    decision.outcome = static_cast<rdma::formats::Outcome>(out.outcome_o);
    decision.context = out.ctx_we_o ? written_context() : event.context;
    // Nothing is traced when nothing happened.
    decision.context_known = out.has_ctx_o && decision.outcome != rdma::formats::Outcome::none;
    if (out.emit_o) decision.control = get_header(out.emit_hdr_o);
    EXPECT_FALSE(out.send_o && out.resend_o);
    decision.origin = event.origin;
    if (out.ctx_we_o) decision.origin = static_cast<Origin>(out.origin_o);
    if (out.send_o || out.resend_o)
      decision.data = rdma::DataOrder{get_header(out.data_hdr_o), out.data_addr_o, out.resend_o != 0};
    if (out.complete_o)
      decision.completion =
          rdma::Completion{out.cpl_tag_o, static_cast<rdma::formats::Status>(out.cpl_status_o)};
    if (out.complete_o) {
      EXPECT_EQ(out.cpl_origin_o, static_cast<uint8_t>(event.origin));
    }
    decision.queue_turn = out.queue_turn_o;
    if (out.timer_set_o) {
      decision.timer = !out.timer_armed_o       ? TimerAction::stop
                       : out.timer_class_o == 4 ? TimerAction::dead
                                                : TimerAction::retry;
      if (decision.timer == TimerAction::retry) decision.doublings = out.timer_class_o;
    }
    decision.freed = out.free_o;
    return decision;
  }
};

}  // namespace weft::rtl_test
