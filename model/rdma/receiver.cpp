// SPDX-License-Identifier: Apache-2.0
// The receiver's decisions, in the order of docs/rdma.md.
#include "rdma/receiver.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "rdma/packet.hpp"
#include "rdma/region.hpp"
#include "rdma/request.hpp"
#include "rdma/timeouts.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Refusal;
using formats::TransferFlag;
using State = RxContext::State;

namespace {

/// What the context's field of `bits` bits keeps of a value.
uint32_t kept(uint32_t value, uint32_t bits) {
  return value & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}

/// Whether a RQT is for a buffer that the receiving side chooses, so that its RSP has to name the key.
bool for_buffer(const Header& request, const Params& params) {
  return params.transfers && (has_flag(request, TransferFlag::send) || has_flag(request, TransferFlag::read));
}

bool has_imm(const Header& request, const Params& params) {
  return params.transfers && has_flag(request, TransferFlag::imm);
}

uint32_t log2_window(const Params& params) { return static_cast<uint32_t>(std::countr_zero(params.window)); }

/// Packets between two ACKs that say nothing but how far the window has come.
uint32_t ack_step(const Params& params) { return std::max(params.window / 4, 1u); }

/// WVEC bit i, from 1 on.
bool has_come(const Window& window, uint32_t i) {
  return (window.bits[(i - 1) / 64] >> ((i - 1) % 64) & 1) != 0;
}

}  // namespace

Receiver::Receiver(Params params, Config config) : params_(params) {
  validate(params_);
  configure(std::move(config));
  reset();
}

void Receiver::configure(Config config) {
  validate(config, params_);
  config_ = std::move(config);
}

void Receiver::reset() {
  RxContext fresh;
  fresh.window = empty_window(params_.window);
  contexts_.assign(params_.n_rx_ctx, fresh);
  free_ = params_.n_rx_ctx;
  held_.assign(params_.n_sources, 0);
}

const RxContext& Receiver::context(uint16_t cid) const {
  if (cid >= contexts_.size()) throw Violation("there is no receive context " + std::to_string(cid));
  return contexts_[cid];
}

bool Receiver::due(uint16_t cid, uint16_t now) const {
  const RxContext& c = context(cid);
  return c.state != State::free && c.timer.due(now, config_.rx_timeout);
}

uint32_t Receiver::longest_overdue(uint16_t now) const {
  uint32_t longest = 0;
  for (const RxContext& c : contexts_) {
    if (c.state != State::free) longest = std::max(longest, c.timer.overdue(now, config_.rx_timeout));
  }
  return longest;
}

RxResult Receiver::drop(Outcome verdict) {
  if (verdict != Outcome::drop_crc && verdict != Outcome::drop_malformed &&
      verdict != Outcome::drop_not_mine) {
    throw Violation("arrival checks do not drop a packet with " + std::string(formats::name(verdict)));
  }
  return without_context(verdict, 0);
}

RxResult Receiver::packet(const Packet& packet, const RxInputs& inputs) {
  switch (static_cast<Ptype>(packet.header.ptype)) {
    case Ptype::rqt:
      return request(packet.header, inputs);
    case Ptype::data:
      return data(packet, inputs);
    case Ptype::release:
      return release(packet.header, inputs);
    case Ptype::read:
      return read(packet.header, inputs);
    case Ptype::rsp:
      return turned_away(packet.header, inputs);
    default:
      throw Violation("the receiver takes RQT, DATA, RELEASE and READ only");
  }
}

// RQT

