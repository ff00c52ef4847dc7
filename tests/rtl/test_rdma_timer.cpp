// SPDX-License-Identifier: Apache-2.0
// rdma_timer: no timer ends early, restarted ones do not end, every other one is offered soon, and
// expired_now_o is exact.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "rdma_blocks.hpp"

namespace weft::rtl_test {
namespace {

constexpr unsigned timers = 8;
/// Clocks from the end of a timer until it is offered, if all others end too: one scan, each stop of it at
/// most this long.
constexpr unsigned max_decision = 4;
constexpr unsigned max_lateness = timers * (max_decision + 8) + 8;

class RdmaTimer : public testing::Test {
 protected:
  struct Timer {
    bool armed = false;
    uint8_t cls = 0;
    uint16_t stamp = 0;
    unsigned late = 0;  // clocks since it ended
  };

  unsigned wait_until_ready() {
    unsigned clocks = 0;
    for (bench_.settle(); !bench_->ready_o && clocks < 100; bench_.settle(), ++clocks) bench_.step();
    timers_ = {};
    return clocks;
  }

  bool expired(const Timer& timer) const {
    const uint16_t limit = limits_[timer.cls];
    const auto age = static_cast<uint16_t>(now_ - timer.stamp);
    return timer.armed && age >= std::max<uint16_t>(limit, 1);
  }

  void set(unsigned idx, bool armed, unsigned cls) {
    bench_->set_i = 1;
    bench_->set_idx_i = static_cast<uint8_t>(idx);
    bench_->set_armed_i = armed;
    bench_->set_class_i = static_cast<uint8_t>(cls);
  }

  /// Ends a cycle in which set() may have been called; `tick` moves the time on afterwards.
  void end_cycle(bool tick) {
    bench_->now_i = now_;
    bench_->limit0_i = limits_[0];
    bench_->limit1_i = limits_[1];
    bench_->limit2_i = limits_[2];
    bench_.settle();
    for (Timer& timer : timers_) timer.late = expired(timer) ? timer.late + 1 : 0;
    if (bench_->set_i) {
      timers_[bench_->set_idx_i] = {bench_->set_armed_i != 0, bench_->set_class_i, now_, 0};
    }
    bench_.step();
    bench_->set_i = 0;
    bench_->decided_i = 0;
    bench_->expired_ready_i = 0;
    now_ = static_cast<uint16_t>(now_ + tick);
  }

  /// Time passes without anyone who takes expired timers.
  bool offered_within(unsigned clocks, bool tick) {
    for (unsigned n = 0; n < clocks; ++n) {
      bench_.settle();
      if (bench_->expired_valid_o) return true;
      end_cycle(tick);
    }
    return false;
  }

  /// Whether the timer on offer still counts as expired when it is decided; `restart` it in between.
  bool decide_after(unsigned clocks, bool restart) {
    const uint8_t idx = bench_->expired_idx_o;
    bench_->expired_ready_i = 1;
    end_cycle(false);
    for (unsigned n = 0; n < clocks; ++n) {
      if (restart && n == 0) set(idx, true, 0);
      end_cycle(false);
    }
    bench_->decided_i = 1;
    bench_.settle();
    const bool still = bench_->expired_now_o;
    set(idx, false, 0);
    end_cycle(false);
    return still;
  }

