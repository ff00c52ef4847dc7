// SPDX-License-Identifier: Apache-2.0
// rdma_post_mux beside a list of what was posted: nothing lost, doubled or out of order, answers first,
// registers and queues in turn, each completion back where its post came from.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "Vrdma_post_mux.h"
#include "bench.hpp"
#include "rdma_ports.hpp"

namespace weft::rtl_test {
namespace {

constexpr unsigned places = 4;  // as in CMakeLists.txt
constexpr std::array origins{Origin::registers, Origin::queues, Origin::answers};

struct Taken {
  Origin origin;
  rdma::Post post;
};

class RdmaPostMux : public testing::Test {
 protected:
  using Status = rdma::formats::Status;

  void SetUp() override { restart(); }

  void restart() {
    for (Origin origin : origins) waiting(origin).clear();
    for (Origin origin : origins) ended(origin).clear();
    owed_ = {};
    under_way_.clear();
    last_.reset();
    taken_.clear();
    returning_.clear();
    drive();
    bench_.reset(1);
  }

  std::deque<rdma::Post>& waiting(Origin origin) { return waiting_[static_cast<std::size_t>(origin)]; }
  std::deque<uint16_t>& ended(Origin origin) { return ended_[static_cast<std::size_t>(origin)]; }
  unsigned& owed(Origin origin) { return owed_[static_cast<std::size_t>(origin)]; }

  void post(Origin origin) {
    rdma::Post post{bench_.below(~uint64_t{0}), bench_.below(~uint64_t{0}), number(), number(), ++tag_};
    post.rkey = number() & 0xffffff;
    if (origin == Origin::answers) post.to = rdma::Post::To::ticket;
    if (bench_.chance(50)) post.imm = number();
    waiting(origin).push_back(post);
  }

  uint32_t number() { return static_cast<uint32_t>(bench_.below(uint64_t{1} << 32)); }

  void drive() {
    bench_->open_i = open_;
    bench_->reg_post_valid_i = !waiting(Origin::registers).empty();
    bench_->queue_post_valid_i = !waiting(Origin::queues).empty();
    bench_->answer_post_valid_i = !waiting(Origin::answers).empty();
    // What the port says of the origin is not looked at.
    const auto lie = static_cast<Origin>(bench_.below(3));
    if (bench_->reg_post_valid_i) put_post(bench_->reg_post_i, waiting(Origin::registers).front(), lie);
    if (bench_->queue_post_valid_i)
      put_post(bench_->queue_post_i, waiting(Origin::queues).front(), Origin::queues);
    if (bench_->answer_post_valid_i) put_post(bench_->answer_post_i, waiting(Origin::answers).front(), lie);
    bench_->post_ready_i = sender_ready_;
    bench_->reg_cpl_ready_i = reg_reads_;
    bench_->queue_cpl_ready_i = queue_reads_;
    bench_->cpl_valid_i = !returning_.empty();
    if (!returning_.empty())
      bench_->cpl_i = completion_bits({returning_.front().second, Status::ok}, returning_.front().first);
  }

  /// So many posts of the registers were taken, and their completions not read.
  unsigned used_places() { return owed(Origin::registers); }

  bool welcome(Origin origin) {
    if (waiting(origin).empty()) return false;
    return origin == Origin::answers || (origin == Origin::queues ? open_ : used_places() < places);
  }

  void check_posts() {
    const bool any = std::ranges::any_of(origins, [this](Origin origin) { return welcome(origin); });
    ASSERT_EQ(bench_->post_valid_o, any);
    if (!any) return;
    const Origin origin = origin_of_post(bench_->post_o);
    ASSERT_TRUE(welcome(origin));
    ASSERT_TRUE(get_post(bench_->post_o) == waiting(origin).front());
    if (welcome(Origin::answers)) {
      ASSERT_EQ(origin, Origin::answers) << "answers come first";
    } else if (welcome(Origin::registers) && welcome(Origin::queues) && last_) {
      ASSERT_NE(origin, *last_) << "in turn";
    }
    const std::array ready{bench_->reg_post_ready_o, bench_->queue_post_ready_o, bench_->answer_post_ready_o};
    for (Origin other : origins) {
      ASSERT_EQ(ready[static_cast<std::size_t>(other)] && !waiting(other).empty(),
                sender_ready_ && other == origin);
    }
    if (sender_ready_) take(origin);
  }