/// What the inbox said stands in the request from here on, whatever becomes of it.
RxResult Receiver::request(Header request, const RxInputs& inputs) {
  const Admission& admission = inputs.admission;
  if (admission.kind == Admission::Kind::again) request.cid = admission.cid;
  if (admission.kind == Admission::Kind::buffer) {
    request.arg = admission.address;
    name_region(request, admission.rkey);
  }
  if (!inputs.room) return without_context(Outcome::drop_busy, request.cid);
  if (admission.kind == Admission::Kind::none && for_buffer(request, params_) && cut(request.pidx, params_)) {
    throw Violation("a request for a buffer that the inbox was not asked about");
  }
  if (admission.kind == Admission::Kind::drop) return without_context(Outcome::drop_asked, request.cid);
  if (admission.kind == Admission::Kind::refuse) {
    return refuse(request, admission.refusal, refusal_code(admission.refusal));
  }
  if (admission.kind == Admission::Kind::again) return grant_again(request, inputs);
  if (admission.kind == Admission::Kind::buffer) {
    const auto code = admission.of_read ? Refusal::not_wanted : Refusal::not_ready;
    if (request_fault(request, Use::receive, config_, params_)) {
      return refuse(request, Outcome::refuse_buffer, code);
    }
  } else if (const auto outcome = request_fault(request, Use::remote_write, config_, params_)) {
    return refuse(request, *outcome, refusal_code(*outcome));
  } else if (admission.kind == Admission::Kind::none && has_imm(request, params_)) {
    return without_context(Outcome::drop_asked, request.cid);  // no ticket for its immediate
  }
  if (const auto outcome = want_of_context(inputs)) return refuse(request, *outcome, refusal_code(*outcome));
  return grant(request, inputs);
}

std::optional<Outcome> Receiver::want_of_context(const RxInputs& inputs) const {
  if (config_.rx_quota != 0 && inputs.over_quota) return Outcome::refuse_quota;
  if (!inputs.offer) return Outcome::refuse_no_context;
  return std::nullopt;
}

RxResult Receiver::refuse(const Header& request, Outcome outcome, Refusal code) const {
  RxResult result = without_context(outcome, request.cid);
  Packet response;
  response.header.ptype = static_cast<uint8_t>(Ptype::rsp);
  response.header.dst = request.src;
  response.header.src = config_.node_id;
  response.header.sid = request.sid;
  response.header.msgid = request.msgid;
  response.header.arg = static_cast<uint64_t>(code);
  if (request.ptype == static_cast<uint8_t>(Ptype::read)) {
    set_flag(response.header, TransferFlag::read);
  } else if (for_buffer(request, params_)) {
    set_flag(response.header, TransferFlag::send);
  }
  result.emitted = response;
  return result;
}

/// The answer to a request that was granted before, unless that context is over, or has got a packet: who has
/// sent one has the RSP. No sign of life: whoever repeats a request could keep the context for ever.
RxResult Receiver::grant_again(const Header& request, const RxInputs& inputs) const {
  const uint16_t cid = inputs.admission.cid;
  const RxContext& granted = context(cid);
  const bool same = granted.state != State::free && request.src == granted.src &&
                    request.sid == granted.sid && request.msgid == granted.msgid;
  if (!same || !untouched(granted)) return without_context(Outcome::drop_asked, request.cid);
  RxResult result = with_context(Outcome::grant_again, cid);
  result.emitted = granting(cid, request, inputs.admission.rkey);
  return result;
}

/// RSP for a context. It names the requester as it named itself, even if the context could not keep all of
/// that; `buffer`: what the transfer must name if it could not know.
Packet Receiver::granting(uint16_t cid, const Header& request, RegionKey buffer) const {
  Packet response = to_sender(Ptype::rsp, cid);
  response.header.dst = request.src;
  response.header.sid = request.sid;
  response.header.msgid = request.msgid;
  response.header.arg = static_cast<uint64_t>(Refusal::granted);
  if (config_.weft_mode && params_.scheme == Scheme::receiver_window)
    response.header.pidx = log2_window(params_);
  if (for_buffer(request, params_)) {
    set_flag(response.header, TransferFlag::send);
    response.header.arg |= uint64_t{rkey(buffer)} << 32;
  }
  return response;
}

