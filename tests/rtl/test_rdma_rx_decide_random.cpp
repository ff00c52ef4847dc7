// SPDX-License-Identifier: Apache-2.0
// rdma_rx_decide against the golden receiver: long random histories of a few contexts, biased towards the
// edges of windows, transfers and field widths. Before every event the golden context is what the decision
// sees.
#include <algorithm>
#include <map>
#include <vector>

#include "rdma/receiver.hpp"
#include "rdma_rx_decide.hpp"

namespace weft::rtl_test {
namespace {

using rdma::RxContext;
using rdma::RxInputs;
using rdma::RxResult;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;

constexpr unsigned events = 500'000;  // of each lane
constexpr uint64_t at_least = 200;    // of each outcome among them

std::array<uint64_t, 2> two_words(const rdma::WindowBits& bits) {
  return {bits[0], bits.size() > 1 ? bits[1] : 0};
}

RxDecideContext plain(const RxContext& context) {
  RxDecideContext result;
  result.state = static_cast<RxState>(context.state);
  result.gen = context.gen;
  result.src = context.src;
  result.sid = context.sid;
  result.msgid = context.msgid;
  result.base = context.base;
  result.last = context.cut.last;
  result.last_len = static_cast<uint16_t>(context.cut.last_len);
  result.asks = context.asks;
  result.silent = context.silent;
  result.wbase = context.window.base;
  result.wvec = two_words(context.window.bits);
  return result;
}

/// Outcomes that are found before the context is read, so that they reach the decision as its verdict.
bool decided_before(Outcome outcome) {
  switch (outcome) {
    case Outcome::drop_crc:
    case Outcome::drop_malformed:
    case Outcome::drop_not_mine:
    case Outcome::drop_busy:
    case Outcome::refuse_length:
    case Outcome::refuse_align:
    case Outcome::refuse_region:
      return true;
    default:
      return false;
  }
}

class RdmaRxDecideRandom : public testing::TestWithParam<DecideLane> {
 protected:
  struct Stimulus {
    RxEvent event;
    RxInputs inputs;
  };

  void SetUp() override { configure(); }

  /// New settings, as software would make them while transfers are under way.
  void configure() {
    config_.node_id = static_cast<uint16_t>(bench_.below(1 << 16));
    config_.region_base = 3 * params_.payload;
    config_.region_limit = (uint64_t{1} << params_.addr_bits) + (bench_.chance(50) ? params_.payload : 0);
    config_.rx_timeout = 1;  // time goes on by a tick an event, so that all timers have ended
    config_.ask_from_after = static_cast<uint8_t>(bench_.below(4));
    config_.max_silent = static_cast<uint8_t>(bench_.chance(70) ? bench_.below(4) : bench_.below(16));
    config_.weft_mode = bench_.chance(50);
    golden_.configure(config_);
  }

  Stimulus stimulus() {
    Stimulus s;
    s.event.node_id = config_.node_id;
    s.event.ask_from_after = config_.ask_from_after;
    s.event.max_silent = config_.max_silent;
    s.event.weft_mode = config_.weft_mode;
    s.inputs.now = now_;
    s.event.offered = false;
    s.event.header = random_header(bench_);
    const uint64_t kind = bench_.below(100);
    if (kind < 12) {
      make_timeout(s);
    } else if (kind < 16) {
      s.event.verdict =
          std::array{Outcome::drop_crc, Outcome::drop_malformed, Outcome::drop_not_mine}[bench_.below(3)];
    } else if (kind < 35) {
      make_request(s);
    } else {
      make_data_or_release(s.event.header, kind < 38 ? Ptype::release : Ptype::data);
    }
    return s;
  }

