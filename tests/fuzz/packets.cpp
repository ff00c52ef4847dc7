// SPDX-License-Identifier: Apache-2.0
// Makes the packets of a course.
#include "packets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "driver/rdma_driver.hpp"
#include "fabric/random.hpp"
#include "rdma/region.hpp"
#include "rdma_baseline/count.hpp"
#include "rdma_baseline/send_buffer.hpp"
#include "setting.hpp"

namespace weft::fuzz {

namespace formats = rdma::formats;

namespace {

constexpr uint8_t any_context = 0x80;      // in `who`: free or in use, or beyond the last
constexpr uint8_t first_fault = 176;       // in `fault`
constexpr uint8_t first_refusal = 160;     // in `where` of a RSP
constexpr unsigned most_of_a_burst = 48;   // packets
constexpr unsigned stream_of_payload = 1;  // random streams
constexpr unsigned stream_of_burst = 2;
constexpr unsigned stream_of_noise = 3;

uint8_t code(formats::Ptype type) { return static_cast<uint8_t>(type); }

/// One of those in use if there are any; with `any_context` also one beyond the last.
template <typename InUse>
uint16_t pick(uint8_t who, uint32_t contexts, InUse in_use) {
  std::vector<uint16_t> used;
  for (uint32_t index = 0; index < contexts; ++index) {
    if (in_use(static_cast<uint16_t>(index))) used.push_back(static_cast<uint16_t>(index));
  }
  const uint8_t number = who % any_context;
  if (used.empty() || who >= any_context) return static_cast<uint16_t>(number % (contexts + 1));
  return used[number % used.size()];
}

/// Order in which a burst of `count` packets goes.
std::vector<uint32_t> burst_order(unsigned count, uint8_t extra) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  switch (extra % 4) {
    case 0:
      break;
    case 1:
      std::ranges::reverse(order);
      break;
    case 2:  // first the odd ones
      std::stable_partition(order.begin(), order.end(), [](uint32_t at) { return at % 2 == 1; });
      break;
    default:
      RandomStream random(extra, stream_of_burst);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

}  // namespace

uint32_t transfer_bytes(const Step& step, const rdma::Params& params) {
  const uint32_t window = params.window;
  const std::array<uint32_t, 16> packets{1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         8,
                                         9,
                                         16,
                                         window - 1,
                                         window,
                                         window + 1,
                                         window + 2,
                                         2 * window,
                                         2 * window + 1,
                                         2 * window + 2,
                                         3 * window + 5};
  return (packets[step.where % packets.size()] - 1) * params.payload + 1 + step.amount % params.payload;
}

void seal(Flits& flits) {
  edit_header(flits, [](formats::Header& header) { header.crc = 0; });
  const uint32_t crc = rdma::crc32c(flits);
  edit_header(flits, [crc](formats::Header& header) { header.crc = crc; });
}

uint16_t Packets::receive_context(uint8_t who) const {
  return pick(who, params_.n_rx_ctx,
              [this](uint16_t cid) { return receiver_.context(cid).state != rdma::RxContext::State::free; });
}

uint16_t Packets::send_context(uint8_t who) const {
  return pick(who, params_.n_tx_ctx,
              [this](uint16_t sid) { return sender_.context(sid).state != rdma::TxContext::State::free; });
}

/// The packet that a transfer waits for, if all before it have come and none behind.
uint32_t Packets::base(const rdma::RxContext& context) const {
  return params_.scheme == rdma::Scheme::receiver_counter ? context.count.packets : context.window.base;
}

/// Around base(), around the last packet, around the end of the window, or counted from 0.
uint32_t Packets::pidx(const rdma::RxContext& context, uint8_t where) const {
  const uint32_t base = this->base(context);
  if (where < 64) return base + where % (params_.window + 2);
  if (where < 80) return base - (where - 63u);
  if (where < 96) return context.cut.last - (where - 80u);
  if (where < 104) return context.cut.last + (where - 95u);
  if (where < 128) return base + params_.window + where - 116u;
  if (where < 192) return base;
  return where - 192u;
}

Packets::Header Packets::data(const Step& step, uint16_t cid, uint32_t pidx) const {
  const rdma::RxContext& context = receiver_.context(static_cast<uint16_t>(cid % params_.n_rx_ctx));
  Header header;
  header.ptype = code(Ptype::data);
  header.src = context.src;
  header.sid = context.sid;
  header.cid = cid;
  header.gen = context.gen;
  header.msgid = context.msgid;
  header.pidx = pidx;
  const bool is_last = pidx == context.cut.last;
  header.len = static_cast<uint16_t>(is_last ? context.cut.last_len : params_.payload);
  header.flags = is_last ? formats::flag_last : 0;
  if (header.len == 0) header.len = 1;  // of a context that was never used
  header.arg = driver::rdma_rkey(context.region, region_keys[context.region % std::size(region_keys)]);
  if (step.extra & 0x80) header.flags |= formats::flag_retry;
  if (params_.scheme == rdma::Scheme::receiver_counter) number_attempt(header, context, step.extra);
  if (params_.scheme == rdma::Scheme::sender_window)
    rdma::set_slot(header, (step.extra & 0x1c) | pidx % params_.window);
  return header;
}

/// Of scheme receiver_counter: mostly the attempt under way, and in the last packet the right sum.
void Packets::number_attempt(Header& data, const rdma::RxContext& context, uint8_t extra) const {
  const int other = (extra & 0x1c) == 0x1c ? 1 : (extra & 0x1c) == 0x18 ? -1 : 0;
  uint32_t sum = 0;
  for (uint32_t pidx = 0; pidx <= context.cut.last; ++pidx) sum += rdma::mix(pidx);
  rdma::set_attempt(data, static_cast<uint8_t>(context.count.attempt + other), sum);
}

std::vector<Packets::Header> Packets::burst(const Step& step) const {
  const uint16_t cid = receive_context(step.who);
  const uint16_t other = receive_context(static_cast<uint8_t>(step.who + 1));
  const auto context = [this](uint16_t of) -> const rdma::RxContext& {
    return receiver_.context(static_cast<uint16_t>(of % params_.n_rx_ctx));
  };
  const unsigned count = 1 + step.amount % most_of_a_burst;
  const bool both = (step.extra & 0x40) != 0;
  const bool with_hole = (step.extra & 0x20) != 0;
  std::vector<Header> headers;
  for (const uint32_t at : burst_order(count, step.extra)) {
    if (with_hole && at > 0 && at == count / 2) continue;
    headers.push_back(data(step, cid, pidx(context(cid), step.where) + at));
    if (both) headers.push_back(data(step, other, pidx(context(other), step.where) + at));
  }
  return headers;
}

Packets::Header Packets::request(const Step& step) const {
  Header header;
  header.ptype = code(Ptype::rqt);
  header.src = static_cast<uint16_t>((step.who >> 4) % (1u << params_.node_bits));
  header.sid = static_cast<uint16_t>(step.who % (1u << params_.sid_bits));
  header.msgid = step.extra % (1u << params_.msgid_bits);
  header.pidx = transfer_bytes(step, params_);
  header.arg = region_base + uint64_t{step.extra} * params_.payload;
  header.gen = step.amount >> 7;
  header.cid = region_keys[header.gen];
  if (step.fault < first_fault || step.fault % 2 == 0) return header;
  switch (step.fault / 2 % 10) {
    case 0:
      header.pidx = 0;
      break;
    case 1:
      header.pidx = ((1u << params_.pidx_bits) - 1) * params_.payload;  // the most that can be numbered
      break;
    case 2:
      header.pidx = ((1u << params_.pidx_bits) - 1) * params_.payload + 1;
      break;
    case 3:
      header.arg += 1u << step.amount % std::max<unsigned>(1, std::bit_width(params_.payload - 1));
      break;
    case 4:
      header.arg = region_base - params_.payload;
      break;
    case 5:  // the last that fits, or one byte more
      header.pidx = params_.payload + step.amount % 2;
      header.arg = region_base + region_bytes - params_.payload;
      break;
    case 6:
      header.arg = (uint64_t{1} << params_.addr_bits) - params_.payload;
      break;
    case 7:
      header.cid = static_cast<uint16_t>(header.cid ^ 1u << step.extra % 16);
      break;
    case 8:
      header.gen = static_cast<uint8_t>(header.gen ^ 1u << step.extra % 8);
      break;
    default:
      header.arg |= uint64_t{1} << (40 + step.amount % 24);
  }
  return header;
}

Packets::Header Packets::release(const Step& step) const {
  Header header = data(step, receive_context(step.who), 0);
  header.ptype = code(Ptype::release);
  header.len = 0;
  header.flags = step.extra & 8 ? formats::flag_failed : 0;
  return header;
}

/// RSP, RESEND, ACK, DONE as the receiver of this transfer would send them.
Packets::Header Packets::to_sender(const Step& step, Ptype type) const {
  const uint16_t sid = send_context(step.who);
  const rdma::TxContext& context = sender_.context(static_cast<uint16_t>(sid % params_.n_tx_ctx));
  const bool asks = context.state == rdma::TxContext::State::requested;
  const uint64_t span = std::bit_width(params_.window) - 1u - (step.extra & 0x10 ? step.extra % 4 : 0);
  Header header;
  header.ptype = code(type);
  header.src = context.dst;
  header.sid = sid;
  header.msgid = context.msgid;
  header.cid = asks ? static_cast<uint16_t>(step.amount % (1u << params_.cid_bits)) : context.cid;
  header.gen = asks ? step.extra : context.gen;
  switch (type) {
    case Ptype::rsp:
      header.pidx = step.extra & 0x80 ? 0 : static_cast<uint32_t>(span);
      if (step.where >= first_refusal) header.arg = (step.where - first_refusal) % 8;
      break;
    case Ptype::resend:
      header.pidx = step.where < 192 ? context.high - step.where % 16 : context.high + step.where % 4;
      if (step.amount & 0x40) header.flags |= formats::flag_from;
      if (params_.scheme != rdma::Scheme::receiver_window) ask_attempt(header, context, step);
      break;
    case Ptype::ack:
      header.pidx = step.where < 192 ? context.acked + step.where % 64 : context.acked - step.where % 8;
      header.arg =
          span << rdma::ack_map_bits | (step.amount * uint64_t{0x0001'0201'0401'0081} & rdma::ack_map_mask);
      if (step.extra & 0x20) header.flags |= formats::flag_order;
      if (params_.scheme == rdma::Scheme::sender_window) answer_slot(header, context, step);
      break;
    default:
      if (step.amount & 0x40) header.flags |= formats::flag_failed;
  }
  return header;
}

/// Of the older schemes: mostly the next attempt, whether or not any packet has come.
void Packets::ask_attempt(Header& resend, const rdma::TxContext& context, const Step& step) const {
  const int ahead = step.where < 192 ? 1 : step.where % 4 - 1;
  rdma::Count count;
  count.attempt = static_cast<uint8_t>(context.attempt + ahead);
  count.came = (step.amount & 0x20) == 0;
  resend.arg = rdma::asking(count);
}

/// Of scheme sender_window: the answer to a packet that waits for one behind this context's destination.
void Packets::answer_slot(Header& ack, const rdma::TxContext& context, const Step& step) const {
  const rdma::SendBuffer& buffer = sender_.buffer(context.dst % sender_.buffers());
  for (uint32_t i = 0; i < params_.window; ++i) {
    const uint32_t slot = (step.where + i) % params_.window;
    const Header* sent = buffer.waits(slot);
    if (!sent) continue;
    const rdma::TxContext& sender = sender_.context(sent->sid);
    ack.src = sender.dst;
    ack.sid = sent->sid;
    ack.msgid = sent->msgid;
    ack.cid = sender.cid;
    ack.gen = sender.gen;
    ack.pidx = sent->pidx;
    ack.arg = slot;
    break;
  }
  if (step.amount & 0x40) ack.flags |= formats::flag_failed;
}

Packets::Header Packets::noise(const Step& step) const {
  RandomStream random(step.extra | step.amount << 8 | step.where << 16, stream_of_noise);
  Header header;
  header.ptype = static_cast<uint8_t>(1 + random.below(7));
  header.flags = static_cast<uint8_t>(random.below(256) & formats::flag_all);
  header.src = static_cast<uint16_t>(random.below(1u << params_.node_bits));
  header.sid = static_cast<uint16_t>(random.below(1u << params_.sid_bits));
  header.cid = static_cast<uint16_t>(random.below(1u << params_.cid_bits));
  header.gen = static_cast<uint8_t>(random.below(4));
  header.msgid = static_cast<uint32_t>(random.below(1u << params_.msgid_bits));
  header.pidx = static_cast<uint32_t>(random.next());
  header.arg = random.next();
  if (header.ptype == code(Ptype::data))
    header.len = static_cast<uint16_t>(1 + random.below(params_.payload));
  return header;
}

/// One field wrong; the next bit up if that is what makes it wrong.
void Packets::spoil(Header& header, const Step& step) const {
  if (step.fault < first_fault) return;
  const uint8_t value = step.extra;
  const auto flip16 = [](uint16_t& field, unsigned bit) {
    field = static_cast<uint16_t>(field ^ (1u << bit));
  };
  const auto flip_beyond = [&](uint16_t& field, unsigned width) {
    if (width < 16) flip16(field, width + value % (16 - width));
  };
  switch ((step.fault - first_fault) / 2 % 22) {
    case 0:
      flip16(header.src, value % params_.node_bits);
      break;
    case 1:
      flip16(header.sid, value % params_.sid_bits);
      break;
    case 2:
      header.msgid ^= 1u << value % params_.msgid_bits;
      break;
    case 3:
      header.gen = static_cast<uint8_t>(header.gen - 1);
      break;
    case 4:
      header.gen = static_cast<uint8_t>(header.gen ^ 1u << value % 8);
      break;
    case 5:
      flip16(header.cid, value % params_.cid_bits);
      break;
    case 6:
      flip_beyond(header.cid, params_.cid_bits);
      break;
    case 7:
      flip_beyond(header.src, params_.node_bits);
      break;
    case 8:
      flip_beyond(header.sid, params_.sid_bits);
      break;
    case 9:
      if (params_.msgid_bits < 24)
        header.msgid ^= 1u << (params_.msgid_bits + value % (24 - params_.msgid_bits));
      break;
    case 10:
      flip16(header.dst, value % 16);
      break;
    case 11:
      header.flags = static_cast<uint8_t>(header.flags ^ formats::flag_last);
      break;
    case 12:
      header.flags = static_cast<uint8_t>(header.flags ^ 1u << value % 8);
      break;
    case 13:
      header.len = static_cast<uint16_t>(header.len + 1);
      break;
    case 14:
      header.len = static_cast<uint16_t>(header.len - 1);
      break;
    case 15:
      header.len = static_cast<uint16_t>(value);
      break;
    case 16:
      header.len = static_cast<uint16_t>(header.len ^ 1u << value % 16);
      break;
    case 17:
      header.ptype = value;
      break;
    case 18:
      header.ptype = static_cast<uint8_t>(1 + value % 7);
      break;
    case 19:
      header.arg ^= 1u << value % rdma::rkey_bits;
      break;
    case 20:
      header.arg ^= 1u << 16;  // the other region
      break;
    default:
      header.pidx ^= 1u << value % 32;
  }
}

/// The flits that `len` asks for, as far as a packet may be long; the padding is zero.
Flits Packets::flits(const Header& header, uint8_t seed) const {
  RandomStream random(seed, stream_of_payload);
  const std::size_t bytes = std::min<std::size_t>(header.len, params_.payload);
  Flits flits(rdma::flit_bytes * (1 + (bytes + rdma::flit_bytes - 1) / rdma::flit_bytes));
  const auto packed = formats::pack(header);
  std::ranges::copy(packed, flits.begin());
  for (std::size_t i = 0; i < bytes; ++i) {
    flits[rdma::flit_bytes + i] = static_cast<uint8_t>(random.next());
  }
  seal(flits);
  return flits;
}

std::vector<Flits> Packets::make(const Step& step, uint16_t node) const {
  std::vector<Header> headers;
  switch (step.act) {
    case Act::data: {
      const uint16_t cid = receive_context(step.who);
      const auto& context = receiver_.context(static_cast<uint16_t>(cid % params_.n_rx_ctx));
      headers = {data(step, cid, pidx(context, step.where))};
      break;
    }
    case Act::burst:
      headers = burst(step);
      break;
    case Act::request:
      headers = {request(step)};
      break;
    case Act::release:
      headers = {release(step)};
      break;
    case Act::rsp:
      headers = {to_sender(step, Ptype::rsp)};
      break;
    case Act::resend:
      headers = {to_sender(step, Ptype::resend)};
      break;
    case Act::ack:
      headers = {to_sender(step, Ptype::ack)};
      break;
    case Act::done:
      headers = {to_sender(step, Ptype::done)};
      break;
    case Act::noise:
      headers = {noise(step)};
      break;
    default:
      return {};
  }
  for (Header& header : headers) header.dst = node;
  if (step.act != Act::request || step.fault % 2 == 0) spoil(headers.front(), step);
  std::vector<Flits> packets;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    packets.push_back(flits(headers[i], static_cast<uint8_t>(step.extra + i)));
  }
  return packets;
}

}  // namespace weft::fuzz
