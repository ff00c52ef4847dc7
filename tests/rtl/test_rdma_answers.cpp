// SPDX-License-Identifier: Apache-2.0
// rdma_answers between a receiver that takes answers and a sender that ends them: the bounds are kept, of all
// and of each group of sources; a READ has one answer at a time, however close behind it comes again; nothing
// is lost or out of order, and contexts are kept for those that may still come.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

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

/// rdma_pkg::read_id_t
struct ReadId {
  uint16_t node = 0;
  uint16_t ticket = 0;
  uint32_t number = 0;

  uint64_t bits() const { return uint64_t{node} << 40 | uint64_t{ticket} << 24 | number; }
  bool operator==(const ReadId&) const = default;
};

template <typename Size>
class RdmaAnswers : public testing::Test {
 protected:
  static constexpr unsigned most = Size::most;
  static constexpr unsigned groups = 2;
  static constexpr unsigned look = 4;        // clocks from a READ to its decision
  static constexpr unsigned read_delay = 8;  // clocks from taking an answer to its post
  // Clocks for which an answer that is over may still be seen.
  static constexpr unsigned still_known = 2, still_held = 2, still_counted = 5;

  void SetUp() override { restart(); }

  void restart() {
    coming_.clear();
    coming_reads_.clear();
    waiting_.clear();
    under_way_.clear();
    owed_.clear();
    over_.clear();
    reads_.assign(look + 1, ReadId{});
    take_ = done_ = sender_ready_ = false;
    drive();
    bench_.reset(1);
    for (bench_.settle(); !bench_->ready_o; bench_.settle()) {
      ASSERT_LT(bench_.cycle(), 1'000'000u);
      bench_.step();
    }
    bound_ = std::min<unsigned>(answers_, most);  // it has seen the registers meanwhile
    quota_before_ = quota_;
    room_ = bound_ != 0;
    clocks(1);
  }

  rdma::Post read() {
    rdma::Post post{bench_.below(~uint64_t{0}), bench_.below(~uint64_t{0}), number(), number()};
    post.rkey = number() & 0xff'ffff;
    if (bench_.chance(50)) post.imm = number();
    post.to = rdma::Post::To::ticket;
    return post;
  }
  uint32_t number() { return static_cast<uint32_t>(bench_.below(uint64_t{1} << 32)); }

  /// The READ that comes in: not one before, or one of a few.
  ReadId next_read() {
    if (!few_reads_) {
      ++last_;
      return {static_cast<uint16_t>(last_ & 1), static_cast<uint16_t>(last_ >> 1 & 15), last_ >> 5 & 63};
    }
    if (bench_.chance(repeats_)) return reads_[bench_.below(look)];
    return {static_cast<uint16_t>(bench_.below(4)), static_cast<uint16_t>(bench_.below(2)),
            static_cast<uint32_t>(bench_.below(2))};
  }
  const ReadId& decided() const { return reads_.back(); }

  bool arrives() const { return !coming_.empty() && coming_.front().second <= bench_.cycle(); }

  void drive() {
    bench_->answers_i = answers_;
    bench_->quota_i = quota_;
    bench_->id_i = reads_.front().bits();
    bench_->answer_take_i = take_;
    bench_->read_valid_i = arrives();
    if (arrives()) put_post(bench_->read_i, coming_.front().first, Origin::answers);
    bench_->post_ready_i = sender_ready_;
    bench_->done_i = done_;
    bench_->done_tag_i = done_ ? under_way_.at(ends_).tag : 0;
  }

  struct Owed {
    ReadId read;
    uint16_t tag = 0;  // of those under way
  };
  struct Over {
    ReadId read;
    uint64_t cycle;
  };

  template <typename Which>
  unsigned owed(Which which) const {
    return static_cast<unsigned>(std::ranges::count_if(owed_, which));
  }
  template <typename Which>
  unsigned just_over(unsigned clocks, Which which) const {
    return static_cast<unsigned>(std::ranges::count_if(
        over_, [&](const Over& over) { return over.cycle + clocks >= bench_.cycle() && which(over.read); }));
  }

  /// What is said of a READ. What is over may be seen some clocks longer.
  void check_decided() {
    const auto any = [](const ReadId&) { return true; };
    const auto same = [&](const ReadId& read) { return read == decided(); };
    const auto group = [&](const ReadId& read) { return read.node % groups == decided().node % groups; };
    const unsigned twins = owed(same);
    if (twins != 0) {
      ASSERT_TRUE(bench_->answer_asked_o);
    }
    if (bench_->answer_asked_o) {
      ASSERT_GE(twins + just_over(still_known, same), 1u);
    }
    const bool over = quota_before_ != 0 && owed(group) >= quota_before_;
    if (bench_->answer_room_o) {
      ASSERT_TRUE(room_ && !over) << owed_.size() << " of " << bound_ << ", " << owed(group)
                                  << " of its group, of " << quota_before_;
    } else {
      const bool full = !room_ || owed_.size() + just_over(still_held, any) >= depth;
      const bool still_over =
          quota_before_ != 0 && owed(group) + just_over(still_counted, group) >= quota_before_;
      ASSERT_TRUE(full || still_over)
          << owed_.size() << " of " << bound_ << ", " << owed(group) << " of its group, of " << quota_before_;
    }
  }

