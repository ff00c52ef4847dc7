// SPDX-License-Identifier: Apache-2.0
// rdma_answers between a receiver that takes answers and a sender that ends them: the bound is kept, nothing
// is lost or out of order, and contexts are kept for those that may still come.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "Vrdma_answers.h"
#include "Vrdma_answers_few.h"
#include "bench.hpp"
#include "rdma_ports.hpp"

namespace weft::rtl_test {
namespace {

/// The sizes in CMakeLists.txt: room for 8 answers, and a sender of 16 contexts or of 4.
struct Many {
  using Top = Vrdma_answers;
  static constexpr unsigned most = 8;
};
struct Few {
  using Top = Vrdma_answers_few;
  static constexpr unsigned most = 3;
};

template <typename Size>
class RdmaAnswers : public testing::Test {
 protected:
  static constexpr unsigned most = Size::most;
  static constexpr unsigned read_delay = 8;  // clocks from taking an answer to its post

  void SetUp() override { restart(); }

  void restart() {
    coming_.clear();
    waiting_.clear();
    under_way_ = count_ = bound_ = 0;
    room_ = false;
    take_ = done_ = sender_ready_ = false;
    drive();
    bench_.reset(1);
  }

  rdma::Post read() {
    rdma::Post post{bench_.below(~uint64_t{0}), bench_.below(1 << 20), number(), number() & 0xffff};
    post.rkey = number() & 0xffff;
    post.to = rdma::Post::To::ticket;
    return post;
  }
  uint32_t number() { return static_cast<uint32_t>(bench_.below(uint64_t{1} << 32)); }

  bool arrives() const { return !coming_.empty() && coming_.front().second <= bench_.cycle(); }

  void drive() {
    bench_->answers_i = answers_;
    bench_->answer_take_i = take_;
    bench_->read_valid_i = arrives();
    if (arrives()) put_post(bench_->read_i, coming_.front().first, Origin::answers);
    bench_->post_ready_i = sender_ready_;
    bench_->done_i = done_;
  }

  /// What is seen of the answers follows what was done to them up to the clock before; the register a clock
  /// later.
  void check() {
    ASSERT_EQ(bench_->answer_room_o, room_) << count_ << " of " << bound_;
    ASSERT_EQ(bench_->keep_o, bound_ > under_way_ ? bound_ - under_way_ : 0);
    ASSERT_EQ(bench_->idle_o, count_ == 0);
    if (!bench_->post_valid_o) {
      idle_clocks_ = waiting_.empty() ? 0 : idle_clocks_ + 1;
      ASSERT_LE(idle_clocks_, 2u) << "a post waits and is not shown";
      return;
    }
    idle_clocks_ = 0;
    ASSERT_FALSE(waiting_.empty());
    ASSERT_TRUE(get_post(bench_->post_o) == waiting_.front());
    ASSERT_EQ(origin_of_post(bench_->post_o), Origin::answers);
  }

  void clock() {
    take_ = take_ && room_;
    done_ = done_ && under_way_ > 0;
    drive();
    bench_.settle();
    check();
    const bool start = bench_->post_valid_o && sender_ready_;
    if (start) {
      waiting_.pop_front();
      ++started_;
    }
    if (arrives()) {
      waiting_.push_back(coming_.front().first);
      coming_.pop_front();
    }
    if (take_) coming_.push_back({read(), bench_.cycle() + read_delay});
    count_ = count_ + take_ - done_;
    under_way_ = under_way_ + start - done_;
    room_ = count_ < bound_;
    bound_ = std::min<unsigned>(answers_, most);
    bench_.step();
  }

  void clocks(unsigned n) {
    for (; n > 0 && !HasFatalFailure(); --n) clock();
  }

  /// As many as may be.
  void fill() {
    take_ = true;
    for (unsigned n = 0; n < 50; ++n) {
      clock();
      take_ = true;
    }
    take_ = false;
  }