  /// What the golden model says, its contexts following; the verdict of the event is filled in.
  RxDecision expected(Stimulus& s) {
    const uint16_t index = touched(s.event.header);
    const uint32_t free_before = golden_.free_contexts();
    const rdma::Timer timer_before = golden_.context(index).timer;
    const RxResult result = run_golden(s);
    if (decided_before(result.outcome)) s.event.verdict = result.outcome;

    RxDecision decision;
    decision.outcome = result.outcome;
    decision.context = plain(golden_.context(index));
    decision.wbase = result.wbase;
    decision.wvec = result.wvec.empty() ? decision.wvec : two_words(result.wvec);
    if (result.write) decision.write_addr = result.write->addr;
    if (result.emitted) decision.emitted = result.emitted->header;
    decision.freed = golden_.free_contexts() > free_before;
    if (decision.freed) {
      decision.timer = TimerChange::stopped;
    } else if (!(golden_.context(index).timer == timer_before)) {
      decision.timer = TimerChange::restarted;
    }
    return decision;
  }

  /// Context RAM word that the receiver reads for this header.
  uint16_t touched(const Header& header) const {
    return static_cast<uint16_t>(header.cid & (params_.n_rx_ctx - 1));
  }

  RxDecideContext context(const Stimulus& s) const { return plain(golden_.context(touched(s.event.header))); }

  void run() {
    for (unsigned n = 0; n < events; ++n, ++now_) {
      if (n % 1000 == 0) configure();
      Stimulus s = stimulus();
      const RxDecideContext before = context(s);
      const RxDecision wanted = expected(s);
      ASSERT_EQ(bench_.decide(s.event, before), wanted)
          << "event " << n << ": " << s.event << "\nbefore: " << before;
      ++seen_[wanted.outcome];
    }
  }

  RxDecideBench bench_{GetParam()};
  std::map<Outcome, uint64_t> seen_;

 private:
  RxResult run_golden(const Stimulus& s) {
    const Header& header = s.event.header;
    if (s.event.timeout) {
      return s.event.expired && golden_.due(header.cid, now_) ? golden_.timeout(header.cid, s.inputs)
                                                              : RxResult{};
    }
    if (s.event.verdict != Outcome::none) return golden_.drop(s.event.verdict);
    return golden_.packet({header, std::vector<uint8_t>(header.ptype == data_type ? header.len : 0)},
                          s.inputs);
  }

  void make_timeout(Stimulus& s) {
    s.event.timeout = true;
    s.event.header = {};
    s.event.header.cid = any_cid();
    s.event.expired = golden_.context(s.event.header.cid).state == RxContext::State::free
                          ? bench_.chance(50)
                          : golden_.due(s.event.header.cid, now_) && bench_.chance(90);
  }

  void make_request(Stimulus& s) {
    Header& header = s.event.header;
    header.ptype = static_cast<uint8_t>(Ptype::rqt);
    header.pidx = request_bytes();
    header.arg = request_address(header.pidx);
    header.cid = any_cid();
    s.event.offered = golden_.context(header.cid).state == RxContext::State::free;
    if (s.event.offered) s.inputs.offer = header.cid;
    s.inputs.room = bench_.chance(90);
    if (bench_.chance(70)) {  // so narrow that DATA can match the context
      header.src = static_cast<uint16_t>(tb::masked(header.src, params_.node_bits));
      header.sid = static_cast<uint16_t>(tb::masked(header.sid, params_.sid_bits));
      header.msgid = static_cast<uint32_t>(tb::masked(header.msgid, params_.msgid_bits));
    }
  }

  uint32_t request_bytes() {
    const uint32_t most = (uint32_t{1} << params_.pidx_bits) - 1;
    const std::array packets{1 + bench_.below(3), 1 + bench_.below(params_.window + 20), uint64_t{most}};
    const uint64_t last = std::min<uint64_t>(packets[bench_.below(3)], most) - 1;
    if (bench_.chance(90)) return static_cast<uint32_t>(last * params_.payload + 1 + length_minus_one());
    return static_cast<uint32_t>(std::array<uint64_t, 4>{0, 1, uint64_t{most} * params_.payload + 1,
                                                         bench_.below(uint64_t{1} << 32)}[bench_.below(4)]);
  }

