// SPDX-License-Identifier: Apache-2.0
// rdma_send_lists beside a queue for each buffer: contexts join in any clock, buffers have room or not, what
// is offered is taken sooner or later. Each list in its order, nobody is lost, and nobody waits who could go.
#include <array>
#include <deque>
#include <set>

#include "Vrdma_send_lists.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

constexpr unsigned contexts = 8, buffers = 4;  // the sizes in CMakeLists.txt
constexpr unsigned patience = 8 * buffers;     // clocks without anybody who joins: HOLD, PICK, LOOK for each

class RdmaSendLists : public testing::Test {
 protected:
  void SetUp() override {
    bench_->push_i = bench_->take_i = 0;
    bench_->room_i = 0;
    bench_.reset(2);
  }

  void clock(unsigned pushes, unsigned takes) {
    bench_->push_i = 0;
    if (waiting_.size() < contexts && bench_.chance(pushes)) push();
    bench_->take_i = bench_.chance(takes);
    if (bench_.chance(5)) bench_->room_i = static_cast<uint8_t>(bench_.below(1u << buffers));
    bench_.settle();
    check(takes);
    join();
    bench_.step();
  }

  unsigned taken_ = 0;
  Bench<Vrdma_send_lists> bench_;

 private:
  void push() {
    uint8_t sid = 0;
    do sid = static_cast<uint8_t>(bench_.below(contexts));
    while (waiting_.contains(sid));
    bench_->push_i = 1;
    bench_->sid_i = sid;
    bench_->buffer_i = static_cast<uint8_t>(bench_.below(buffers));
  }

  void check(unsigned takes) {
    ASSERT_EQ(bench_->empty_o, waiting_.empty());
    if (bench_->valid_o) {
      ASSERT_FALSE(bench_->push_i) << "one operation a clock";
      auto& list = lists_.at(bench_->buffer_o);
      ASSERT_FALSE(list.empty());
      ASSERT_EQ(bench_->sid_o, list.front()) << "first come first served";
      if (bench_->take_i) {
        waiting_.erase(list.front());
        list.pop_front();
        ++taken_;
      }
    }
    bool could_go = false;
    for (unsigned i = 0; i < buffers; ++i) could_go |= !lists_[i].empty() && bench_->room_i >> i & 1;
    idle_ = bench_->valid_o || !could_go || bench_->push_i || takes == 0 ? 0 : idle_ + 1;
    ASSERT_LE(idle_, patience) << "somebody waits who could go";
  }

  void join() {
    if (!bench_->push_i) return;
    waiting_.insert(bench_->sid_i);
    lists_.at(bench_->buffer_i).push_back(bench_->sid_i);
  }

  std::set<uint8_t> waiting_;
  std::array<std::deque<uint8_t>, buffers> lists_;
  unsigned idle_ = 0;
};

TEST_F(RdmaSendLists, ServesEachListInItsOrder) {
  for (unsigned round = 0; round < 200; ++round) {
    const unsigned pushes = bench_.pace(), takes = bench_.pace();
    for (unsigned n = 0; n < 500; ++n) {
      clock(pushes, takes);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(taken_, 5000u);
}

TEST_F(RdmaSendLists, AllWhoWaitGoOnceThereIsRoom) {
  for (unsigned n = 0; n < 100; ++n) clock(50, 0);
  for (unsigned n = 0; n < 400 && !bench_->empty_o; ++n) {
    bench_->room_i = (1u << buffers) - 1;
    clock(0, 100);
  }
  EXPECT_TRUE(bench_->empty_o);
}

}  // namespace
}  // namespace weft::rtl_test