  RdmaBlocksBench bench_;
  std::array<Timer, timers> timers_{};
  std::array<uint16_t, 3> limits_{10, 20, 45};
  uint16_t now_ = 0;
};

TEST_F(RdmaTimer, ClearsOneEntryAClockAfterReset) { EXPECT_EQ(wait_until_ready(), timers); }

TEST_F(RdmaTimer, NothingIsOfferedUnlessArmed) {
  wait_until_ready();
  EXPECT_FALSE(offered_within(1000, true));
}

TEST_F(RdmaTimer, EndsAtItsLimitAndNotATickEarlier) {
  wait_until_ready();
  for (const unsigned cls : {0u, 1u, 2u}) {
    for (const uint16_t limit : {0, 1, 2, 100, 8191}) {
      limits_[cls] = limit;
      const auto start = static_cast<uint16_t>(bench_.below(1 << 16));  // the tick counter wraps on the way
      now_ = start;
      set(5, true, cls);
      end_cycle(false);
      now_ = static_cast<uint16_t>(start + std::max<uint16_t>(limit, 1) - 1);
      EXPECT_FALSE(offered_within(max_lateness, false)) << "limit " << limit;
      ++now_;
      ASSERT_TRUE(offered_within(max_lateness, false)) << "limit " << limit;
      EXPECT_EQ(bench_->expired_idx_o, 5);
      EXPECT_TRUE(decide_after(2, false));
    }
  }
}

TEST_F(RdmaTimer, RestartBetweenOfferAndDecisionCounts) {
  wait_until_ready();
  set(3, true, 0);
  end_cycle(false);
  now_ = 10;
  ASSERT_TRUE(offered_within(max_lateness, false));
  EXPECT_FALSE(decide_after(1, true));
  EXPECT_FALSE(offered_within(max_lateness, false));
}

TEST_F(RdmaTimer, EqualsReferenceUnderRandomUse) {
  wait_until_ready();
  constexpr unsigned none = timers;
  unsigned taken = none;  // timer between offer and decision
  unsigned wait = 0;
  unsigned sets = 0;
  unsigned ticks = 0;
  unsigned expiries = 0;
  for (unsigned n = 0; n < 100'000; ++n) {
    if (n % 256 == 0) {
      sets = bench_.pace();
      ticks = bench_.pace();
    }
    if (n % 10'000 == 0 && n > 0) {
      bench_.reset(1);
      wait_until_ready();
      taken = none;
    }
    bench_->now_i = now_;
    bench_->limit0_i = limits_[0];
    bench_->limit1_i = limits_[1];
    bench_->limit2_i = limits_[2];
    bench_.settle();
    for (const Timer& timer : timers_) ASSERT_LE(timer.late, max_lateness) << "cycle " << n;
    if (bench_.chance(sets))
      set(static_cast<unsigned>(bench_.below(timers)), bench_.chance(80),
          static_cast<unsigned>(bench_.below(3)));
    if (taken != none && wait-- == 0) {
      bench_->decided_i = 1;
      bench_.settle();
      const Timer& timer = timers_[taken];
      ASSERT_LE(bench_->expired_now_o, expired(timer)) << "timer " << taken << ", cycle " << n;
      if (timer.late > 2) {  // clocks from the tick to the answer
        ASSERT_TRUE(bench_->expired_now_o) << "timer " << taken << ", cycle " << n;
      }
      if (bench_->expired_now_o) {
        ++expiries;
        set(taken, bench_.chance(50), static_cast<unsigned>(bench_.below(3)));
      }
      taken = none;
    } else if (taken == none && bench_->expired_valid_o && bench_.chance(90)) {
      bench_->expired_ready_i = 1;
      taken = bench_->expired_idx_o;
      wait = static_cast<unsigned>(bench_.below(max_decision));
    }
    end_cycle(bench_.chance(ticks));
  }
  EXPECT_GT(expiries, 500u);
}

/// 256 timers: eight groups of 32.
class RdmaTimerGroups : public testing::Test {
 protected:
  static constexpr unsigned many = 256, group = 32;
  static constexpr unsigned on_the_way =
      12;  // clocks for the reads under way, back to the entry, and the offer

  RdmaTimerGroups() {
    bench_->limit0_i = limit;
    for (bench_.settle(); !bench_->many_ready_o; bench_.settle()) bench_.step();
  }

  void set(unsigned idx, bool armed) {
    bench_->many_set_i = 1;
    bench_->many_set_idx_i = static_cast<uint8_t>(idx);
    bench_->many_set_armed_i = armed;
    clock();
  }

  void clock() {
    bench_->now_i = now;
    bench_.step();
    bench_->many_set_i = 0;
    bench_.settle();
  }

  void clocks(unsigned count) {
    for (unsigned n = 0; n < count; ++n) clock();
  }

  /// Clocks until the next one that has ended is offered, at most so many.
  unsigned until_offered(unsigned most) {
    unsigned waited = 0;
    bench_.settle();
    for (; !bench_->many_expired_valid_o && waited < most; ++waited) clock();
    return waited;
  }

  /// Takes it, and restarts or ends it.
  void decide(bool armed) {
    const uint8_t idx = bench_->many_expired_idx_o;
    bench_->many_expired_ready_i = 1;
    clock();
    bench_->many_expired_ready_i = 0;
    bench_->many_decided_i = 1;
    EXPECT_TRUE(bench_->many_expired_now_o);
    set(idx, armed);
    bench_->many_decided_i = 0;
  }

