// SPDX-License-Identifier: Apache-2.0
// free_list: fills itself after reset, then is a queue of numbers; a number freed twice is caught by an
// assertion.
#include <algorithm>
#include <deque>
#include <vector>

#include "store_lanes.hpp"

namespace weft::rtl_test {
namespace {

class FreeList : public testing::TestWithParam<Store> {
 protected:
  /// Clocks from the end of reset until the list is ready.
  unsigned wait_until_ready() {
    unsigned clocks = 0;
    for (bench_.settle(); !bench_->list_ready_o && clocks < 100; bench_.settle(), ++clocks) {
      EXPECT_FALSE(bench_->list_valid_o);
      bench_->list_pop_i = bench_.chance(50);  // ignored
      bench_.step();
    }
    bench_->list_pop_i = 0;
    free_.clear();
    taken_.clear();
    for (unsigned id = 0; id < lane_.size; ++id) free_.push_back({static_cast<uint8_t>(id), 0});
    return clocks;
  }

  void check() {
    bench_.settle();
    const bool valid = !free_.empty() && bench_.cycle() >= free_.front().visible;
    ASSERT_TRUE(bench_->list_ready_o);
    ASSERT_EQ(bench_->list_valid_o, valid) << "cycle " << bench_.cycle();
    ASSERT_EQ(bench_->list_count_o, free_.size()) << "cycle " << bench_.cycle();
    if (valid) {
      ASSERT_EQ(bench_->list_id_o, free_.front().id) << "cycle " << bench_.cycle();
    }
  }

  void cycle(bool pop, bool push) {
    push = push && !taken_.empty();
    bench_->list_pop_i = pop;
    bench_->list_push_i = push;
    if (push) {
      std::swap(taken_[bench_.below(taken_.size())], taken_.back());
      bench_->list_push_id_i = taken_.back();
    }
    check();
    if (HasFatalFailure()) return;
    const bool popped = pop && bench_->list_valid_o;
    if (push) {
      free_.push_back({taken_.back(), bench_.cycle() + 2});
      taken_.pop_back();
    }
    if (popped) {
      taken_.push_back(free_.front().id);
      free_.pop_front();
    }
    bench_.step();
    bench_->list_pop_i = 0;
    bench_->list_push_i = 0;
  }

  void random_traffic(unsigned cycles) {
    unsigned pop = 0;
    unsigned push = 0;
    for (unsigned n = 0; n < cycles && !HasFatalFailure(); ++n) {
      if (n % 32 == 0) {
        pop = bench_.pace();
        push = bench_.pace();
      }
      cycle(bench_.chance(pop), bench_.chance(push));
    }
  }

  const Store lane_ = GetParam();
  StoreBench bench_{lane_.index};

  struct Entry {
    uint8_t id;
    uint64_t visible;  // first cycle at the output, if nothing is in front of it
  };
  std::deque<Entry> free_;
  std::vector<uint8_t> taken_;
};

TEST_P(FreeList, FillsItselfInTheStatedTime) {
  EXPECT_EQ(wait_until_ready(), std::max(lane_.size + 1, 3u));
  check();
}

TEST_P(FreeList, GivesEveryNumberOnceInOrder) {
  wait_until_ready();
  for (unsigned n = 0; n < lane_.size; ++n) cycle(true, false);
  EXPECT_EQ(taken_.size(), lane_.size);
  cycle(true, false);  // empty: nothing happens
  EXPECT_EQ(taken_.size(), lane_.size);
}

TEST_P(FreeList, EqualsQueueUnderRandomTraffic) {
  wait_until_ready();
  random_traffic(50'000);
}

TEST_P(FreeList, IsFullAgainAfterResetInTheMiddle) {
  wait_until_ready();
  for (unsigned n = 0; n < 20 && !HasFatalFailure(); ++n) {
    random_traffic(100);
    bench_.reset(1);
    wait_until_ready();
  }
  random_traffic(100);
}

TEST_P(FreeList, AssertsThatNoNumberIsFreedTwice) {
  wait_until_ready();
  for (unsigned n = 0; n < lane_.size; ++n) cycle(true, false);
  bench_->list_push_i = 1;
  bench_->list_push_id_i = 0;
  EXPECT_NO_THROW(bench_.step());
  EXPECT_THROW(bench_.step(), AssertionFailed);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FreeList,
                         testing::Values(Store{0, 1}, Store{1, 2}, Store{2, 3}, Store{3, 5}, Store{4, 16}),
                         store_name);

}  // namespace
}  // namespace weft::rtl_test
