// SPDX-License-Identifier: Apache-2.0
// rdma_send_lists beside a queue for each buffer: contexts join in any clock, buffers have room or not, what
// is offered is taken sooner or later. Each list in its order, all lists in turn, nobody is lost, nobody
// waits who could go, and an offer stands as long as it holds.
#include <array>
#include <deque>
#include <set>

#include "Vrdma_send_lists.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

constexpr unsigned contexts = 8, buffers = 4;  // the sizes in CMakeLists.txt
constexpr unsigned patience = 8 * buffers;     // clocks without anybody who joins: HOLD, PICK, LOOK for each
constexpr unsigned hold = 3;                   // HOLD

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

  void reset() {
    bench_->push_i = bench_->take_i = 0;
    bench_.reset(1);
    waiting_.clear();
    lists_ = {};
    turns_ = {};
    taken_at_ = idle_ = 0;
    stands_ = false;
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
    check_offer();
    if (bench_->valid_o) {
      ASSERT_FALSE(bench_->push_i) << "one operation a clock";
      if (taken_ > 0) {
        ASSERT_GE(bench_.cycle(), taken_at_ + hold + 3) << "room_i may not tell of the one before";
      }
      auto& list = lists_.at(bench_->buffer_o);
      ASSERT_FALSE(list.empty());
      ASSERT_EQ(bench_->sid_o, list.front()) << "first come first served";
      if (bench_->take_i) {
        waiting_.erase(list.front());
        list.pop_front();
        ++taken_;
        taken_at_ = bench_.cycle();
        count_turn(bench_->buffer_o);
      }
    }
    bool could_go = false;
    for (unsigned i = 0; i < buffers; ++i) {
      const bool can = !lists_[i].empty() && bench_->room_i >> i & 1;
      could_go |= can;
      if (!can) turns_[i] = 0;
    }
    idle_ = bench_->valid_o || !could_go || bench_->push_i || takes == 0 ? 0 : idle_ + 1;
    ASSERT_LE(idle_, patience) << "somebody waits who could go";
  }

  /// It stands until it is taken, there is no room any more, or somebody joins.
  void check_offer() {
    if (stands_ && !bench_->push_i) {
      ASSERT_EQ(bench_->valid_o, room_) << (room_ ? "an offer was withdrawn" : "an offer without room");
      if (room_) {
        ASSERT_EQ(bench_->buffer_o, offered_);
      }
    }
    stands_ = bench_->valid_o && !bench_->take_i;
    if (bench_->valid_o) {
      offered_ = bench_->buffer_o;
      room_ = bench_->room_i >> offered_ & 1;
    }
  }

  /// One of this list goes: others that could go all the time have waited for one more.
  void count_turn(unsigned list) {
    for (unsigned i = 0; i < buffers; ++i) {
      if (i != list) {
        ASSERT_LE(++turns_[i], buffers) << "list " << i << " has no turn";
      }
    }
    turns_[list] = 0;
  }

  void join() {
    if (!bench_->push_i) return;
    waiting_.insert(bench_->sid_i);
    lists_.at(bench_->buffer_i).push_back(bench_->sid_i);
  }

  std::set<uint8_t> waiting_;
  std::array<std::deque<uint8_t>, buffers> lists_;
  unsigned idle_ = 0;
  uint64_t taken_at_ = 0;                  // clock of the last one that went
  std::array<unsigned, buffers> turns_{};  // of others, while one of this list could go
  bool stands_ = false,
       room_ = false;     // somebody was offered a clock ago and not taken; its buffer had room then
  unsigned offered_ = 0;  // its buffer
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

/// Whatever was going on: who comes then is offered three clocks later.
TEST_F(RdmaSendLists, AfterAResetNobodyWaits) {
  for (unsigned round = 0; round < 500 && !HasFatalFailure(); ++round) {
    for (unsigned n = 0; n < 30; ++n) clock(50, 100);
    reset();
    bench_.settle();
    ASSERT_TRUE(bench_->empty_o);
    clock(100, 0);
    bench_->push_i = 0;
    bench_->room_i = (1u << buffers) - 1;
    bench_.step();
    bench_.step();
    bench_.settle();
    ASSERT_TRUE(bench_->valid_o);
    reset();
  }
}

}  // namespace
}  // namespace weft::rtl_test