  /// What is seen of the answers follows what was done to them up to the clock before; the register a clock
  /// later.
  void check() {
    check_decided();
    ASSERT_EQ(bench_->keep_o, bound_ > under_way_.size() ? bound_ - under_way_.size() : 0);
    ASSERT_EQ(bench_->idle_o, owed_.empty());
    if (!bench_->post_valid_o) {
      idle_clocks_ = waiting_.empty() ? 0 : idle_clocks_ + 1;
      ASSERT_LE(idle_clocks_, 2u) << "a post waits and is not shown";
      return;
    }
    idle_clocks_ = 0;
    ASSERT_FALSE(waiting_.empty());
    rdma::Post seen = get_post(bench_->post_o);
    ASSERT_TRUE(std::ranges::none_of(under_way_, [&](const Owed& other) { return other.tag == seen.tag; }));
    seen.tag = 0;
    ASSERT_TRUE(seen == waiting_.front().first);
    ASSERT_EQ(origin_of_post(bench_->post_o), Origin::answers);
  }

  void clock() { clock_with(next_read()); }
  void clock_with(const ReadId& read) {
    reads_.push_front(read);
    reads_.pop_back();
    done_ = done_ && !under_way_.empty();
    ends_ = done_ ? bench_.below(under_way_.size()) : 0;
    const bool wish = std::exchange(take_, false);
    drive();
    bench_.settle();
    take_ = wish && bench_->answer_room_o && !bench_->answer_asked_o;
    if (wish && bench_->answer_asked_o) ++asked_;
    if (wish && !bench_->answer_asked_o && !bench_->answer_room_o) ++refused_;
    drive();
    bench_.settle();
    check();
    follow();
    take_ = wish;
    quota_before_ = quota_;
    bound_ = std::min<unsigned>(answers_, most);
    bench_.step();
  }

  void follow() {
    if (bench_->post_valid_o && sender_ready_) {
      under_way_.push_back({waiting_.front().second, get_post(bench_->post_o).tag});
      waiting_.pop_front();
      ++started_;
    }
    if (arrives()) {
      waiting_.emplace_back(coming_.front().first, coming_reads_.front());
      coming_.pop_front();
      coming_reads_.pop_front();
    }
    if (done_) {
      const ReadId read = under_way_[ends_].read;
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(ends_));
      owed_.erase(std::ranges::find(owed_, read));
      over_.push_front({read, bench_.cycle()});
      if (over_.size() > 10) over_.pop_back();
    }
    if (take_) {
      coming_.emplace_back(read(), bench_.cycle() + read_delay);
      coming_reads_.push_back(decided());
      owed_.push_back(decided());
    }
    room_ = owed_.size() < bound_;
  }

  void clocks(unsigned n) {
    for (; n > 0 && !HasFatalFailure(); --n) clock();
  }

  /// As many as may be.
  void fill() {
    take_ = true;
    clocks(50);
    take_ = false;
  }

  void random_clock(const std::array<unsigned, 3>& paces) {
    take_ = bench_.chance(paces[0]);
    sender_ready_ = bench_.chance(paces[1]);
    done_ = bench_.chance(paces[2]);
    if (bench_.chance(2))
      answers_ = static_cast<uint16_t>(bench_.below(bench_.chance(90) ? most + 2 : 65536));
    if (bench_.chance(2)) quota_ = static_cast<uint16_t>(bench_.below(bench_.chance(90) ? most : 65536));
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
    EXPECT_TRUE(owed_.empty());
  }

  static constexpr unsigned depth = 8;

  Bench<typename Size::Top> bench_;
  // inputs
  uint16_t answers_ = 0, quota_ = 0;
  bool take_ = false, sender_ready_ = false, done_ = false;  // take_: if it may
  std::size_t ends_ = 0;                                     // of those under way
  std::deque<ReadId> reads_;                                 // this clock, one clock ago, ...
  bool few_reads_ = false;
  unsigned repeats_ = 0;  // percent of those just before
  uint32_t last_ = 0;
  // what should be inside
  std::deque<std::pair<rdma::Post, uint64_t>> coming_;  // and when
  std::deque<ReadId> coming_reads_;
  std::deque<std::pair<rdma::Post, ReadId>> waiting_;
  std::vector<Owed> under_way_;
  std::vector<ReadId> owed_;  // all of these
  std::deque<Over> over_;     // the last ones
  unsigned bound_ = 0, quota_before_ = 0, started_ = 0, asked_ = 0, refused_ = 0, idle_clocks_ = 0;
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
    EXPECT_EQ(this->owed_.size(), std::min(answers, this->most));
    EXPECT_EQ(this->bench_->keep_o, std::min(answers, this->most)) << "none has a context yet";
  }
}