RxResult Receiver::grant(const Header& request, const RxInputs& inputs) {
  const uint16_t cid = *inputs.offer;
  if (context(cid).state != State::free) {
    throw Violation("receive context " + std::to_string(cid) + " is offered but in use");
  }
  if (config_.rx_quota != 0 && held_by(request.src) >= config_.rx_quota) {
    throw Violation("source " + std::to_string(request.src) + " gets more contexts than its quota");
  }
  RxContext& c = contexts_[cid];
  RxContext granted;
  granted.state = State::active;
  granted.gen = static_cast<uint8_t>(c.gen + 1);
  granted.src = static_cast<uint16_t>(kept(request.src, params_.node_bits));
  granted.sid = static_cast<uint16_t>(kept(request.sid, params_.sid_bits));
  granted.msgid = kept(request.msgid, params_.msgid_bits);
  granted.region = requested_region(request).region;
  granted.use = inputs.admission.kind == Admission::Kind::buffer ? Use::receive : Use::remote_write;
  granted.offset = request.arg - config_.regions[granted.region].base;
  granted.cut = *cut(request.pidx, params_);
  granted.window = empty_window(params_.window);
  granted.timer.restart(inputs.now);
  c = granted;
  free_ -= 1;
  held(c.src) += 1;

  RxResult result = with_context(Outcome::grant, cid);
  result.emitted = granting(cid, request, requested_region(request));
  return result;
}

// READ

RxResult Receiver::read(const Header& request, const RxInputs& inputs) const {
  if (!inputs.room) return without_context(Outcome::drop_busy, request.cid);
  if (const auto outcome = request_fault(request, Use::remote_read, config_, params_)) {
    return refuse(request, *outcome, refusal_code(*outcome));
  }
  if (inputs.answer_asked) return without_context(Outcome::drop_asked, request.cid);
  if (!inputs.answer_room) {
    return refuse(request, Outcome::refuse_answers, refusal_code(Outcome::refuse_answers));
  }
  RxResult result = without_context(Outcome::read_taken, request.cid);
  result.read = ReadOrder{request.arg, request.pidx, request.src, request.sid, request.msgid};
  return result;
}

/// A refusal of a READ for which the inbox has no room.
RxResult Receiver::turned_away(const Header& refusal, const RxInputs& inputs) const {
  if (!for_inbox(refusal)) throw Violation("the receiver takes no RSP but refusals of READs");
  if (inputs.room) throw Violation("a refusal of a READ that the inbox had room for");
  return without_context(Outcome::drop_busy, refusal.cid);
}

// DATA

/// The drop of a DATA or RELEASE that does not belong to the context that it names, nothing if it does.
std::optional<RxResult> Receiver::rejection(const Header& header) const {
  const bool exists = header.cid < contexts_.size() && contexts_[header.cid].state != State::free;
  if (!exists) return without_context(Outcome::drop_unknown_cid, header.cid);
  const RxContext& c = contexts_[header.cid];
  if (header.src != c.src) return with_context(Outcome::drop_source, header.cid);
  if (header.sid != c.sid) return with_context(Outcome::drop_sid, header.cid);
  if (header.msgid != c.msgid) return with_context(Outcome::drop_msgid, header.cid);
  if (header.gen != c.gen) return with_context(Outcome::drop_zombie, header.cid);
  return std::nullopt;
}

RxResult Receiver::data(const Packet& packet, const RxInputs& inputs) {
  const Header& header = packet.header;
  if (packet.payload.size() != header.len) throw Violation("DATA whose payload is not header.len bytes");
  if (auto rejected = rejection(header)) return *rejected;
  const RxContext& c = contexts_[header.cid];
  const Region* region = region_for(c.use, config_, region_key(header.arg));
  if (!region || region_key(header.arg).region != c.region)
    return with_context(Outcome::drop_key, header.cid);
  if (header.pidx > c.cut.last) return with_context(Outcome::drop_beyond_end, header.cid);
  const bool is_last = header.pidx == c.cut.last;
  if (header.len != packet_length(header.pidx, c.cut, params_)) {
    return with_context(Outcome::drop_bad_length, header.cid);
  }
  if (has_flag(header, formats::flag_last) != is_last) {
    return with_context(Outcome::drop_last_mark, header.cid);
  }
  const uint64_t address = region->base + c.offset + uint64_t{header.pidx} * params_.payload;
  if (!holds(*region, address, header.len)) return with_context(Outcome::drop_region, header.cid);
  if (counts()) return count_packet(packet, address, inputs);
  if (answers_each()) return answer_packet(packet, address, inputs);
  switch (classify(c.window, params_.window, header.pidx)) {
    case Place::received:
      return with_context(Outcome::drop_duplicate, header.cid);
    case Place::beyond: {
      RxResult result = with_context(Outcome::drop_window, header.cid);
      if (config_.weft_mode) return result;  // who keeps within the window never comes here
      Packet resend = to_sender(Ptype::resend, header.cid);
      resend.header.pidx = header.pidx;
      emit_control(result, inputs.room, resend);
      return result;
    }
    case Place::ahead:
    case Place::at_base:
      break;
  }
  return keep(packet, address, inputs);
}

