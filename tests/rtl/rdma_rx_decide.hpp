// SPDX-License-Identifier: Apache-2.0
// rdma_rx_decide_bench as a function: event and context in, decision out, all as plain values that can be
// compared.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>

#include "Vrdma_rx_decide_bench.h"
#include "bench.hpp"
#include "common/signals.hpp"
#include "rdma/params.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

/// One of the two sizes of the bench.
struct DecideLane {
  uint8_t index;
  const char* name;
  rdma::Params params;
};

inline constexpr DecideLane narrow_lane{0,
                                        "narrow",
                                        {.n_rx_ctx = 4,
                                         .window = 16,
                                         .payload = 64,
                                         .pidx_bits = 6,
                                         .msgid_bits = 7,
                                         .node_bits = 9,
                                         .addr_bits = 21,
                                         .sid_bits = 5}};
inline constexpr DecideLane default_lane{1, "default", {}};

inline std::ostream& operator<<(std::ostream& out, const DecideLane& lane) { return out << lane.name; }

enum class RxState : uint8_t { free, active, done };

/// Fields in the order of context_t of the bench, lowest first.
struct RxDecideContext {
  RxState state = RxState::free;
  uint8_t gen = 0;
  uint16_t src = 0;
  uint16_t sid = 0;
  uint16_t last_len = 0;
  uint32_t msgid = 0;
  uint32_t last = 0;
  uint64_t base = 0;
  uint32_t wbase = 0;
  uint8_t asks = 0;
  uint8_t silent = 0;
  uint16_t zero = 0;
  std::array<uint64_t, 2> wvec{};

  bool operator==(const RxDecideContext&) const = default;
};
static_assert(sizeof(RxDecideContext) == 48, "must be laid out like context_t");

inline std::ostream& operator<<(std::ostream& out, const RxDecideContext& c) {
  return out << std::hex << "state " << static_cast<int>(c.state) << " gen " << int{c.gen} << " src " << c.src
             << " sid " << c.sid << " msgid " << c.msgid << " base " << c.base << " last " << c.last
             << " last_len " << c.last_len << " asks " << int{c.asks} << " silent " << int{c.silent}
             << " wbase " << c.wbase << " wvec " << c.wvec[1] << ':' << c.wvec[0] << std::dec;
}

struct RxEvent {
  bool timeout = false;
  bool expired = true;
  rdma::formats::Header header{};
  rdma::formats::Outcome verdict = rdma::formats::Outcome::none;
  bool offered = true;
  uint16_t node_id = 1;
  uint8_t ask_from_after = 3;
  uint8_t max_silent = 15;
  bool weft_mode = false;
};

inline std::ostream& operator<<(std::ostream& out, const RxEvent& event) {
  return out << (event.timeout ? "timeout" : "packet") << " expired " << event.expired << " verdict "
             << name(event.verdict) << " offered " << event.offered << " ask_from_after "
             << int{event.ask_from_after} << " max_silent " << int{event.max_silent} << " weft_mode "
             << event.weft_mode << "\n  " << text(event.header);
}

enum class TimerChange : uint8_t { none, restarted, stopped };

/// What follows from an event. `context` is the one that the context RAM holds afterwards; `wbase` and `wvec`
/// are those of the trace record, 0 if the outcome has no context.
struct RxDecision {
  rdma::formats::Outcome outcome = rdma::formats::Outcome::none;
  RxDecideContext context;
  uint32_t wbase = 0;
  std::array<uint64_t, 2> wvec{};
  std::optional<uint64_t> write_addr;
  std::optional<rdma::formats::Header> emitted;
  TimerChange timer = TimerChange::none;
  bool freed = false;

  bool operator==(const RxDecision&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const RxDecision& d) {
  out << name(d.outcome) << ", context " << d.context << std::hex << "\n  traced " << d.wbase << ' '
      << d.wvec[1] << ':' << d.wvec[0] << std::dec << " timer " << static_cast<int>(d.timer) << " freed "
      << d.freed;
  if (d.write_addr) out << std::hex << " write at " << *d.write_addr << std::dec;
  if (d.emitted) out << "\n  emits " << text(*d.emitted);
  return out;
}

class RxDecideBench : public Bench<Vrdma_rx_decide_bench> {
 public:
  explicit RxDecideBench(const DecideLane& lane) { top().lane_i = lane.index; }

  RxDecision decide(const RxEvent& event, const RxDecideContext& context) {
    top().timeout_i = event.timeout;
    top().expired_i = event.expired;
    put_header(top().hdr_i, event.header);
    top().verdict_i = static_cast<uint8_t>(event.verdict);
    top().offer_valid_i = event.offered;
    top().node_id_i = event.node_id;
    top().ask_from_after_i = event.ask_from_after;
    top().max_silent_i = event.max_silent;
    top().weft_mode_i = event.weft_mode;
    std::memcpy(&top().ctx_i, &context, sizeof context);
    settle();
    return decision(context);
  }

 private:
  RxDecision decision(const RxDecideContext& before) {
    RxDecision result;
    result.outcome = static_cast<rdma::formats::Outcome>(top().outcome_o);
    result.context = before;
    std::array<uint8_t, sizeof(RxDecideContext)> bytes;
    tb::get_bytes(top().ctx_o, bytes.data(), bytes.size());
    const auto after = std::bit_cast<RxDecideContext>(bytes);
    if (top().ctx_we_o) result.context = after;
    if (top().has_ctx_o) {
      result.wbase = after.wbase;
      result.wvec = after.wvec;
    }
    if (top().write_o) result.write_addr = top().write_addr_o;
    if (top().emit_o) result.emitted = get_header(top().emit_hdr_o);
    if (top().timer_set_o) result.timer = top().timer_armed_o ? TimerChange::restarted : TimerChange::stopped;
    result.freed = top().free_o;
    return result;
  }
};

}  // namespace weft::rtl_test
