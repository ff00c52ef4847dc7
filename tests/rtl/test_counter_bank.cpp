// SPDX-License-Identifier: Apache-2.0
// counter_bank: no increment is lost or counted twice, whatever the order of the counters.
#include <vector>

#include "store_lanes.hpp"

namespace weft::rtl_test {
namespace {

class CounterBank : public testing::TestWithParam<Store> {
 protected:
  unsigned wait_until_ready() {
    unsigned clocks = 0;
    for (bench_.settle(); !bench_->bank_ready_o && clocks < 100; bench_.settle(), ++clocks) bench_.step();
    counts_.assign(lane_.size, 0);
    return clocks;
  }

  /// Reads `raddr`, increments `idx` if `inc`.
  void cycle(bool inc, unsigned idx, unsigned raddr) {
    bench_->bank_inc_i = inc;
    bench_->bank_idx_i = static_cast<uint8_t>(idx);
    bench_->bank_raddr_i = static_cast<uint8_t>(raddr);
    const uint8_t expected = counts_[raddr];  // of the cycles before this one
    if (inc) ++counts_[idx];
    bench_.step();
    bench_->bank_inc_i = 0;
    bench_.settle();
    ASSERT_EQ(bench_->bank_rdata_o, expected) << "counter " << raddr << ", cycle " << bench_.cycle();
  }

  unsigned any() { return static_cast<unsigned>(bench_.below(lane_.size)); }

  void random_traffic(unsigned cycles) {
    unsigned increments = 0;
    unsigned idx = 0;
    unsigned same = 0;  // percent of the increments that stay with their counter
    for (unsigned n = 0; n < cycles && !HasFatalFailure(); ++n) {
      if (n % 64 == 0) {
        increments = bench_.pace();
        same = bench_.pace();
      }
      if (!bench_.chance(same)) idx = any();
      cycle(bench_.chance(increments), idx, any());
    }
  }

  const Store lane_ = GetParam();
  StoreBench bench_{lane_.index};
  std::vector<uint8_t> counts_;  // as wide as the counters, so that they wrap alike
};

TEST_P(CounterBank, ClearsItselfInOneClockACounter) {
  EXPECT_EQ(wait_until_ready(), lane_.size);
  for (unsigned i = 0; i < lane_.size; ++i) cycle(false, 0, i);
}

TEST_P(CounterBank, CountsTheSameCounterInEveryClockAndWraps) {
  wait_until_ready();
  for (unsigned n = 0; n < 300; ++n) cycle(true, lane_.size - 1, lane_.size - 1);
  EXPECT_EQ(counts_.back(), 300 % 256);
}

TEST_P(CounterBank, EqualsArrayUnderRandomTraffic) {
  wait_until_ready();
  random_traffic(50'000);
}

TEST_P(CounterBank, IsClearAfterResetInTheMiddle) {
  wait_until_ready();
  for (unsigned n = 0; n < 20 && !HasFatalFailure(); ++n) {
    random_traffic(100);
    bench_->bank_inc_i = 1;
    bench_.reset(1);
    bench_->bank_inc_i = 0;
    wait_until_ready();
    for (unsigned i = 0; i < lane_.size && !HasFatalFailure(); ++i) cycle(false, 0, i);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CounterBank, testing::Values(Store{0, 1}, Store{1, 5}, Store{2, 8}),
                         store_name);

}  // namespace
}  // namespace weft::rtl_test
