// SPDX-License-Identifier: Apache-2.0
// The sender's decisions, in the order of docs/rdma.md.
#include "rdma/sender.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "rdma/region.hpp"
#include "rdma/request.hpp"
#include "rdma/timeouts.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Refusal;
using formats::Status;
using formats::TransferFlag;
using State = TxContext::State;

namespace {

/// A RSP with flag SEND has the key of the buffer above the code.
uint64_t code_of(const Header& response) {
  return has_flag(response, TransferFlag::send) ? response.arg & 0xffffffff : response.arg;
}

uint32_t key_of_buffer(const Header& response) { return response.arg >> 32 & ((1u << rkey_bits) - 1); }

bool is_code(const Header& response, Refusal code) {
  return code_of(response) == static_cast<uint64_t>(code);
}

bool grants(const Header& response) { return is_code(response, Refusal::granted); }

/// A write that nobody is told of.
bool is_plain(const TxContext& c) { return c.to == Post::To::region && !c.imm; }

/// Queue a control packet, or count it as dropped.
void emit(TxResult& result, bool room, Packet packet) {
  if (room) {
    result.emitted = std::move(packet);
  } else {
    result.ctl_dropped = true;
  }
}

TxResult rejected(Outcome outcome, const Post& post, Status status) {
  TxResult result;
  result.outcome = outcome;
  if (post.to != Post::To::ticket) result.completion = Completion{post.tag, status};
  return result;
}

}  // namespace

Sender::Sender(Params params, Config config) : params_(params) {
  validate(params_);
  configure(std::move(config));
  reset();
}

void Sender::configure(Config config) {
  validate(config, params_);
  config_ = std::move(config);
}

void Sender::number_from(uint32_t msgid) {
  next_msgid_ = static_cast<uint32_t>(msgid % (uint64_t{1} << params_.msgid_bits));
}

void Sender::reset() {
  contexts_.assign(params_.n_tx_ctx, TxContext{});
  if (keeps_window()) buffers_.assign(params_.n_send_buffers, SendBuffer(params_.window));
  free_ = params_.n_tx_ctx;
  next_msgid_ = 0;
}

const TxContext& Sender::context(uint16_t sid) const {
  if (sid >= contexts_.size()) throw Violation("there is no send context " + std::to_string(sid));
  return contexts_[sid];
}

uint32_t Sender::answers() const {
  return static_cast<uint32_t>(std::ranges::count_if(
      contexts_, [](const TxContext& c) { return c.state != State::free && c.to == Post::To::ticket; }));
}

uint16_t Sender::timeout_of(const TxContext& c) const {
  return c.state == State::requested ? config_.tx_retry : config_.tx_dead;
}

bool Sender::due(uint16_t sid, uint16_t now) const {
  const TxContext& c = context(sid);
  return c.state != State::free && c.timer.due(now, timeout_of(c));
}

uint32_t Sender::longest_overdue(uint16_t now) const {
  uint32_t longest = 0;
  for (const TxContext& c : contexts_) {
    if (c.state != State::free) longest = std::max(longest, c.timer.overdue(now, timeout_of(c)));
  }
  for (const SendBuffer& b : buffers_) {
    if (!b.empty()) longest = std::max(longest, b.timer.overdue(now, config_.tx_retry));
  }
  return longest;
}

TxResult Sender::packet(const Packet& packet, const TxInputs& inputs) {
  switch (static_cast<Ptype>(packet.header.ptype)) {
    case Ptype::rsp:
      return response(packet.header, inputs);
    case Ptype::resend:
      return resend(packet.header, inputs);
    case Ptype::ack:
      return ack(packet.header, inputs);
    case Ptype::done:
      return done(packet.header, inputs);
    default:
      throw Violation("the sender takes RSP, RESEND, ACK and DONE only");
  }
}

// Post

TxResult Sender::post(const Post& post, const TxInputs& inputs) {
  if (post.node > 0xffff || post.node >> params_.node_bits != 0) {
    return rejected(Outcome::reject_node, post, Status::bad_node);
  }
  const auto pieces = cut(post.bytes, params_);
  if (!pieces) return rejected(Outcome::reject_length, post, Status::bad_length);
  const uint64_t remote = post.to == Post::To::region ? post.dst_addr : 0;  // else it is no address
  if (post.src_addr % params_.payload != 0 || remote % params_.payload != 0) {
    return rejected(Outcome::reject_align, post, Status::misaligned);
  }
  if (beyond_bus(post.src_addr, post.bytes, params_) || beyond_bus(remote, post.bytes, params_)) {
    return rejected(Outcome::reject_address, post, Status::bad_address);
  }
  return submit(post, *pieces, inputs);
}