  static constexpr uint16_t limit = 10;
  uint16_t now = 0;
  RdmaBlocksBench bench_;
};

TEST_F(RdmaTimerGroups, FewTimersAreLookedAtOften) {
  for (const unsigned idx : {0u, 31u, 100u, 255u}) {
    set(idx, true);
    clocks(2 * many);  // until the others are known to be off
    now = static_cast<uint16_t>(now + limit);
    EXPECT_LE(until_offered(many), group + on_the_way) << idx;
    ASSERT_EQ(bench_->many_expired_idx_o, idx);
    decide(false);
    clocks(2 * many);
  }
}

TEST_F(RdmaTimerGroups, EachIsFoundInItsTurnAndNoneTwice) {
  const std::array armed{3u, 40u, 41u, 63u, 64u, 200u, 255u};
  for (const unsigned idx : armed) set(idx, true);
  clocks(2 * many);
  now = static_cast<uint16_t>(now + limit);
  std::set<unsigned> offered;
  for (std::size_t n = 0; n < armed.size(); ++n) {
    ASSERT_LT(until_offered(many), many) << offered.size();
    offered.insert(bench_->many_expired_idx_o);
    decide(false);
  }
  EXPECT_EQ(offered, (std::set<unsigned>(armed.begin(), armed.end())));
  EXPECT_EQ(until_offered(4 * many), 4 * many);
}

/// Timers are set and taken off at every moment of the passes through their groups; none that stays armed is
/// ever forgotten.
TEST_F(RdmaTimerGroups, NoneIsForgotten) {
  std::set<unsigned> armed, restarted;
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned few = static_cast<unsigned>(bench_.below(4));
    for (unsigned n = 0; n < few; ++n) {
      const auto idx = static_cast<unsigned>(bench_.below(many));
      const bool on = bench_.chance(60);
      set(idx, on);
      on ? (void)armed.insert(idx) : (void)armed.erase(idx);
      clocks(static_cast<unsigned>(bench_.below(group + 8)));
      ASSERT_FALSE(bench_->many_expired_valid_o) << "no time has passed";
    }
    if (round % 4 != 3) continue;
    now = static_cast<uint16_t>(now + limit);
    while (!armed.empty()) {
      ASSERT_LT(until_offered(2 * many + on_the_way), 2 * many) << armed.size() << " in round " << round;
      const unsigned idx = bench_->many_expired_idx_o;
      ASSERT_TRUE(armed.contains(idx)) << idx << " in round " << round;
      decide(true);  // so that the scanner stays with its group
      armed.erase(idx);
      restarted.insert(idx);
    }
    for (const unsigned idx : restarted) set(idx, false);
    restarted.clear();
  }
}

/// Five timers, no power of two: one group, behind whose last comes the first.
TEST(RdmaTimerOfFive, EachIsOfferedInItsTurn) {
  constexpr unsigned five = 5;
  RdmaBlocksBench bench;
  const auto clock = [&] {
    bench.step();
    bench->odd_set_i = bench->odd_decided_i = bench->odd_expired_ready_i = 0;
    bench.settle();
  };
  bench->limit0_i = 10;
  for (bench.settle(); !bench->odd_ready_o; bench.settle()) bench.step();
  const auto set = [&](unsigned idx, bool armed) {
    bench->odd_set_i = 1;
    bench->odd_set_idx_i = static_cast<uint8_t>(idx);
    bench->odd_set_armed_i = armed;
    clock();
  };
  for (unsigned idx = 0; idx < five; ++idx) set(idx, true);
  bench->now_i = 10;
  std::optional<unsigned> last;
  for (unsigned n = 0; n < 4 * five; ++n) {
    for (unsigned waited = 0; !bench->odd_expired_valid_o; ++waited) {
      ASSERT_LT(waited, max_lateness) << n;
      clock();
    }
    const unsigned idx = bench->odd_expired_idx_o;
    if (last) {
      EXPECT_EQ(idx, (*last + 1) % five);
    }
    last = idx;
    bench->odd_expired_ready_i = 1;
    clock();
    bench->odd_decided_i = 1;
    EXPECT_TRUE(bench->odd_expired_now_o);
    bench->now_i = static_cast<uint16_t>(bench->now_i + 10);  // all others have ended before
    set(idx, true);
  }
}

}  // namespace
}  // namespace weft::rtl_test
