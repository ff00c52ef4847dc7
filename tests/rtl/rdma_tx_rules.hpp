// SPDX-License-Identifier: Apache-2.0
// docs/rdma.md and docs/rdma_transfers.md, Sender, once more as rules for a single event, so that contexts
// can be tried that the golden model would have to be led to event by event. Shares nothing with the golden
// model but its plain types.
#pragma once

#include <algorithm>

#include "rdma_tx_decide.hpp"

namespace weft::rtl_test {

class TxRules {
 public:
  TxRules(const rdma::Params& params, const TxEvent& event)
      : params_(params), event_(event), header_(event.header), before_(event.context) {
    decision_.context = before_;
    decision_.origin = event.origin;
  }

  TxDecision decide() {
    if (event_.kind == TxKind::post) post();
    if (event_.kind == TxKind::turn) turn();
    if (event_.kind == TxKind::timeout && event_.expired && before_.state != State::free) timeout();
    if (event_.kind == TxKind::fault) fault();
    if (event_.kind == TxKind::packet) {
      if (ptype() == Ptype::rsp) response();
      if (ptype() == Ptype::resend) resend();
      if (ptype() == Ptype::done) done();
      if (ptype() == Ptype::ack) ack();
    }
    return decision_;
  }

 private:
  using Outcome = rdma::formats::Outcome;
  using Status = rdma::formats::Status;
  using Ptype = rdma::formats::Ptype;
  using Header = rdma::formats::Header;
  using State = rdma::TxContext::State;
  using To = rdma::Post::To;
  using Flag = rdma::formats::TransferFlag;

  Ptype ptype() const { return static_cast<Ptype>(header_.ptype); }

  void post() {
    const rdma::Post& post = event_.post;
    const uint64_t packets = (uint64_t{post.bytes} + params_.payload - 1) / params_.payload;
    if (post.node >= 1u << params_.node_bits) return reject(Outcome::reject_node, Status::bad_node);
    if (packets == 0 || packets > (1u << params_.pidx_bits) - 1)
      return reject(Outcome::reject_length, Status::bad_length);
    const bool far = post.to == To::region;  // only there is dst_addr an address
    if (post.src_addr % params_.payload != 0 || (far && post.dst_addr % params_.payload != 0))
      return reject(Outcome::reject_align, Status::misaligned);
    if (beyond_bus(post.src_addr) || (far && beyond_bus(post.dst_addr)))
      return reject(Outcome::reject_address, Status::bad_address);
    rdma::TxContext context;
    context.state = State::requested;
    context.dst = static_cast<uint16_t>(post.node);
    context.msgid = event_.msgid;
    context.tag = post.tag;
    context.src_addr = post.src_addr;
    context.dst_addr = post.dst_addr;
    context.rkey = post.rkey;
    context.to = post.to;
    context.imm = post.imm;
    context.cut.last = static_cast<uint32_t>(packets - 1);
    context.cut.last_len = static_cast<uint32_t>(post.bytes - (packets - 1) * params_.payload);
    context.turn = before_.turn;  // a turn may still be in the queue
    decision_.context = context;
    became(Outcome::submit, TimerAction::retry);
    request();
  }

  bool beyond_bus(uint64_t address) const {
    const uint64_t end = uint64_t{1} << params_.addr_bits;
    return address > end || event_.post.bytes > end - address;
  }

  void reject(Outcome outcome, Status status) {
    decision_.outcome = outcome;
    decision_.completion = rdma::Completion{event_.post.tag, status};
  }

  bool names_transfer() const {
    return header_.sid < params_.n_tx_ctx && before_.state != State::free && header_.msgid == before_.msgid &&
           header_.src == before_.dst;
  }
  bool names_grant() const { return header_.cid == before_.cid && header_.gen == before_.gen; }
  bool names_active() const { return names_transfer() && before_.state == State::active && names_grant(); }
  bool names_requested() const { return names_transfer() && before_.state == State::requested; }
  /// By a RESEND or ACK that says that packets have come, although none has been sent.
  bool names_older() const {
    const uint64_t others_asked = header_.arg << 8 >> 9;  // of an ACK's map, but for the first bit
    return header_.pidx > 0 || (ptype() == Ptype::ack && others_asked != 0);
  }