TxResult Sender::submit(const Post& post, const Cut& pieces, const TxInputs& inputs) {
  if (!inputs.offer) throw Violation("a post without the offer of a send context");
  const uint16_t sid = *inputs.offer;
  if (context(sid).state != State::free) {
    throw Violation("send context " + std::to_string(sid) + " is offered but in use");
  }
  TxContext& c = contexts_[sid];
  c = TxContext{};
  c.state = State::requested;
  c.dst = static_cast<uint16_t>(post.node);
  c.msgid = next_msgid_;
  c.tag = post.tag;
  c.src_addr = post.src_addr;
  c.dst_addr = post.dst_addr;
  c.rkey = post.rkey & ((1u << rkey_bits) - 1);
  c.to = post.to;
  c.imm = post.imm;
  c.cut = pieces;
  c.timer.restart(inputs.now);
  free_ -= 1;
  next_msgid_ = static_cast<uint32_t>((uint64_t{next_msgid_} + 1) % (uint64_t{1} << params_.msgid_bits));

  TxResult result = with_context(Outcome::submit, sid);
  emit(result, inputs.room, request_packet(sid));
  return result;
}

// RSP

TxResult Sender::response(const Header& header, const TxInputs& inputs) {
  if (header.sid >= contexts_.size()) return stale(header, inputs);
  const TxContext& c = contexts_[header.sid];
  if (c.state == State::free || header.msgid != c.msgid || header.src != c.dst) return stale(header, inputs);
  if (c.state == State::requested) return answer_to_request(header, inputs);
  if (grants(header) && (header.cid != c.cid || header.gen != c.gen)) return stale(header, inputs);
  return with_context(Outcome::drop_repeated_rsp, header.sid);
}

TxResult Sender::answer_to_request(const Header& header, const TxInputs& inputs) {
  TxContext& c = contexts_[header.sid];
  if (grants(header)) {
    const bool has_key = has_flag(header, TransferFlag::send);
    if (has_key != (c.to != Post::To::region)) return stale(header, inputs);
    if (has_key) c.rkey = key_of_buffer(header);
    return adopt(header, header.pidx, inputs);
  }
  if (const auto in_the_end = unavailable(header, c)) {
    if (config_.max_busy != 0 && c.busy >= config_.max_busy) {
      TxResult result = with_context(Outcome::refused, header.sid);
      complete(result, c, *in_the_end);
      return result;
    }
    c.retries = 0;
    c.busy = static_cast<uint8_t>(std::min(c.busy + 1, 255));
    c.timer.restart(inputs.now, doublings(config_, c.busy));
    return with_context(Outcome::backoff, header.sid);
  }
  TxResult result = with_context(Outcome::refused, header.sid);
  const bool too_long = !is_plain(c) && is_code(header, Refusal::too_long);
  complete(result, c, too_long ? Status::too_long : status_of_refusal(code_of(header)));
  return result;
}

/// The status after too many of this RSP, if it says no more than that the request should come again.
std::optional<Status> Sender::unavailable(const Header& header, const TxContext& c) const {
  if (is_code(header, Refusal::no_context)) return Status::remote_busy;
  if (!is_plain(c) && is_code(header, Refusal::not_ready)) return Status::not_ready;
  return std::nullopt;
}

/// The transfer starts, with the receive context that a RSP, RESEND or ACK names.
TxResult Sender::adopt(const Header& header, uint64_t span, const TxInputs& inputs) {
  TxContext& c = contexts_[header.sid];
  c.state = State::active;
  c.cid = header.cid;
  c.gen = header.gen;
  c.span = params_.scheme == Scheme::receiver_window ? span & 0xf : 0;
  c.busy = 0;
  c.turn = true;
  progress(c, inputs);
  return with_context(Outcome::granted, header.sid);
}

/// By a RESEND or ACK that overtook the RSP, if that was not to bring the key of a buffer.
TxResult Sender::adopt_early(const Header& header, uint64_t span, const TxInputs& inputs) {
  if (contexts_[header.sid].to != Post::To::region) return with_context(Outcome::drop_no_key, header.sid);
  return adopt(header, span, inputs);
}

TxResult Sender::stale(const Header& header, const TxInputs& inputs) const {
  const bool in_use = header.sid < contexts_.size() && contexts_[header.sid].state != State::free;
  TxResult result;
  if (in_use) result = with_context(Outcome::stale, header.sid);
  result.outcome = Outcome::stale;
  result.sid = header.sid;
  const bool holds_context = header.ptype != static_cast<uint8_t>(Ptype::rsp) || grants(header);
  if (holds_context) emit(result, inputs.room, release_packet(header));
  return result;
}