  uint64_t length_minus_one() {
    return bench_.chance(30) ? params_.payload - 1 : bench_.below(params_.payload);
  }

  uint64_t request_address(uint64_t bytes) {
    const uint64_t space = uint64_t{1} << params_.addr_bits;
    const uint64_t room = (space - std::min(space, bytes)) / params_.payload;
    // the lowest are below the region, the highest beyond its end
    const std::array packets{bench_.below(room + 1), bench_.below(6), room, room + bench_.below(2)};
    return packets[bench_.below(4)] * params_.payload +
           (bench_.chance(5) ? 1 + bench_.below(params_.payload - 1) : 0);
  }

  uint16_t any_cid() {
    const auto n = static_cast<uint16_t>(params_.n_rx_ctx);
    return std::array<uint16_t, 4>{0, 1, static_cast<uint16_t>(n / 2),
                                   static_cast<uint16_t>(n - 1)}[bench_.below(4)];
  }

  /// Fields that nobody looks at stay as they are, random.
  void make_data_or_release(Header& header, Ptype type) {
    header.ptype = static_cast<uint8_t>(type);
    header.cid = any_cid();
    const RxContext& context = golden_.context(header.cid);
    header.src = context.src;
    header.sid = context.sid;
    header.msgid = context.msgid;
    header.gen = context.gen;
    header.pidx = near(context);
    const bool is_last = header.pidx == context.cut.last;
    header.len = static_cast<uint16_t>(is_last ? context.cut.last_len : params_.payload);
    header.flags = static_cast<uint8_t>((bench_.below(8) & ~1u) | (is_last ? rdma::formats::flag_last : 0u));
    if (bench_.chance(20)) spoil(header);
  }

  uint32_t near(const RxContext& context) {
    const uint32_t base = context.window.base;
    switch (bench_.below(10)) {
      case 0:
        return base + params_.window + static_cast<uint32_t>(bench_.below(3)) - 1;
      case 1:
        return context.cut.last + 1 - static_cast<uint32_t>(bench_.below(std::min(context.cut.last, 3u) + 1));
      case 2:
        return static_cast<uint32_t>(bench_.below(base + uint64_t{1}));
      case 3:
      case 4:
        return base + static_cast<uint32_t>(bench_.below(params_.window));
      default:
        return base;
    }
  }

  /// One bit wrong in a field that counts.
  void spoil(Header& header) {
    const auto flip = [&](auto& field, unsigned bits) {
      field = static_cast<std::decay_t<decltype(field)>>(field ^ uint64_t{1} << bench_.below(bits));
    };
    switch (bench_.below(8)) {
      case 0:
        return flip(header.src, 16);
      case 1:
        return flip(header.sid, 16);
      case 2:
        return flip(header.msgid, 24);
      case 3:
        return flip(header.gen, 8);
      case 4:
        return flip(header.cid, 16);
      case 5:
        return flip(header.len, 16);
      case 6:
        return flip(header.flags, 1);
      default:
        return flip(header.pidx, 32);
    }
  }

  static constexpr auto data_type = static_cast<uint8_t>(Ptype::data);

  const rdma::Params params_ = GetParam().params;
  rdma::Config config_;
  rdma::Receiver golden_{params_, config_};
  uint16_t now_ = 1;
};

TEST_P(RdmaRxDecideRandom, EqualsGoldenModelAndReachesEveryOutcome) {
  ASSERT_NO_FATAL_FAILURE(run());
  for (uint8_t code = 0; code < 32; ++code) {  // those of the receiver
    const auto outcome = static_cast<Outcome>(code);
    if (name(outcome) == "?") continue;
    EXPECT_GE(seen_[outcome], at_least) << name(outcome);
    RecordProperty(std::string(name(outcome)), std::to_string(seen_[outcome]));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RdmaRxDecideRandom, testing::Values(narrow_lane, default_lane),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::rtl_test