  void response() {
    if (!names_transfer()) return stale();
    if (before_.state == State::active) {
      if (code() == 0 && !names_grant()) return stale();
      return became(Outcome::drop_repeated_rsp);
    }
    if (code() == 0) {
      if (brings_key() == (before_.to == To::region)) return stale();
      if (brings_key()) decision_.context.rkey = static_cast<uint32_t>(header_.arg >> 32 & 0xffffff);
      return adopt(header_.pidx);
    }
    const bool again = event_.max_busy == 0 || before_.busy < event_.max_busy;
    const bool plain = before_.to == To::region && !before_.imm;
    if (again && (code() == 1 || (code() == 32 && !plain))) {
      decision_.context.retries = 0;
      if (before_.busy < 255) decision_.context.busy += 1;
      decision_.doublings = std::min(decision_.context.busy, event_.backoff);
      return became(Outcome::backoff, TimerAction::retry);
    }
    finish(Outcome::refused, code() == 1    ? Status::remote_busy
                             : code() == 2  ? Status::bad_length
                             : code() == 3  ? Status::misaligned
                             : code() == 10 ? Status::bad_key
                             : plain        ? Status::bad_region
                             : code() == 32 ? Status::not_ready
                             : code() == 33 ? Status::too_long
                                            : Status::bad_region);
  }

  bool brings_key() const { return header_.flags & static_cast<uint8_t>(Flag::send); }
  /// Of a RSP.
  uint64_t code() const { return brings_key() ? static_cast<uint32_t>(header_.arg) : header_.arg; }

  /// RESEND or ACK in place of the RSP.
  void adopt_early(uint64_t span) {
    if (before_.to == To::region) return adopt(span);
    became(Outcome::drop_no_key);
  }

  void adopt(uint64_t span) {
    decision_.context.span = span % 16;
    decision_.context.state = State::active;
    decision_.context.busy = 0;
    decision_.context.cid = header_.cid;
    decision_.context.gen = header_.gen;
    take_turn();
    became(Outcome::granted);
    progress();
  }

  void stale() {
    became(Outcome::stale);
    decision_.context_known = header_.sid < params_.n_tx_ctx && before_.state != State::free;
    if (ptype() != Ptype::rsp || code() == 0) release();
  }

  void resend() {
    if (names_requested()) return names_older() ? stale() : adopt_early(0);
    if (!names_active()) return stale();
    const bool from = header_.flags & rdma::formats::flag_from;
    if (header_.pidx >= before_.high + uint64_t{from}) {
      became(Outcome::drop_not_yet);
      return heard_in_paper_mode();
    }
    if (from) {
      decision_.context.span = 0;
      decision_.context.second = decision_.context.hole = false;
      decision_.context.next = std::min(before_.next, header_.pidx);
      take_turn();
      became(Outcome::resend_from);
      decision_.context.heard = true;
      return;
    }
    if (!event_.resend_room) return became(Outcome::drop_full);
    became(Outcome::resend_one);
    heard_in_paper_mode();
    data(header_.pidx, true, true);
    if (before_.span == 0 || header_.pidx < before_.acked) return;
    decision_.context.second = true;
    const uint64_t too_far = header_.pidx + (uint64_t{1} << before_.span) + 1;
    while (decision_.context.next > too_far) decision_.context.next -= 1;
    if (sendable(decision_.context)) take_turn();
  }

