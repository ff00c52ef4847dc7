// SPDX-License-Identifier: Apache-2.0
// rdma_timeouts, and in it rdma_rtt, beside the golden model: the timeouts in use in every clock, for random
// events, times and registers.
#include <array>
#include <optional>

#include "Vrdma_timeouts.h"
#include "bench.hpp"
#include "rdma/timeouts.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Outcome;

class RdmaTimeouts : public testing::Test {
 protected:
  static constexpr unsigned event_age = 4;  // clocks from an event to the timeout that follows

  RdmaTimeouts() {
    config.adapt = true;
    reset();
  }

  void reset() {
    bench_->rx_valid_i = bench_->tx_valid_i = 0;
    drive();
    bench_.reset(event_age);
    receiver_ = {};
    sender_ = {};
    measured_.fill({});
    before_ = config;
  }

  /// One clock, with these events or none.
  void clock(Outcome rx = Outcome::none, uint16_t cid = 0, Outcome tx = Outcome::none, uint16_t sid = 0) {
    drive();
    bench_->rx_valid_i = rx != Outcome::none;
    bench_->rx_outcome_i = static_cast<uint8_t>(rx);
    bench_->rx_cid_i = cid;
    bench_->tx_valid_i = tx != Outcome::none;
    bench_->tx_outcome_i = static_cast<uint8_t>(tx);
    bench_->tx_sid_i = sid;
    bench_.settle();
    const auto& [of_receiver, of_sender] = measured_.back();
    ASSERT_EQ(bench_->rx_timeout_o, rdma::timeout_in_use(before_, of_receiver, before_.rx_timeout)) << at();
    ASSERT_EQ(bench_->tx_retry_o, rdma::timeout_in_use(before_, of_sender, before_.tx_retry)) << at();
    receiver_.see(rx, cid, now);
    sender_.see(tx, sid, now);
    std::shift_right(measured_.begin(), measured_.end(), 1);
    measured_.front() = {receiver_.timeout(), sender_.timeout()};
    before_ = config;
    bench_.step();
  }

  void drive() {
    bench_->adapt_i = config.adapt;
    bench_->floor_i = config.timeout_floor;
    bench_->rx_timeout_i = config.rx_timeout;
    bench_->tx_retry_i = config.tx_retry;
    bench_->rx_now_i = bench_->tx_now_i = now;
  }

  /// What is in use once all that happened has had its effect.
  unsigned rx_timeout() {
    for (unsigned n = 0; n <= event_age; ++n) clock();
    bench_.settle();
    return bench_->rx_timeout_o;
  }

  std::string at() const { return "in cycle " + std::to_string(bench_.cycle()); }

  rdma::Config config;
  uint16_t now = 0;
  Bench<Vrdma_timeouts> bench_;

 private:
  struct Timeouts {
    std::optional<uint16_t> receiver, sender;
  };
  rdma::ReceiverTimes receiver_;
  rdma::SenderTimes sender_;
  std::array<Timeouts, event_age> measured_{};  // one clock ago, two, ...
  rdma::Config before_;                         // one clock ago
};

TEST_F(RdmaTimeouts, ThreeTimesTheFirstAnswer) {
  config.rx_timeout = 8191;
  now = 65530;
  clock(Outcome::grant, 5);
  EXPECT_EQ(rx_timeout(), 8191u);
  now = 94;  // 100 ticks later
  clock(Outcome::accept, 5);
  EXPECT_EQ(rx_timeout(), 300u);
  config.adapt = false;
  EXPECT_EQ(rx_timeout(), 8191u);
}

TEST_F(RdmaTimeouts, LongestSamples) {
  config.rx_timeout = 8191;
  for (int n = 0; n < 100; ++n) {
    clock(Outcome::grant, 5);
    now = static_cast<uint16_t>(now + 8191 + n % 2 * 30000);
    clock(Outcome::advance, 5);
    clock(Outcome::released, 5);
  }
  EXPECT_EQ(rx_timeout(), 8191u);
}

TEST_F(RdmaTimeouts, EqualTheModelUnderRandomUse) {
  constexpr std::array rx_outcomes{Outcome::grant,   Outcome::accept,   Outcome::advance,
                                   Outcome::advance, Outcome::finish,   Outcome::ask_one,
                                   Outcome::ask_map, Outcome::ask_from, Outcome::released,
                                   Outcome::reclaim, Outcome::drop_crc, Outcome::released_failed};
  constexpr std::array tx_outcomes{Outcome::submit,  Outcome::submit,    Outcome::granted, Outcome::backoff,
                                   Outcome::refused, Outcome::retry_rqt, Outcome::give_up, Outcome::send};
  unsigned contexts = 1, rate = 0, ticks = 0;
  uint64_t step = 1;
  std::array<unsigned, 3> in_use{};  // clocks with the floor, with what is set, with what was measured
  for (unsigned n = 0; n < 200'000; ++n) {
    if (n % 512 == 0) {
      contexts = std::array{1u, 2u, 5u, 65536u}[bench_.below(4)];
      rate = bench_.pace();
      ticks = bench_.pace();
      step = std::array{1u, 20u, 3000u, 30000u}[bench_.below(4)];
      config.adapt = bench_.chance(80);
      config.timeout_floor =
          static_cast<uint16_t>(bench_.below(std::array{2u, 100u, 8192u}[bench_.below(3)]));
      config.rx_timeout = static_cast<uint16_t>(bench_.below(8192));
      config.tx_retry = static_cast<uint16_t>(bench_.below(8192));
    }
    if (n % 20'000 == 0) reset();
    if (bench_.chance(ticks)) now = static_cast<uint16_t>(now + bench_.below(step) + 1);
    const bool rx = bench_.chance(rate), tx = bench_.chance(rate);
    clock(rx ? rx_outcomes[bench_.below(rx_outcomes.size())] : Outcome::none,
          static_cast<uint16_t>(bench_.below(contexts)),
          tx ? tx_outcomes[bench_.below(tx_outcomes.size())] : Outcome::none,
          static_cast<uint16_t>(bench_.below(contexts)));
    if (HasFatalFailure()) return;
    const unsigned limit = bench_->rx_timeout_o;
    ++in_use[limit == config.rx_timeout ? 1 : limit == config.timeout_floor ? 0 : 2];
  }
  for (const unsigned clocks : in_use) EXPECT_GT(clocks, 1000u);
}

}  // namespace
}  // namespace weft::rtl_test