/// DATA that is new and inside the window: host write and window update.
RxResult Receiver::keep(const Packet& packet, uint64_t address, const RxInputs& inputs) {
  const Header& header = packet.header;
  RxContext& c = contexts_[header.cid];
  const uint32_t base = c.window.base;
  c.silent = 0;
  c.window = receive(std::move(c.window), params_.window, header.pidx);

  RxResult result = with_context(Outcome::accept, header.cid);
  result.write = HostWrite{address, packet.payload};
  if (header.pidx == base) {
    finish_or_advance(result, c, header, inputs);
  } else {
    ask_hole(result, c, header.pidx, inputs);
  }
  const uint32_t step = ack_step(params_);
  const bool tell =
      config_.weft_mode && result.outcome == Outcome::advance && base / step != c.window.base / step;
  if (tell) emit_control(result, inputs.room, ack(header.cid, 0));
  return result;
}

/// Weft mode: RESEND for the packet that this one is RX_AHEAD ahead of, if that is missing.
void Receiver::ask_hole(RxResult& result, RxContext& c, uint32_t pidx, const RxInputs& inputs) const {
  if (!config_.weft_mode || config_.rx_ahead == 0 || pidx < c.window.base + config_.rx_ahead) return;
  const uint32_t hole = pidx - config_.rx_ahead;
  if (hole == c.window.base) {
    c.timer.restart(inputs.now);
  } else if (has_come(c.window, hole - c.window.base)) {
    return;
  }
  Packet resend = to_sender(Ptype::resend, result.cid);
  resend.header.pidx = hole;
  emit_control(result, inputs.room, resend);
}

void Receiver::finish_or_advance(RxResult& result, RxContext& c, const Header& header,
                                 const RxInputs& inputs) const {
  if (!has_flag(header, formats::flag_retry)) c.asks = 0;
  c.timer.restart(inputs.now);
  if (c.window.base != c.cut.last + 1) {
    result.outcome = Outcome::advance;
    return;
  }
  c.state = State::done;
  c.asks = 0;
  result.outcome = Outcome::finish;
  emit_control(result, inputs.room, to_sender(Ptype::done, header.cid));
}

// RELEASE

RxResult Receiver::release(const Header& header, const RxInputs& inputs) {
  if (auto rejected = rejection(header)) return *rejected;
  if (answers_each() && has_flag(header, formats::flag_retry)) return keep_waiting(header.cid, inputs);
  free(contexts_[header.cid]);
  const bool failed = (header.flags & formats::flag_failed) != 0;
  return with_context(failed ? Outcome::released_failed : Outcome::released, header.cid);
}

// Timeout

RxResult Receiver::timeout(uint16_t cid, const RxInputs& inputs) {
  if (!due(cid, inputs.now)) {
    throw Violation("timeout of receive context " + std::to_string(cid) + ", which is free or not due");
  }
  RxContext& c = contexts_[cid];
  if (c.silent >= config_.max_silent) {
    free(c);
    return with_context(Outcome::reclaim, cid);
  }
  c.silent += 1;
  c.timer.restart(inputs.now, doublings(config_, c.silent));
  RxResult result = with_context(Outcome::none, cid);
  if (c.state == State::done) {
    result.outcome = Outcome::done_again;
    emit_control(result, inputs.room, to_sender(Ptype::done, cid));
  } else if (counts()) {
    ask_all(result, c, inputs);
  } else if (answers_each()) {
    ask_whether_of_use(result, c, inputs);
  } else if (config_.weft_mode) {
    ask_map(result, c, inputs);
  } else {
    ask(result, c, inputs);
  }
  return result;
}