  void ack() {
    if (names_requested()) return names_older() ? stale() : adopt_early(header_.arg >> 56);
    if (!names_active()) return stale();
    if (header_.pidx < before_.acked || header_.pidx > before_.high) return became(Outcome::drop_old_ack);
    rdma::TxContext& context = decision_.context;
    context.acked = header_.pidx;
    context.asked = 0;
    const bool empty = header_.arg << 8 == 0;
    for (uint64_t i = 0; empty && i < 56; ++i) {  // what is still to be sent again
      const uint64_t bit = before_.acked + i - header_.pidx;
      if ((before_.asked >> i & 1) && before_.acked + i >= header_.pidx) context.asked |= uint64_t{1} << bit;
    }
    for (uint64_t i = 0; i < 56; ++i) {
      const bool asked = header_.arg >> i & 1;
      if (asked && header_.pidx + i < before_.high) context.asked |= uint64_t{1} << i;
    }
    const uint64_t window = header_.arg >> 56 & 15;
    if (before_.span == 0 && window > 0) {
      context.span = static_cast<uint8_t>(window);
      context.next = header_.pidx;
    }
    const bool moved_on = header_.pidx > before_.acked;
    rdma::TxContext first = before_;
    first.second = false;
    if (empty && moved_on && before_.span != 0) {
      const bool ordered = header_.flags & rdma::formats::flag_order;
      if (ordered && !before_.hole && !sendable(first)) context.second = true;
      context.hole = false;
    }
    if (!empty && before_.span != 0) {
      const bool from = header_.flags & rdma::formats::flag_from;
      context.second = false;
      context.hole = true;
      const uint64_t sure = from && !sendable(first) ? 0 : uint64_t{1} << before_.span;
      while (context.next > header_.pidx + sure + 1) context.next -= 1;
    }
    if (context.next < header_.pidx) context.next = header_.pidx;
    const bool brings_window = before_.span == 0 && window > 0;
    if (context.next == header_.pidx && (context.asked & 1) && !brings_window) context.next += 1;
    if (has_work(context)) take_turn();
    became(Outcome::acked);
    heard_in_paper_mode();
    if (header_.pidx != before_.acked) progress();
  }

  static bool sendable(const rdma::TxContext& context) {
    const uint64_t windows = context.second ? 2 : 1;
    const bool in_window =
        context.span == 0 || context.next <= context.acked + windows * (uint64_t{1} << context.span);
    return context.next <= context.cut.last && in_window;
  }
  static bool has_work(const rdma::TxContext& context) { return context.asked != 0 || sendable(context); }

  void done() {
    if (!names_active()) return stale();
    const bool failed = header_.flags & rdma::formats::flag_failed;
    if (failed) finish(Outcome::complete_error, Status::remote_error);
    if (!failed) finish(Outcome::complete, Status::ok);
    release();
  }

  void turn() {
    if (before_.state != State::active || !has_work(before_)) {
      decision_.context.turn = false;
      became(Outcome::lapse);
      decision_.context_known = before_.state != State::free;
      return;
    }
    rdma::TxContext& context = decision_.context;
    if (before_.asked != 0) {
      uint32_t lowest = 0;
      while (!(before_.asked >> lowest & 1)) ++lowest;
      data(before_.acked + lowest, true, false);
      context.asked ^= uint64_t{1} << lowest;
      became(Outcome::send_again);
      heard_in_paper_mode();
    } else {
      data(before_.next, before_.next < before_.high, false);
      context.next += 1;
      context.high = std::max(context.high, context.next);
      became(Outcome::send);
      heard_in_paper_mode();
      if (context.high != before_.high) progress();
    }
    context.turn = decision_.queue_turn = has_work(context);
  }

  void timeout() {
    if (before_.state == State::requested && before_.retries < event_.max_retry) {
      decision_.context.retries += 1;
      decision_.doublings = std::min(decision_.context.retries, event_.backoff);
      request();
      return became(Outcome::retry_rqt, TimerAction::retry);
    }
    if (before_.state == State::active && before_.heard && before_.busy < 255) {
      decision_.context.heard = false;
      decision_.context.retries = 0;
      decision_.context.busy += 1;
      return became(Outcome::still_asked, TimerAction::dead);
    }
    if (before_.state == State::active && before_.turn && before_.retries < event_.max_retry) {
      decision_.context.retries += 1;
      return became(Outcome::still_sending, TimerAction::dead);
    }
    finish(Outcome::give_up, before_.state == State::active ? Status::dead_peer : Status::no_answer);
  }