// RESEND and DONE

bool Sender::names_active(const Header& header) const {
  if (header.sid >= contexts_.size()) return false;
  const TxContext& c = contexts_[header.sid];
  return c.state == State::active && header.msgid == c.msgid && header.src == c.dst && header.cid == c.cid &&
         header.gen == c.gen;
}

/// RESEND or ACK of a context to which no packet has come.
bool asks_for_first_only(const Header& header) {
  const bool is_ack = header.ptype == static_cast<uint8_t>(Ptype::ack);
  return header.pidx == 0 && (!is_ack || (header.arg & ack_map_mask) <= 1);
}

// A grant whose RSP was lost or is still under way. What has got any packet is of an older transfer.
bool Sender::names_requested(const Header& header) const {
  if (header.sid >= contexts_.size() || !asks_for_first_only(header)) return false;
  const TxContext& c = contexts_[header.sid];
  return c.state == State::requested && header.msgid == c.msgid && header.src == c.dst;
}

TxResult Sender::resend(const Header& header, const TxInputs& inputs) {
  if (counts()) return resend_all(header, inputs);
  if (keeps_window()) return still_there(header, inputs);
  if (names_requested(header)) return adopt_early(header, 0, inputs);
  if (!names_active(header)) return stale(header, inputs);
  TxContext& c = contexts_[header.sid];
  const bool from = has_flag(header, formats::flag_from);
  if (header.pidx > c.high || (header.pidx == c.high && !from)) {
    heard(c);
    return with_context(Outcome::drop_not_yet, header.sid);
  }
  if (from) {
    c.span = 0;
    c.second = c.hole = false;
    c.next = std::min(c.next, header.pidx);
    c.turn = true;
    heard(c);
    return with_context(Outcome::resend_from, header.sid);
  }
  if (!inputs.resend_room) return with_context(Outcome::drop_full, header.sid);
  heard(c);
  open_second_window(c, header.pidx);
  TxResult result = with_context(Outcome::resend_one, header.sid);
  result.data = data_order(header.sid, header.pidx, true);
  result.data->resend = true;
  return result;
}

TxResult Sender::ack(const Header& header, const TxInputs& inputs) {
  if (keeps_window()) return answered(header, inputs);
  if (counts()) {  // which no receiver of that scheme sends
    return names_active(header) ? with_context(Outcome::drop_old_ack, header.sid) : stale(header, inputs);
  }
  if (names_requested(header)) return adopt_early(header, header.arg >> ack_map_bits, inputs);
  if (!names_active(header)) return stale(header, inputs);
  TxContext& c = contexts_[header.sid];
  if (header.pidx < c.acked || header.pidx > c.high) return with_context(Outcome::drop_old_ack, header.sid);
  const uint32_t passed = header.pidx - c.acked;
  const bool waited = !sends_in_first_window(c);
  const uint64_t map = header.arg & ack_map_mask;
  take_map(c, header.pidx, map);
  if (passed != 0) {
    progress(c, inputs);
  } else {
    heard(c);
  }
  const auto told = static_cast<uint8_t>(header.arg >> ack_map_bits & 0xf);
  const bool changed = c.span == 0 && told != 0;
  if (changed) {  // until now it has dropped what was beyond its window
    c.span = told;
    c.next = header.pidx;
  } else if (map != 0) {
    count_as_not_sent(c, waited && has_flag(header, formats::flag_from));
  } else if (passed != 0) {
    moved_on(c, waited && has_flag(header, formats::flag_order));
  }
  if (!changed) c.next = std::max(c.next, c.acked + static_cast<uint32_t>(c.asked & 1));
  if (c.asked != 0 || may_send_next(c)) c.turn = true;
  return with_context(Outcome::acked, header.sid);
}

/// A map tells all that is missing; an empty one nothing, so that what was asked for before stays asked for.
void Sender::take_map(TxContext& c, uint32_t wbase, uint64_t map) {
  const uint32_t passed = wbase - c.acked;
  c.asked = map != 0 || passed >= ack_map_bits ? 0 : c.asked >> passed;
  c.acked = wbase;
  for (uint32_t i = 0; i < ack_map_bits && c.acked + i < c.high; ++i) c.asked |= map & uint64_t{1} << i;
}

/// The transfer gets on.
void Sender::progress(TxContext& c, const TxInputs& inputs) {
  c.retries = 0;
  c.heard = false;
  c.timer.restart(inputs.now);
}

