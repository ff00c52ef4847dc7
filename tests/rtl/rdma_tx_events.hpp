// SPDX-License-Identifier: Apache-2.0
// Random events for rdma_tx_decide, most of them at an edge: a number equal to its limit or next to it, a
// packet that fits its context but for one bit.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "rdma_tx_decide.hpp"

namespace weft::rtl_test {

class RandomTxEvents {
 public:
  RandomTxEvents(const rdma::Params& params, TxDecideBench& bench) : params_(params), bench_(bench) {}

  TxEvent next();

 private:
  uint64_t edge(std::initializer_list<uint64_t> values) {
    return std::data(values)[bench_.below(values.size())];
  }

  rdma::TxContext random_context();
  rdma::formats::Header random_header(const rdma::TxContext& context);
  void spoil(rdma::formats::Header& header);
  uint64_t random_map(uint64_t bits);
  uint64_t random_address(uint32_t bytes);
  rdma::Post::To random_to() { return static_cast<rdma::Post::To>(bench_.below(3)); }
  std::optional<uint32_t> random_imm();
  uint64_t random_code(const rdma::TxContext& context, uint8_t& flags);
  rdma::Post random_post();

  const rdma::Params& params_;
  TxDecideBench& bench_;
};

inline rdma::TxContext RandomTxEvents::random_context() {
  using State = rdma::TxContext::State;
  const auto most = (uint32_t{1} << params_.pidx_bits) - 2;
  rdma::TxContext c;
  c.state =
      std::array{State::free, State::requested, State::active, State::active, State::active}[bench_.below(5)];
  c.dst = static_cast<uint16_t>(bench_.below(1u << params_.node_bits));
  c.cid = static_cast<uint16_t>(bench_.below(1u << params_.cid_bits));
  c.gen = static_cast<uint8_t>(bench_.below(256));
  c.msgid = static_cast<uint32_t>(bench_.below(1u << params_.msgid_bits));
  c.tag = static_cast<uint16_t>(bench_.below(1 << 16));
  c.rkey = static_cast<uint32_t>(bench_.below(1 << 24));
  c.cut.last = static_cast<uint32_t>(edge({0, 1, bench_.below(8), most, bench_.below(most + 1)}));
  c.cut.last_len = static_cast<uint32_t>(edge({1, params_.payload, 1 + bench_.below(params_.payload)}));
  const uint64_t pages =
      (uint64_t{1} << params_.addr_bits) / params_.payload;  // of which the transfer takes last + 1
  const uint64_t highest = pages - c.cut.last - 1;
  c.src_addr = edge({0, highest, bench_.below(highest + 1)}) * params_.payload;
  c.dst_addr = edge({0, highest, bench_.below(highest + 1)}) * params_.payload;
  c.high = static_cast<uint32_t>(edge({c.cut.last, c.cut.last + 1, bench_.below(c.cut.last + 2)}));
  c.next = static_cast<uint32_t>(edge({0, c.high, c.high, bench_.below(c.high + 1)}));
  c.span = static_cast<uint8_t>(edge({0, 0, 1, 2, 7, 15}));
  c.second = c.span != 0 && bench_.chance(40);
  c.hole = c.span != 0 && bench_.chance(40);
  const uint32_t windows = (c.second ? 2u : 1u) << c.span;
  c.acked =
      static_cast<uint32_t>(edge({0, c.high, bench_.below(c.high + 1u), c.next - std::min(c.next, windows),
                                  c.next - std::min(c.next, windows + 1)}));
  c.asked = bench_.chance(60) ? 0 : random_map(c.high - c.acked);
  c.retries = static_cast<uint8_t>(bench_.below(16));
  c.busy = static_cast<uint8_t>(edge({0, 1, 2, 3, 4, 15, 16, 254, 255, bench_.below(256)}));
  c.heard = bench_.chance(50);
  c.turn = bench_.chance(50);
  c.to = random_to();
  c.imm = random_imm();
  return c;
}

inline std::optional<uint32_t> RandomTxEvents::random_imm() {
  if (bench_.chance(50)) return std::nullopt;
  return static_cast<uint32_t>(edge({0, 0xffffffff, bench_.below(uint64_t{1} << 32)}));
}

/// Of a RSP, with a key if one is due; now and then with none or a surplus one, or with nonsense above the
/// code.
inline uint64_t RandomTxEvents::random_code(const rdma::TxContext& c, uint8_t& flags) {
  const auto send = static_cast<uint8_t>(rdma::formats::TransferFlag::send);
  const bool due = c.to != rdma::Post::To::region;
  flags = static_cast<uint8_t>(due != bench_.chance(15) ? flags | send : flags & ~send);
  const uint64_t code =
      edge({0, 0, 0, 1, 32, 33, bench_.below(12), bench_.below(40), uint64_t{1} << bench_.below(32)});
  const uint64_t above = bench_.below(uint64_t{1} << 32) << 32;
  if ((flags & send) != 0) return code | above;
  return bench_.chance(80) ? code : code | uint64_t{1} << edge({32, 63, 32 + bench_.below(32)});
}

/// Fits the context, or differs from it in one bit of one field.
inline rdma::formats::Header RandomTxEvents::random_header(const rdma::TxContext& c) {
  using rdma::formats::Ptype;
  rdma::formats::Header h =
      fitting_header(c, std::array{Ptype::rsp, Ptype::rsp, Ptype::resend, Ptype::resend, Ptype::done,
                                   Ptype::ack, Ptype::ack, Ptype::ack}[bench_.below(8)]);
  h.sid = static_cast<uint16_t>(bench_.below(params_.n_tx_ctx));
  h.flags = static_cast<uint8_t>(bench_.below(256));
  h.pidx = static_cast<uint32_t>(
      edge({c.high - 1u, c.high, c.high + 1u, c.next, c.next - 1u, 0, c.cut.last, bench_.below(c.high + 1u),
            c.acked, c.acked - 1u, c.acked + (1u << c.span) - 1, c.acked + (1u << c.span),
            c.next - (1u << c.span) - 1, c.next - (1u << c.span) - 2,
            c.next | uint32_t{1} << params_.pidx_bits, c.next | uint32_t{1} << bench_.below(32)}));
  if (h.ptype == static_cast<uint8_t>(Ptype::ack)) {
    h.pidx = static_cast<uint32_t>(
        edge({c.acked, c.acked + 1u, c.acked - 1u, c.high, c.high + 1u, h.pidx, bench_.below(c.high + 1u),
              c.next - (1u << c.span), c.next - (1u << c.span) - 1, c.next - (1u << c.span) - 2}));
    h.arg =
        bench_.below(256) << rdma::ack_map_bits | (bench_.chance(30) ? 0 : random_map(rdma::ack_map_bits));
    spoil(h);
    return h;
  }
  h.arg = random_code(c, h.flags);
  spoil(h);
  return h;
}

/// Some of the lowest `bits` bits.
inline uint64_t RandomTxEvents::random_map(uint64_t bits) {
  const uint64_t all = bits >= rdma::ack_map_bits ? rdma::ack_map_mask : (uint64_t{1} << bits) - 1;
  const uint64_t one =
      bits == 0 ? 0 : uint64_t{1} << bench_.below(std::min<uint64_t>(bits, rdma::ack_map_bits));
  return edge({all, one, bench_.below(~uint64_t{0}) & all, 1 & all});
}

/// One bit of one field is not that of the context, now and then.
inline void RandomTxEvents::spoil(rdma::formats::Header& h) {
  const auto bit = [&](uint32_t width) { return uint32_t{1} << bench_.below(width); };
  switch (bench_.below(12)) {
    case 0:
      h.src = static_cast<uint16_t>(h.src ^ bit(params_.node_bits));
      break;
    case 1:
      h.msgid ^= bit(params_.msgid_bits);
      break;
    case 2:
      h.cid = static_cast<uint16_t>(h.cid ^ bit(params_.cid_bits));
      break;
    case 3:
      h.gen = static_cast<uint8_t>(h.gen ^ bit(8));
      break;
    case 4:
      h.sid = static_cast<uint16_t>(edge({params_.n_tx_ctx, params_.n_tx_ctx + h.sid, 0xffff}));
      break;
    default:
      break;
  }
}

inline uint64_t RandomTxEvents::random_address(uint32_t bytes) {
  const uint64_t end = uint64_t{1} << params_.addr_bits;
  const uint64_t payload = params_.payload;
  const uint64_t rounded = (bytes + payload - 1) / payload * payload;
  const uint64_t address = edge({0, end - rounded, end - rounded, end - rounded + payload, end, end - payload,
                                 0 - payload, 0 - rounded, bench_.below(end / payload) * payload});
  return bench_.chance(10) ? address ^ uint64_t { 1 } << bench_.below(64) : address;
}

inline rdma::Post RandomTxEvents::random_post() {
  const auto longest = static_cast<uint32_t>(((uint64_t{1} << params_.pidx_bits) - 1) * params_.payload);
  rdma::Post post;
  post.bytes = static_cast<uint32_t>(
      edge({0, 1, params_.payload, params_.payload + 1, longest - 1, longest, longest + 1u, 0xffffffff,
            bench_.below(uint64_t{1} << 32), 1 + bench_.below(longest), 1 + bench_.below(longest),
            1 + bench_.below(4ull * params_.payload)}));
  post.src_addr = random_address(post.bytes);
  post.dst_addr = random_address(post.bytes);
  const uint64_t nodes = uint64_t{1} << params_.node_bits;
  const uint64_t good = bench_.below(nodes);
  post.node =
      static_cast<uint32_t>(edge({0, nodes - 1, good, good, good, good | uint64_t{1} << bench_.below(32)}));
  post.tag = static_cast<uint16_t>(bench_.below(1 << 16));
  post.rkey = static_cast<uint32_t>(bench_.below(1 << 24));
  post.to = random_to();
  if (post.to == rdma::Post::To::queue) post.dst_addr = bench_.below(uint64_t{1} << params_.addr_bits);
  if (post.to == rdma::Post::To::ticket) post.dst_addr = bench_.below(1u << params_.msgid_bits);
  post.imm = random_imm();
  return post;
}

inline TxEvent RandomTxEvents::next() {
  using State = rdma::TxContext::State;
  TxEvent event;
  event.context = random_context();
  event.header = random_header(event.context);
  event.post = random_post();
  event.msgid = static_cast<uint32_t>(bench_.below(1u << params_.msgid_bits));
  event.resend_room = bench_.chance(70);
  event.node_id = static_cast<uint16_t>(bench_.below(1 << 16));
  event.max_retry = static_cast<uint8_t>(edge({0, 15, event.context.retries, bench_.below(16)}));
  event.max_busy = static_cast<uint8_t>(edge({0, 255, event.context.busy, bench_.below(256)}));
  event.backoff = static_cast<uint8_t>(bench_.below(4));
  event.expired = bench_.chance(80);
  event.kind = std::array{TxKind::packet,  TxKind::packet, TxKind::packet, TxKind::post,
                          TxKind::timeout, TxKind::turn,   TxKind::fault}[bench_.below(7)];
  if (event.kind != TxKind::packet) event.header.sid &= static_cast<uint16_t>(params_.n_tx_ctx - 1);
  if (event.kind == TxKind::post) event.context.state = State::free;
  if (event.kind == TxKind::turn) event.context.turn = true;
  const auto to = event.kind == TxKind::post ? event.post.to : event.context.to;
  event.origin = to == rdma::Post::To::ticket ? Origin::answers
                 : bench_.chance(50)          ? Origin::queues
                                              : Origin::registers;
  if (event.context.state == State::requested) {
    event.context.next = event.context.high = event.context.acked = 0;
    event.context.asked = event.context.span = 0;
    event.context.second = event.context.hole = false;
  }
  return event;
}

}  // namespace weft::rtl_test