  void take(Origin origin) {
    taken_.push_back({origin, waiting(origin).front()});
    if (origin != Origin::answers) {
      ++owed(origin);
      under_way_.push_back({origin, waiting(origin).front().tag});
      last_ = origin;
    }
    waiting(origin).pop_front();
  }

  void check_completions() {
    if (!returning_.empty()) {
      ASSERT_EQ(bench_->cpl_ready_o, returning_.front().first == Origin::registers || queue_reads_);
    }
    if (bench_->queue_cpl_valid_o) read(Origin::queues, bench_->queue_cpl_o, queue_reads_);
    if (bench_->reg_cpl_valid_o) read(Origin::registers, bench_->reg_cpl_o, reg_reads_);
  }

  /// A completion comes to where its post came from, and in the order in which the transfers ended.
  void read(Origin origin, uint32_t bits, bool ready) {
    auto& tags = ended(origin);
    ASSERT_FALSE(tags.empty()) << "a completion that is not owed";
    ASSERT_EQ(bits, completion_bits({tags.front(), Status::ok}, origin));
    if (!ready) return;
    tags.pop_front();
    --owed(origin);
  }

  void clock() {
    drive();
    bench_.settle();
    if (bench_->idle_o) {
      ASSERT_TRUE(waiting(Origin::registers).empty() && used_places() == 0);
    }
    const bool accepted = bench_->cpl_valid_i && bench_->cpl_ready_o;
    check_posts();
    check_completions();
    if (accepted) returning_.pop_front();
    bench_.step();
  }

  /// The transfer is over that was taken as the n-th of those under way.
  void end(std::size_t n) {
    const auto over = under_way_.begin() + static_cast<std::ptrdiff_t>(n);
    returning_.push_back(*over);
    ended(over->first).push_back(over->second);
    under_way_.erase(over);
  }

  void random_clock(const std::array<unsigned, 6>& paces) {
    for (Origin origin : origins) {
      if (waiting(origin).empty() && bench_.chance(paces[static_cast<std::size_t>(origin)])) post(origin);
    }
    sender_ready_ = under_way_.size() + returning_.size() < 8 && bench_.chance(paces[3]);
    reg_reads_ = bench_.chance(paces[4]);
    queue_reads_ = bench_.chance(paces[5]);
    open_ = bench_.chance(open_ ? 98 : 20);
    if (!under_way_.empty() && bench_.chance(50)) end(bench_.below(under_way_.size()));
    clock();
  }