/// It is not seen to get on, but without a window that may be hidden from here.
void Sender::heard(TxContext& c) {
  if (c.span == 0) c.heard = true;
}

/// This packet is on its way once more. What was sent before it from behind the window that it may have
/// stopped was dropped, so that follows it, and then as many as another window has: they come when it has
/// moved on.
void Sender::open_second_window(TxContext& c, uint32_t asked_for) {
  if (c.span == 0 || asked_for < c.acked) return;
  c.second = true;
  c.next = static_cast<uint32_t>(std::min<uint64_t>(c.next, behind_window(c, asked_for)));
  if (may_send_next(c)) c.turn = true;
}

/// Who has waited at the end of the window with nothing missing has one that is shorter than a round trip:
/// what is sent from behind it comes when it has moved on.
void Sender::moved_on(TxContext& c, bool waited) {
  if (c.span == 0) return;
  if (waited && !c.hole) c.second = true;
  c.hole = false;
}

/// A packet is still missing, so what was sent beyond the window may have been dropped; or all that was sent
/// is lost.
void Sender::count_as_not_sent(TxContext& c, bool all) {
  if (c.span == 0) return;
  c.second = false;
  c.hole = true;
  const uint64_t unsure = all ? uint64_t{c.acked} + 1 : behind_window(c, c.acked);
  c.next = static_cast<uint32_t>(std::min<uint64_t>(c.next, unsure));
}

/// The first packet that the receiver does not take.
uint64_t Sender::behind_window(const TxContext& c, uint64_t wbase) {
  return wbase + (uint64_t{1} << c.span) + 1;
}

/// Whether there is a packet that was not sent yet, or that RESEND FROM went back to, inside the window.
bool Sender::may_send_next(const TxContext& c) {
  if (c.next > c.cut.last) return false;
  return c.span == 0 || c.next <= window_end(c);
}

/// Else all of the first window has been sent.
bool Sender::sends_in_first_window(TxContext c) {
  c.second = false;
  return may_send_next(c);
}

/// The last packet that the receiver takes; with a second window, once the first one has moved on.
uint64_t Sender::window_end(const TxContext& c) {
  return c.acked + (uint64_t{1} << (c.span + (c.second ? 1 : 0)));
}

TxResult Sender::done(const Header& header, const TxInputs& inputs) {
  if (!names_active(header)) return stale(header, inputs);
  if (keeps_window()) return with_context(Outcome::drop_old_ack, header.sid);  // nobody sends such
  const bool failed = (header.flags & formats::flag_failed) != 0;
  TxResult result = with_context(failed ? Outcome::complete_error : Outcome::complete, header.sid);
  complete(result, contexts_[header.sid], failed ? Status::remote_error : Status::ok);
  emit_release(result, header, inputs);
  return result;
}

void Sender::emit_release(TxResult& result, const Header& answered, const TxInputs& inputs,
                          uint8_t flags) const {
  Packet release = release_packet(answered);
  release.header.flags = flags;
  emit(result, inputs.room, std::move(release));
}

// Turn and timeout

TxResult Sender::turn(uint16_t sid, const TxInputs& inputs) {
  if (context(sid).state == State::free) {
    contexts_[sid].turn = false;
    TxResult result;
    result.outcome = Outcome::lapse;
    result.sid = sid;
    return result;
  }
  TxContext& c = contexts_[sid];
  const bool again = c.asked != 0;
  if (c.state != State::active || !c.turn || !(again || may_send_next(c))) {
    c.turn = false;
    return with_context(Outcome::lapse, sid);
  }
  const uint32_t pidx = again ? c.acked + static_cast<uint32_t>(std::countr_zero(c.asked)) : c.next;
  if (keeps_window() && window_full(c)) return with_context(Outcome::lapse, sid);  // its turn comes again
  DataOrder order = data_order(sid, pidx, pidx < c.high);
  if (counts()) count_sent(c, order);
  if (keeps_window()) take_slot(c, order, inputs);
  if (!again && c.next == c.high) {
    progress(c, inputs);
  } else {
    heard(c);
  }
  if (again) {
    c.asked &= c.asked - 1;
  } else {
    c.next += 1;
    c.high = std::max(c.high, c.next);
  }
  c.turn = c.asked != 0 || may_send_next(c);
  TxResult result = with_context(again ? Outcome::send_again : Outcome::send, sid);
  result.data = order;
  return result;
}