  void fault() {
    if (before_.state != State::active || header_.msgid != before_.msgid) return;
    finish(Outcome::source_failed, Status::source_error);
    release(before_.dst, before_.cid, before_.gen);
    decision_.control->flags = rdma::formats::flag_failed;
  }

  void became(Outcome outcome, TimerAction timer = TimerAction::none) {
    decision_.outcome = outcome;
    decision_.context_known = true;
    decision_.timer = timer;
  }

  void progress() {
    decision_.context.retries = 0;
    decision_.context.heard = false;
    decision_.timer = TimerAction::dead;
  }
  void heard_in_paper_mode() {
    if (before_.span == 0) decision_.context.heard = true;
  }

  void finish(Outcome outcome, Status status) {
    became(outcome, TimerAction::stop);
    decision_.context.state = State::free;
    decision_.completion = rdma::Completion{before_.tag, status};
    decision_.freed = true;
  }

  /// turn = 1; a turn is queued only if it was 0.
  void take_turn() {
    decision_.queue_turn = !before_.turn;
    decision_.context.turn = true;
  }

  /// RQT of the context as it is now.
  void request() {
    const rdma::TxContext& context = decision_.context;
    Header& rqt = decision_.control.emplace();
    rqt.ptype = static_cast<uint8_t>(Ptype::rqt);
    rqt.dst = context.dst;
    rqt.src = event_.node_id;
    rqt.sid = header_.sid;
    rqt.msgid = context.msgid;
    rqt.pidx = context.cut.last * params_.payload + context.cut.last_len;
    rqt.arg = context.dst_addr;
    rqt.gen = static_cast<uint8_t>(context.rkey >> 16);
    rqt.cid = static_cast<uint16_t>(context.rkey);
    if (context.to == To::queue) rqt.flags = static_cast<uint8_t>(Flag::send);
    if (context.to == To::ticket) rqt.flags = static_cast<uint8_t>(Flag::read);
    if (context.to == To::region && context.imm) rqt.flags = static_cast<uint8_t>(Flag::imm);
  }

  /// For the receive context that the packet names.
  void release() { release(header_.src, header_.cid, header_.gen); }
  void release(uint16_t dst, uint16_t cid, uint8_t gen) {
    Header& release = decision_.control.emplace();
    release.ptype = static_cast<uint8_t>(Ptype::release);
    release.dst = dst;
    release.src = event_.node_id;
    release.sid = header_.sid;
    release.cid = cid;
    release.gen = gen;
    release.msgid = header_.msgid;
  }

  void data(uint32_t pidx, bool retry, bool resend) {
    const bool last = pidx == before_.cut.last;
    rdma::DataOrder& order = decision_.data.emplace();
    order.resend = resend;
    order.src_addr = before_.src_addr + uint64_t{pidx} * params_.payload;
    order.header.ptype = static_cast<uint8_t>(Ptype::data);
    order.header.flags = (last ? rdma::formats::flag_last : 0u) | (retry ? rdma::formats::flag_retry : 0u);
    order.header.dst = before_.dst;
    order.header.src = event_.node_id;
    order.header.sid = header_.sid;
    order.header.cid = before_.cid;
    order.header.gen = before_.gen;
    order.header.msgid = before_.msgid;
    order.header.len = static_cast<uint16_t>(last ? before_.cut.last_len : params_.payload);
    order.header.pidx = pidx;
    order.header.arg = before_.rkey;
    if (before_.imm) {
      order.header.flags |= static_cast<uint8_t>(Flag::imm);
      order.header.arg += uint64_t{*before_.imm} << 32;
    }
  }

  const rdma::Params& params_;
  const TxEvent& event_;
  const Header& header_;
  const rdma::TxContext& before_;
  TxDecision decision_;
};

}  // namespace weft::rtl_test