  void drain() {
    sender_ready_ = reg_reads_ = queue_reads_ = open_ = true;
    for (unsigned n = 0; n < 100; ++n) {
      while (!under_way_.empty()) end(0);
      clock();
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(bench_->idle_o);
    for (Origin origin : origins) EXPECT_TRUE(waiting(origin).empty() && owed(origin) == 0);
  }

  std::vector<Origin> order() const {
    std::vector<Origin> order;
    for (const Taken& taken : taken_) order.push_back(taken.origin);
    return order;
  }

  Bench<Vrdma_post_mux> bench_;
  std::array<std::deque<rdma::Post>, 3> waiting_;
  std::array<unsigned, 3> owed_{};                      // completions that software has not read
  std::array<std::deque<uint16_t>, 3> ended_;           // their tags, of transfers that are over
  std::vector<Taken> taken_;                            // by the sender
  std::vector<std::pair<Origin, uint16_t>> under_way_;  // there
  std::deque<std::pair<Origin, uint16_t>> returning_;   // at the completion input
  std::optional<Origin> last_;                          // of software, taken last
  uint16_t tag_ = 0;
  bool open_ = true, sender_ready_ = true, reg_reads_ = true, queue_reads_ = true;
};

TEST_F(RdmaPostMux, AnswersGoFirstThenBothInTurn) {
  for (unsigned n = 0; n < 3; ++n) {
    for (Origin origin : origins) post(origin);
  }
  for (unsigned n = 0; n < 9; ++n) clock();
  using enum Origin;
  EXPECT_EQ(order(), (std::vector{answers, answers, answers, registers, queues, registers, queues, registers,
                                  queues}));
}

TEST_F(RdmaPostMux, AnswerOvertakesAPostThatWaits) {
  sender_ready_ = false;
  post(Origin::queues);
  for (unsigned n = 0; n < 5; ++n) clock();
  EXPECT_EQ(origin_of_post(bench_->post_o), Origin::queues);
  post(Origin::answers);
  clock();
  EXPECT_EQ(origin_of_post(bench_->post_o), Origin::answers);
  sender_ready_ = true;
  clock();
  clock();
  EXPECT_EQ(order(), (std::vector{Origin::answers, Origin::queues}));
}

TEST_F(RdmaPostMux, AnswersDoNotTurnTheTurnOfTheOthers) {
  post(Origin::registers);
  clock();
  for (unsigned n = 0; n < 3; ++n) post(Origin::answers);
  post(Origin::registers);
  post(Origin::queues);
  for (unsigned n = 0; n < 5; ++n) clock();
  using enum Origin;
  EXPECT_EQ(order(), (std::vector{registers, answers, answers, answers, queues, registers}));
}

TEST_F(RdmaPostMux, RegistersThatReadNothingStopOnlyThemselves) {
  reg_reads_ = false;
  for (unsigned n = 0; n < places; ++n) post(Origin::registers);
  for (unsigned n = 0; n < places; ++n) clock();
  while (!under_way_.empty()) end(0);
  post(Origin::registers);
  for (unsigned n = 0; n < 20; ++n) {
    post(Origin::queues);
    if (n % 2 == 0) post(Origin::answers);
    clock();
  }
  EXPECT_EQ(used_places(), places);
  EXPECT_EQ(waiting(Origin::registers).size(), 1u) << "no place for its completion";
  EXPECT_EQ(std::ranges::count(order(), Origin::answers), 10);
  EXPECT_EQ(std::ranges::count(order(), Origin::queues), 10);
  EXPECT_EQ(bench_->reg_cpl_count_o, places);
  drain();
}

TEST_F(RdmaPostMux, ClosedQueuesWait) {
  open_ = false;
  post(Origin::queues);
  clock();
  clock();
  EXPECT_TRUE(taken_.empty());
  post(Origin::answers);
  post(Origin::registers);
  clock();
  clock();
  EXPECT_EQ(order(), (std::vector{Origin::answers, Origin::registers}));
  open_ = true;
  clock();
  EXPECT_EQ(taken_.size(), 3u);
}

TEST_F(RdmaPostMux, NothingIsLostUnderRandomPausesAndResets) {
  std::array<unsigned, 6> paces{};
  std::map<Origin, unsigned> seen;
  for (unsigned n = 0; n < 200'000; ++n) {
    if (n % 64 == 0) std::ranges::generate(paces, [this] { return bench_.pace(); });
    if (bench_.below(5000) == 0) restart();
    const std::size_t before = taken_.size();
    random_clock(paces);
    if (HasFatalFailure()) FAIL() << "clock " << n;
    if (taken_.size() > before) ++seen[taken_.back().origin];
  }
  drain();
  for (Origin origin : origins) EXPECT_GT(seen[origin], 2000u) << static_cast<int>(origin);
}

}  // namespace
}  // namespace weft::rtl_test