TxResult Sender::timeout(uint16_t sid, const TxInputs& inputs) {
  if (!due(sid, inputs.now)) {
    throw Violation("timeout of send context " + std::to_string(sid) + ", which is free or not due");
  }
  TxContext& c = contexts_[sid];
  const bool patient = c.retries < config_.max_retry;
  if (c.state == State::requested && patient) {
    c.retries += 1;
    c.timer.restart(inputs.now, doublings(config_, c.retries));
    TxResult result = with_context(Outcome::retry_rqt, sid);
    emit(result, inputs.room, request_packet(sid));
    return result;
  }
  if (c.state == State::active && c.heard && c.busy < 255) {
    c.retries = 0;
    c.busy += 1;
    c.heard = false;
    c.timer.restart(inputs.now);
    return with_context(Outcome::still_asked, sid);
  }
  if (c.state == State::active && c.turn && patient) {
    c.retries += 1;
    c.timer.restart(inputs.now);
    return with_context(Outcome::still_sending, sid);
  }
  TxResult result = with_context(Outcome::give_up, sid);
  complete(result, c, c.state == State::requested ? Status::no_answer : Status::dead_peer);
  return result;
}

// Fault

TxResult Sender::fault(uint16_t sid, uint32_t msgid, const TxInputs& inputs) {
  if (context(sid).state != State::active || context(sid).msgid != msgid) {
    throw Violation("fault of a transfer that send context " + std::to_string(sid) + " does not have");
  }
  TxResult result = with_context(Outcome::source_failed, sid);
  complete(result, contexts_[sid], Status::source_error);
  Packet release = release_packet(sid);
  release.header.flags = formats::flag_failed;
  emit(result, inputs.room, std::move(release));
  return result;
}

// Common parts

TxResult Sender::with_context(Outcome outcome, uint16_t sid) const {
  TxResult result;
  result.outcome = outcome;
  result.sid = sid;
  result.next = contexts_[sid].next;
  return result;
}

Packet Sender::request_packet(uint16_t sid) const {
  const TxContext& c = contexts_[sid];
  Packet packet;
  packet.header.ptype = static_cast<uint8_t>(Ptype::rqt);
  packet.header.dst = c.dst;
  packet.header.src = config_.node_id;
  packet.header.sid = sid;
  packet.header.msgid = c.msgid;
  packet.header.pidx = c.cut.last * params_.payload + c.cut.last_len;
  packet.header.arg = c.dst_addr;
  name_region(packet.header, region_key(c.rkey));
  if (c.to == Post::To::queue) {
    set_flag(packet.header, TransferFlag::send);
  } else if (c.to == Post::To::ticket) {
    set_flag(packet.header, TransferFlag::read);
  } else if (c.imm) {
    set_flag(packet.header, TransferFlag::imm);
  }
  return packet;
}

/// RELEASE for exactly the receive context that a RSP, RESEND or DONE names.
Packet Sender::release_packet(const Header& answered) const {
  Packet packet;
  packet.header.ptype = static_cast<uint8_t>(Ptype::release);
  packet.header.dst = answered.src;
  packet.header.src = config_.node_id;
  packet.header.sid = answered.sid;
  packet.header.cid = answered.cid;
  packet.header.gen = answered.gen;
  packet.header.msgid = answered.msgid;
  return packet;
}

/// RELEASE for the receive context that this transfer has.
Packet Sender::release_packet(uint16_t sid) const {
  const TxContext& c = contexts_[sid];
  Header named;
  named.src = c.dst;
  named.sid = sid;
  named.cid = c.cid;
  named.gen = c.gen;
  named.msgid = c.msgid;
  return release_packet(named);
}

DataOrder Sender::data_order(uint16_t sid, uint32_t pidx, bool retry) const {
  const TxContext& c = contexts_[sid];
  DataOrder order;
  Header& header = order.header;
  header.ptype = static_cast<uint8_t>(Ptype::data);
  if (pidx == c.cut.last) header.flags |= formats::flag_last;
  if (retry) header.flags |= formats::flag_retry;
  header.dst = c.dst;
  header.src = config_.node_id;
  header.sid = sid;
  header.cid = c.cid;
  header.gen = c.gen;
  header.msgid = c.msgid;
  header.len = static_cast<uint16_t>(packet_length(pidx, c.cut, params_));
  header.pidx = pidx;
  header.arg = c.rkey;
  if (c.imm) {
    set_flag(header, TransferFlag::imm);
    header.arg |= uint64_t{*c.imm} << 32;
  }
  order.src_addr = c.src_addr + uint64_t{pidx} * params_.payload;
  return order;
}

void Sender::complete(TxResult& result, TxContext& c, Status status) {
  if (c.to != Post::To::ticket) result.completion = Completion{c.tag, status};
  c.state = State::free;
  free_ += 1;
}

}  // namespace weft::rdma