TYPED_TEST(RdmaAnswers, LastPlaceIsGivenOnce) {
  this->answers_ = 1;
  this->clocks(3);
  ASSERT_TRUE(this->bench_->answer_room_o);
  this->take_ = true;
  this->clock();
  this->take_ = false;
  this->bench_.settle();
  EXPECT_FALSE(this->bench_->answer_room_o) << "in the clock after it was taken";
}

TYPED_TEST(RdmaAnswers, OneMoreOnceOneIsOver) {
  this->answers_ = 2;
  this->fill();
  this->sender_ready_ = true;
  this->clocks(10);
  EXPECT_EQ(this->under_way_.size(), 2u);
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

/// However many clocks the second one is behind, and while the first one waits or is under way.
TYPED_TEST(RdmaAnswers, AReadThatComesTwiceHasOneAnswer) {
  const ReadId twin{3, 9, 33};
  for (unsigned distance = 1; distance < 40; ++distance) {
    this->restart();
    this->answers_ = this->most;
    this->clocks(3);
    for (unsigned n = 0; n <= distance + this->look; ++n) {
      this->sender_ready_ = distance % 2 == 0;
      this->take_ = n == this->look || n == distance + this->look;
      this->clock_with(n == 0 || n == distance ? twin : this->next_read());
    }
    EXPECT_EQ(this->owed_.size(), 1u) << distance;
    EXPECT_EQ(this->asked_, distance) << "one more with each distance";
  }
}

TYPED_TEST(RdmaAnswers, AReadWhoseAnswerIsOverIsTakenAgain) {
  const ReadId twin{3, 9, 33};
  this->answers_ = this->most;
  this->sender_ready_ = true;
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned n = 0; n < 30; ++n) {
      this->take_ = n == this->look;
      this->done_ = n == 20;
      this->clock_with(n == 0 ? twin : this->next_read());
    }
    EXPECT_EQ(this->started_, round + 1);
  }
}

TYPED_TEST(RdmaAnswers, EachBitOfAReadTellsItFromAnother) {
  const ReadId first{3, 9, 33};
  std::vector<ReadId> reads{first};
  for (unsigned bit = 0; bit < 4; ++bit) {
    reads.push_back({static_cast<uint16_t>(first.node ^ 1u << bit), first.ticket, first.number});
    reads.push_back({first.node, static_cast<uint16_t>(first.ticket ^ 1u << bit), first.number});
  }
  for (unsigned bit = 0; bit < 6; ++bit)
    reads.push_back({first.node, first.ticket, first.number ^ 1u << bit});
  for (unsigned distance : {1u, 2u, 3u, 20u}) {
    for (const ReadId& other : reads) {
      this->restart();
      this->answers_ = 2;
      this->clocks(3);
      for (unsigned n = 0; n <= distance + this->look; ++n) {
        this->take_ = n == this->look || n == distance + this->look;
        this->clock_with(n == 0 ? first : n == distance ? other : this->next_read());
      }
      EXPECT_EQ(this->owed_.size(), other == first ? 1u : 2u) << distance;
    }
  }
}

TYPED_TEST(RdmaAnswers, AGroupOfSourcesHasItsQuota) {
  this->answers_ = this->most;
  this->quota_ = 1;
  this->fill();
  EXPECT_EQ(this->owed_.size(), 2u) << "one of each group";
  this->sender_ready_ = true;
  this->clocks(20);
  this->done_ = true;
  this->clock();
  this->done_ = false;
  this->clocks(20);
  EXPECT_EQ(this->owed_.size(), 1u);
  this->fill();
  EXPECT_EQ(this->owed_.size(), 2u);
}

TYPED_TEST(RdmaAnswers, NothingIsLostUnderRandomPausesAndResets) {
  std::array<unsigned, 3> paces{};
  for (unsigned n = 0; n < 200'000; ++n) {
    if (n % 64 == 0) {
      std::ranges::generate(paces, [this] { return this->bench_.pace(); });
      this->few_reads_ = this->bench_.chance(70);
      this->repeats_ = this->bench_.pace();
    }
    if (this->bench_.below(5000) == 0) this->restart();
    this->random_clock(paces);
    if (this->HasFatalFailure()) FAIL() << "clock " << n;
  }
  this->drain();
  EXPECT_GT(this->started_, 5000u);
  EXPECT_GT(this->asked_, 5000u);
  EXPECT_GT(this->refused_, 5000u);
}

}  // namespace
}  // namespace weft::rtl_test
