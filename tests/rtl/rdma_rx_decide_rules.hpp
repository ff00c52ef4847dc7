// SPDX-License-Identifier: Apache-2.0
// What the directed tests of rdma_rx_decide share: a context whose fields all differ, packets that fit it,
// and the decisions that docs/rdma.md asks for.
#pragma once

#include <array>
#include <cstdint>

#include "rdma_rx_decide.hpp"

namespace weft::rtl_test::rx_decide {

using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using rdma::formats::Refusal;

inline constexpr uint32_t payload = 256;
inline constexpr uint32_t window = 128;
inline constexpr uint16_t contexts = 1024;
inline constexpr uint16_t node = 0xa5c3;
inline constexpr uint32_t most_packets = (1u << 24) - 1;

/// WVEC with its lowest `run` bits set.
inline std::array<uint64_t, 2> ones(uint32_t run) {
  const auto word = [](uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; };
  return {word(run), run > 64 ? word(run - 64) : 0};
}

/// A transfer under way whose fields all differ, with room to go on behind WBASE.
inline RxDecideContext active() {
  RxDecideContext context;
  context.state = RxState::active;
  context.gen = 0xc7;
  context.src = 0xfedc;
  context.sid = 0x3a5;
  context.msgid = 0x9abcd;
  context.base = 0x123456789a00;
  context.last = 1000;
  context.last_len = 77;
  context.asks = 2;
  context.silent = 9;
  context.wbase = 500;
  return context;
}

inline Header from_sender(Ptype type, const RxDecideContext& context) {
  Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.dst = node;
  header.src = context.src;
  header.sid = context.sid;
  header.cid = contexts - 1;
  header.gen = context.gen;
  header.msgid = context.msgid;
  return header;
}

inline Header data(const RxDecideContext& context, uint32_t pidx) {
  const bool last = pidx == context.last;
  Header header = from_sender(Ptype::data, context);
  header.flags = last ? rdma::formats::flag_last : 0;
  header.len = last ? context.last_len : payload;
  header.pidx = pidx;
  return header;
}

inline Header request(uint32_t bytes) {
  Header header;
  header.ptype = static_cast<uint8_t>(Ptype::rqt);
  header.dst = node;
  header.src = 0xbeef;
  header.sid = 0xffff;      // wider than the context keeps
  header.msgid = 0xedcba9;  // this too
  header.cid = 3;           // the offer
  header.pidx = bytes;
  header.arg = 0x0000fedcba987600;
  return header;
}

inline Header to_sender(Ptype type, const RxDecideContext& context, uint16_t cid = contexts - 1) {
  Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.dst = context.src;
  header.src = node;
  header.sid = context.sid;
  header.cid = cid;
  header.gen = context.gen;
  header.msgid = context.msgid;
  return header;
}

inline Header answer(const Header& request, Refusal code) {
  Header header;
  header.ptype = static_cast<uint8_t>(Ptype::rsp);
  header.dst = request.src;
  header.src = node;
  header.sid = request.sid;
  header.msgid = request.msgid;
  header.arg = static_cast<uint64_t>(code);
  return header;
}

/// An outcome with context, before anything is done about it.
inline RxDecision with(Outcome outcome, const RxDecideContext& context) {
  RxDecision decision;
  decision.outcome = outcome;
  decision.context = context;
  decision.wbase = context.wbase;
  decision.wvec = context.wvec;
  return decision;
}

inline RxDecision without(Outcome outcome, const RxDecideContext& context) {
  RxDecision decision;
  decision.outcome = outcome;
  decision.context = context;
  return decision;
}

class Rules : public testing::Test {
 protected:
  RxDecision packet(const Header& header, const RxDecideContext& context, bool offered = true) {
    return bench_.decide({.header = header, .offered = offered, .node_id = node}, context);
  }

  RxDecision verdict(Outcome outcome, const Header& header, const RxDecideContext& context) {
    return bench_.decide({.header = header, .verdict = outcome, .node_id = node}, context);
  }

  RxDecision timeout(const RxDecideContext& context, uint8_t ask_from_after = 3, uint8_t max_silent = 15) {
    Header header;
    header.cid = contexts - 1;
    return bench_.decide({.timeout = true,
                          .header = header,
                          .node_id = node,
                          .ask_from_after = ask_from_after,
                          .max_silent = max_silent},
                         context);
  }

  void expect_dropped(Outcome outcome, const Header& header, const RxDecideContext& context) {
    EXPECT_EQ(packet(header, context), with(outcome, context)) << text(header);
  }

  RxDecideBench bench_{default_lane};
};

}  // namespace weft::rtl_test::rx_decide