  void random_clock(const std::array<unsigned, 3>& paces) {
    take_ = bench_.chance(paces[0]);
    sender_ready_ = bench_.chance(paces[1]);
    done_ = bench_.chance(paces[2]);
    if (bench_.chance(2))
      answers_ = static_cast<uint16_t>(bench_.below(bench_.chance(90) ? most + 2 : 65536));
    clock();
  }

  void drain() {
    take_ = false;
    for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
      sender_ready_ = done_ = true;
      clock();
    }
    bench_.settle();
    EXPECT_TRUE(bench_->idle_o);
    EXPECT_TRUE(waiting_.empty() && coming_.empty());
  }

  Bench<typename Size::Top> bench_;
  // inputs
  uint16_t answers_ = 0;
  bool take_ = false, sender_ready_ = false, done_ = false;
  // what should be inside
  std::deque<std::pair<rdma::Post, uint64_t>> coming_;  // and when
  std::deque<rdma::Post> waiting_;
  unsigned count_ = 0, under_way_ = 0, bound_ = 0, started_ = 0, idle_clocks_ = 0;
  bool room_ = false;
};

using Sizes = testing::Types<Many, Few>;
TYPED_TEST_SUITE(RdmaAnswers, Sizes);

TYPED_TEST(RdmaAnswers, NoneAfterReset) {
  this->clocks(10);
  EXPECT_FALSE(this->bench_->answer_room_o);
  EXPECT_EQ(this->bench_->keep_o, 0);
}

TYPED_TEST(RdmaAnswers, AsManyAsTheRegisterSaysAndFitAndLeaveAContext) {
  for (unsigned answers = 0; answers < 2 * this->most; ++answers) {
    this->restart();
    this->answers_ = static_cast<uint16_t>(answers);
    this->fill();
    EXPECT_EQ(this->count_, std::min(answers, this->most));
    EXPECT_EQ(this->bench_->keep_o, std::min(answers, this->most)) << "none has a context yet";
  }
}

TYPED_TEST(RdmaAnswers, LastPlaceIsGivenOnce) {
  this->answers_ = 1;
  this->clocks(3);
  ASSERT_TRUE(this->bench_->answer_room_o);
  this->take_ = true;
  this->clock();
  this->bench_.settle();
  EXPECT_FALSE(this->bench_->answer_room_o) << "in the clock after it was taken";
}

TYPED_TEST(RdmaAnswers, OneMoreOnceOneIsOver) {
  this->answers_ = 2;
  this->fill();
  this->sender_ready_ = true;
  this->clocks(10);
  EXPECT_EQ(this->under_way_, 2u);
  EXPECT_EQ(this->bench_->keep_o, 0);
  this->done_ = true;
  this->clock();
  this->done_ = false;
  this->bench_.settle();
  EXPECT_TRUE(this->bench_->answer_room_o);
  EXPECT_EQ(this->bench_->keep_o, 1);
}

TYPED_TEST(RdmaAnswers, LessThanAreUnderWayStopsNewOnesOnly) {
  this->answers_ = 3;
  this->fill();
  this->sender_ready_ = true;
  this->clocks(10);
  this->answers_ = 1;
  this->clocks(3);
  EXPECT_EQ(this->bench_->keep_o, 0);
  for (const bool room : {false, false, true}) {
    this->done_ = true;
    this->clock();
    this->done_ = false;
    this->bench_.settle();
    EXPECT_EQ(this->bench_->answer_room_o, room);
  }
}

TYPED_TEST(RdmaAnswers, NothingIsLostUnderRandomPausesAndResets) {
  std::array<unsigned, 3> paces{};
  for (unsigned n = 0; n < 200'000; ++n) {
    if (n % 64 == 0) std::ranges::generate(paces, [this] { return this->bench_.pace(); });
    if (this->bench_.below(5000) == 0) this->restart();
    this->random_clock(paces);
    if (this->HasFatalFailure()) FAIL() << "clock " << n;
  }
  this->drain();
  EXPECT_GT(this->started_, 5000u);
}

}  // namespace
}  // namespace weft::rtl_test