/// ACK that asks for the packet at WBASE and for all others that are missing below one that has come. FROM if
/// none has, and there was a timeout since WBASE moved by a packet that was not sent again.
void Receiver::ask_map(RxResult& result, RxContext& c, const RxInputs& inputs) const {
  uint32_t highest = 0;  // position of the last packet that has come, relative to WBASE
  for (uint32_t i = 1; i <= params_.window; ++i) {
    if (has_come(c.window, i)) highest = i;
  }
  uint64_t map = 1;
  for (uint32_t i = 1; i < std::min(highest, ack_map_bits); ++i) {
    if (!has_come(c.window, i)) map |= uint64_t{1} << i;
  }
  result.outcome = Outcome::ask_map;
  Packet packet = ack(result.cid, map);
  if (highest == 0 && c.asks != 0 && !untouched(c)) packet.header.flags |= formats::flag_from;
  if (c.asks == 0) c.asks = 1;
  emit_control(result, inputs.room, std::move(packet));
}

Packet Receiver::ack(uint16_t cid, uint64_t map) const {
  Packet packet = to_sender(Ptype::ack, cid);
  packet.header.pidx = contexts_[cid].window.base;
  packet.header.arg = map | uint64_t{log2_window(params_)} << ack_map_bits;
  if (config_.rx_ahead != 0 && config_.rx_ahead <= params_.window + 1)
    packet.header.flags = formats::flag_order;
  return packet;
}

/// RESEND for the packet at WBASE, or after too many of these in vain for all from there on.
void Receiver::ask(RxResult& result, RxContext& c, const RxInputs& inputs) const {
  Packet resend = to_sender(Ptype::resend, result.cid);
  resend.header.pidx = c.window.base;
  if (c.asks >= config_.ask_from_after) {
    resend.header.flags = formats::flag_from;
    result.outcome = Outcome::ask_from;
  } else {
    c.asks += 1;
    result.outcome = Outcome::ask_one;
  }
  emit_control(result, inputs.room, resend);
}

// Common parts

RxResult Receiver::without_context(Outcome outcome, uint16_t cid) const {
  RxResult result;
  result.outcome = outcome;
  result.cid = cid;
  result.wvec = empty_window(params_.window).bits;
  return result;
}

RxResult Receiver::with_context(Outcome outcome, uint16_t cid) const {
  RxResult result;
  result.outcome = outcome;
  result.cid = cid;
  const RxContext& c = contexts_[cid];
  result.wbase = counts() ? c.count.packets : c.window.base;  // of sender_window 0
  result.wvec = counts() ? empty_window(params_.window).bits : c.window.bits;
  if (counts()) result.wvec[0] = trace_bits(c.count);
  return result;
}

/// No packet has come.
bool Receiver::untouched(const RxContext& c) const {
  return params_.scheme == Scheme::receiver_window ? c.window == empty_window(params_.window) : !c.count.came;
}

/// Queue a control packet, or count it as dropped.
void Receiver::emit_control(RxResult& result, bool room, Packet packet) {
  if (room) {
    result.emitted = std::move(packet);
  } else {
    result.ctl_dropped = true;
  }
}

Packet Receiver::to_sender(Ptype type, uint16_t cid) const {
  const RxContext& c = contexts_[cid];
  Packet packet;
  packet.header.ptype = static_cast<uint8_t>(type);
  packet.header.dst = c.src;
  packet.header.src = config_.node_id;
  packet.header.sid = c.sid;
  packet.header.cid = cid;
  packet.header.gen = c.gen;
  packet.header.msgid = c.msgid;
  return packet;
}

void Receiver::free(RxContext& c) {
  c.state = State::free;
  free_ += 1;
  held(c.src) -= 1;
}

}  // namespace weft::rdma
