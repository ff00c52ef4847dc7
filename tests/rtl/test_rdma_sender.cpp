// SPDX-License-Identifier: Apache-2.0
// rdma_sender at its ports: in lockstep with the golden model under random posts, answers, pauses and resets;
// what waits for what; one event a clock.
#include <algorithm>
#include <utility>

#include "Vrdma_sender.h"
#include "Vwide_sender.h"
#include "rdma_sender_lockstep.hpp"
#include "rdma_sender_traffic.hpp"

namespace weft::rtl_test {
namespace {

using rdma::set_flag;
using rdma::TxContext;
using rdma::formats::flag_from;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using rdma::formats::Refusal;
using rdma::formats::TransferFlag;
using State = TxContext::State;
using To = rdma::Post::To;

constexpr uint32_t payload = 64;
constexpr uint16_t peer = 5;

class RdmaSender : public testing::Test {
 protected:
  void SetUp() override { restart(); }

  void restart() {
    sender_.reset(sender_config());
    sender_.outcomes.clear();
  }

  static rdma::Post post(uint32_t packets) { return {0, 64 * payload, packets * payload, peer, 7}; }

  static rdma::Post answer_post(uint32_t packets) {
    rdma::Post post{0, 21, packets * payload, peer, 7, 3};
    post.to = To::ticket;
    return post;
  }

  Header grant(uint16_t sid) const {
    Header header = answer(sid, Ptype::rsp);
    header.cid = sid;
    if (sender_.golden().context(sid).to == To::region) return header;
    set_flag(header, TransferFlag::send);
    header.arg = (uint64_t{0x20000} + sid) << 32;
    return header;
  }

  static Header answer(const TxContext& context, uint16_t sid, Ptype type) {
    Header header = fitting_header(context, type);
    header.sid = sid;
    return header;
  }
  Header answer(uint16_t sid, Ptype type) const { return answer(sender_.golden().context(sid), sid, type); }

  void give(const Header& header) {
    sender_.header = header;
    sender_.give_inputs();
  }
  void give(const rdma::Post& post) {
    sender_.post = post;
    sender_.give_inputs();
  }

  /// All contexts have been granted, and have sent all of their `packets`.
  void fill_contexts(uint32_t packets) {
    for (unsigned n = 0; n < tx_contexts; ++n) give(post(packets));
    sender_.clocks(10);
    for (uint16_t sid = 0; sid < tx_contexts; ++sid) {
      give(grant(sid));
    }
    sender_.clocks(tx_contexts * packets * 5 + 20);
    ASSERT_EQ(sender_.outcomes[Outcome::send], tx_contexts * packets);
  }

  /// So many clocks with a RESEND at the input; from the third on an event retires in each.
  template <typename NextResend>
  void resend_each_clock(unsigned clocks, NextResend next_resend) {
    const unsigned before = sender_.events;
    for (unsigned n = 0; n < clocks; ++n) {
      if (!sender_.header) sender_.header = next_resend();
      sender_.clock();
      ASSERT_EQ(sender_.events - before, n < 3 ? 0 : n - 2) << "clock " << n;
    }
    sender_.header.reset();
  }

  SenderLockstep<Vrdma_sender> sender_{sender_params()};
  Bench<Vrdma_sender>& bench_ = sender_.bench();
};

TEST_F(RdmaSender, OneResendAClockToTheSameContext) {
  fill_contexts(4);
  uint32_t pidx = 0;
  resend_each_clock(2000, [&] {
    Header resend = answer(3, Ptype::resend);
    resend.pidx = pidx++ % 4;
    return resend;
  });
  EXPECT_EQ(sender_.outcomes[Outcome::resend_one], 1997u);
}

TEST_F(RdmaSender, OneResendAClockToRandomContexts) {
  fill_contexts(4);
  resend_each_clock(5000,
                    [&] { return answer(static_cast<uint16_t>(bench_.below(tx_contexts)), Ptype::resend); });
  EXPECT_EQ(sender_.outcomes[Outcome::resend_one], 4997u);
}

TEST_F(RdmaSender, OneEventAClockWhenTurnsWaitAsWell) {
  fill_contexts(40);
  const unsigned sent = sender_.outcomes[Outcome::send];
  resend_each_clock(5000, [&] {
    Header resend = answer(static_cast<uint16_t>(bench_.below(3)), Ptype::resend);
    resend.flags = flag_from;
    resend.pidx = static_cast<uint32_t>(bench_.below(40));
    return resend;
  });
  EXPECT_GE(sender_.outcomes[Outcome::send] - sent, 5000u / 16 - 1) << "packets keep turns from coming";
  EXPECT_LE(sender_.outcomes[Outcome::send] - sent, 5000u / 16 + 1) << "turns keep packets from coming";
}

TEST_F(RdmaSender, ResentAndNewDataTakeTurnsWhenBothWait) {
  fill_contexts(8);
  sender_.data_ready = false;
  Header resend = answer(2, Ptype::resend);
  for (int n = 0; n < 4; ++n) give(resend);
  resend.flags = flag_from;
  give(resend);
  sender_.clocks(20);  // new ones wait now, too
  sender_.resent.clear();
  sender_.data_ready = true;
  sender_.clocks(8);
  EXPECT_EQ(sender_.resent, (std::vector{true, false, true, false, true, false, true, false}));
}

TEST_F(RdmaSender, ResendIsDroppedWhenItsQueueIsFull) {
  fill_contexts(8);
  sender_.data_ready = false;
  for (unsigned n = 0; n < 2 * resend_depth; ++n) give(answer(1, Ptype::resend));
  sender_.clocks(5);
  EXPECT_GE(sender_.outcomes[Outcome::resend_one], resend_depth - 1);
  EXPECT_GE(sender_.outcomes[Outcome::drop_full], resend_depth);
}

/// Nothing of it has been sent then, so only a forged one can come so soon; it belongs to the transfer all
/// the same.
TEST_F(RdmaSender, AnswerInTheClockBehindTheGrantFindsItGranted) {
  for (const auto& [type, outcome] :
       {std::pair{Ptype::done, Outcome::complete}, std::pair{Ptype::ack, Outcome::acked}}) {
    restart();
    give(post(4));
    sender_.clocks(10);
    Header next = grant(0);
    give(next);
    next.ptype = static_cast<uint8_t>(type);
    next.pidx = 0;
    give(next);
    sender_.clocks(5);
    EXPECT_EQ(sender_.outcomes[Outcome::granted], 1u);
    EXPECT_EQ(sender_.outcomes[outcome], 1u) << name(outcome);
  }
}

// What waits

TEST_F(RdmaSender, PostWaitsForAContextAndForAPlaceForItsCompletion) {
  fill_contexts(1);
  sender_.cpl_ready = false;
  sender_.post = post(1);
  sender_.clocks(100);
  EXPECT_TRUE(sender_.post) << "all contexts are in use";
  sender_.post.reset();
  give(answer(4, Ptype::done));
  sender_.post = post(1);
  sender_.clocks(100);
  EXPECT_TRUE(sender_.post) << "a context is free, but all places for completions are taken";
  sender_.cpl_ready = true;
  sender_.give_inputs(10);
}

TEST_F(RdmaSender, RejectedPostsWaitForPlacesAlthoughAllContextsAreFree) {
  sender_.cpl_ready = false;
  for (unsigned n = 0; n < tx_contexts; ++n) give(post(0));
  sender_.post = post(0);
  sender_.clocks(100);
  EXPECT_TRUE(sender_.post);
  EXPECT_EQ(sender_.golden().free_contexts(), tx_contexts);
  sender_.cpl_ready = true;
  sender_.clock();
  sender_.cpl_ready = false;
  sender_.give_inputs(10);
}

TEST_F(RdmaSender, PacketsLeaveOneClockInSixteenToPosts) {
  Header stale;
  stale.ptype = static_cast<uint8_t>(Ptype::rsp);
  stale.arg = 1;
  sender_.post = post(1);
  for (unsigned n = 0; n < 17 && sender_.post; ++n) {
    sender_.header = stale;
    sender_.clock();
  }
  EXPECT_FALSE(sender_.post);
}

// What could not be read

class RdmaSenderFault : public RdmaSender {
 protected:
  void give_fault(uint16_t sid) {
    sender_.fault = {sid, sender_.golden().context(sid).msgid};
    sender_.give_inputs();
  }
};

TEST_F(RdmaSenderFault, EndsItsTransferAndFreesItsContext) {
  fill_contexts(4);
  give_fault(2);
  sender_.clocks(5);
  EXPECT_EQ(sender_.outcomes[Outcome::source_failed], 1u);
  EXPECT_EQ(sender_.golden().free_contexts(), 1u);
  give_fault(2);
  sender_.clocks(5);
  EXPECT_EQ(sender_.outcomes[Outcome::source_failed], 1u);
  EXPECT_EQ(sender_.stale_faults, 1u);
}

/// The end is in the clock before, in the same clock, or so many clocks later.
TEST_F(RdmaSenderFault, AndAnotherEndOneAfterTheOther) {
  for (int distance = -4; distance <= 4; ++distance) {
    restart();
    fill_contexts(2);
    const Header done = answer(5, Ptype::done);
    const SenderLockstep<Vrdma_sender>::Fault fault{5, done.msgid};
    for (int n = -4; n <= 4; ++n) {
      if (n == 0) sender_.fault = fault;
      if (n == distance) sender_.header = done;
      sender_.clock();
    }
    sender_.clocks(10);
    const unsigned failed = sender_.outcomes[Outcome::source_failed];
    const unsigned complete = sender_.outcomes[Outcome::complete];
    EXPECT_EQ(failed + complete, 1u) << distance;
    EXPECT_EQ(complete, distance <= 0 ? 1u : 0u) << distance << ": packets go first";
    EXPECT_EQ(sender_.golden().free_contexts(), 1u);
  }
}

TEST_F(RdmaSenderFault, IsTakenAmongPackets) {
  fill_contexts(2);
  Header stale;
  stale.ptype = static_cast<uint8_t>(Ptype::rsp);
  stale.arg = 1;
  sender_.fault = {1, sender_.golden().context(1).msgid};
  for (unsigned n = 0; n < 17 && sender_.fault; ++n) {
    sender_.header = stale;
    sender_.clock();
  }
  EXPECT_FALSE(sender_.fault);
}

TEST_F(RdmaSenderFault, OfAnAnswerEndsIt) {
  give(answer_post(2));
  sender_.clocks(10);
  give(grant(0));
  sender_.clocks(20);
  give_fault(0);
  sender_.clocks(5);
  EXPECT_EQ(sender_.answers_done, 1u);
  EXPECT_EQ(sender_.outcomes[Outcome::source_failed], 1u);
  EXPECT_EQ(bench_->cpl_count_o, 0);
}

TEST_F(RdmaSenderFault, IsForgottenByAReset) {
  for (unsigned after = 0; after < 6; ++after) {
    restart();
    fill_contexts(2);
    sender_.fault = {3, sender_.golden().context(3).msgid};
    sender_.clocks(after);
    sender_.reset(sender_config());
    if (HasFatalFailure()) return;
    sender_.clocks(20);
    ASSERT_TRUE(sender_.nothing_left());
  }
}

// docs/rdma_transfers.md: answers

TEST_F(RdmaSender, SoftwareLeavesAsManyContextsAsAreKept) {
  for (uint16_t keep = 0; keep <= tx_contexts + 1; ++keep) {
    sender_.keep = keep;
    restart();
    sender_.post = post(1);
    for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
      if (!sender_.post) sender_.post = post(1);
      sender_.clock();
    }
    EXPECT_EQ(sender_.golden().free_contexts(), std::min<unsigned>(keep, tx_contexts));
    EXPECT_TRUE(sender_.post) << "one more waits";
  }
}

TEST_F(RdmaSender, AnswersTakeWhatSoftwareHasToLeave) {
  sender_.keep = 3;
  for (unsigned n = 0; n < tx_contexts - 3; ++n) give(post(1));
  for (uint16_t left = 3; left > 0; --left) {
    sender_.post = post(1);
    sender_.clocks(50);
    ASSERT_TRUE(sender_.post);
    sender_.post = answer_post(1);
    sender_.give_inputs(2);
    sender_.keep = static_cast<uint16_t>(left - 1);
  }
  sender_.post = answer_post(1);
  sender_.clocks(50);
  EXPECT_TRUE(sender_.post) << "all contexts are in use";
  EXPECT_EQ(sender_.golden().answers(), 3u);
}

TEST_F(RdmaSender, ContextThatComesBackIsKeptAgain) {
  sender_.keep = 1;
  for (unsigned n = 0; n < tx_contexts - 1; ++n) give(post(1));
  give(answer_post(1));
  sender_.keep = 0;
  sender_.clocks(10);
  give(grant(tx_contexts - 1));
  sender_.clocks(10);
  sender_.post = post(1);
  sender_.header = answer(tx_contexts - 1, Ptype::done);
  for (unsigned n = 0; n < 50 && !HasFatalFailure(); ++n) {
    sender_.clock();
    if (sender_.answers_done == 1) sender_.keep = 1;  // in the clock after answer_done_o
  }
  EXPECT_EQ(sender_.answers_done, 1u);
  EXPECT_TRUE(sender_.post);
  EXPECT_EQ(sender_.golden().free_contexts(), 1u);
}

TEST_F(RdmaSender, SoftwareThatReadsNoCompletionsDoesNotStopAnswers) {
  sender_.cpl_ready = false;
  for (unsigned n = 0; n < tx_contexts; ++n) give(post(0));
  sender_.post = post(1);
  sender_.clocks(50);
  ASSERT_TRUE(sender_.post) << "there is no place for its completion";
  for (unsigned n = 0; n < 3 * tx_contexts && !HasFatalFailure(); ++n) {
    sender_.post = answer_post(2);
    sender_.give_inputs(2);
    sender_.clocks(5);
    const auto sid = static_cast<uint16_t>(n % tx_contexts);
    give(grant(sid));
    sender_.clocks(20);
    give(answer(sid, Ptype::done));
    sender_.clocks(5);
    ASSERT_EQ(sender_.answers_done, n + 1);
  }
  EXPECT_EQ(sender_.outcomes[Outcome::complete], 3 * tx_contexts);
  EXPECT_EQ(bench_->cpl_count_o, tx_contexts);
}

TEST_F(RdmaSender, AnswerThatIsRejectedIsOverAsWell) {
  give(answer_post(0));
  EXPECT_FALSE(bench_->idle_o);
  sender_.clocks(10);
  EXPECT_EQ(sender_.answers_done, 1u);
  EXPECT_TRUE(bench_->idle_o);
}

TEST_F(RdmaSender, IsNotIdleBeforeAnAnswerIsOver) {
  give(answer_post(1));
  sender_.clocks(100);
  EXPECT_FALSE(bench_->idle_o);
  Header refusal = answer(0, Ptype::rsp);
  refusal.arg = static_cast<uint64_t>(Refusal::not_wanted);
  give(refusal);
  sender_.clocks(10);
  EXPECT_EQ(sender_.answers_done, 1u);
  EXPECT_TRUE(bench_->idle_o);
}

TEST_F(RdmaSender, IsIdleOnceAllIsDone) {
  EXPECT_TRUE(bench_->idle_o);
  fill_contexts(2);
  for (uint16_t sid = 0; sid < tx_contexts; ++sid) {
    EXPECT_FALSE(bench_->idle_o);
    give(answer(sid, Ptype::done));
  }
  sender_.clocks(10);
  bench_.settle();
  EXPECT_TRUE(bench_->idle_o);
}

TEST_F(RdmaSender, IsNotIdleWhileAReleaseIsOnItsWay) {
  sender_.ctl_ready = false;
  give(answer(TxContext{}, 0, Ptype::done));
  sender_.clocks(10);  // idle_o is checked in each
  bench_.settle();
  EXPECT_TRUE(bench_->ctl_valid_o);
  EXPECT_FALSE(bench_->idle_o);
}

TEST_F(RdmaSender, OutputThatStopsForGoodEndsAllTransfers) {
  for (unsigned n = 0; n < tx_contexts; ++n) give(post(40));
  sender_.clocks(10);
  for (uint16_t sid = 0; sid < tx_contexts; ++sid) give(grant(sid));
  sender_.data_ready = false;
  const rdma::Config limits = sender_config();
  const unsigned ticks = (limits.max_retry + 1u) * limits.tx_dead + sender_.latest_overdue;
  for (unsigned n = 0; n < 8 * ticks && !HasFatalFailure(); ++n) {
    if (n % 8 == 0) ++sender_.now;
    sender_.clock();
  }
  EXPECT_EQ(sender_.outcomes[Outcome::give_up], tx_contexts);
  EXPECT_EQ(sender_.golden().free_contexts(), tx_contexts);
  EXPECT_FALSE(bench_->idle_o) << "what waits is of nobody any more, but not sent yet";
  give(post(2));
  sender_.clocks(20);
  uint16_t sid = 0;  // the turn of which still waits
  while (sender_.golden().context(sid).state != State::requested) ++sid;
  give(grant(sid));
  sender_.data_ready = true;
  sender_.clocks(200);
  give(answer(sid, Ptype::done));
  sender_.clocks(20);
  EXPECT_EQ(sender_.outcomes[Outcome::complete], 1u);
  bench_.settle();
  EXPECT_TRUE(bench_->idle_o);
}

TEST_F(RdmaSender, ResetForgetsAll) {
  for (unsigned after = 0; after < 30; ++after) {
    sender_.data_ready = sender_.ctl_ready = sender_.cpl_ready = false;
    give(post(0));
    give(post(3));
    sender_.clocks(5);
    give(answer(1, Ptype::rsp));
    sender_.clocks(after);
    sender_.reset(sender_config());
    if (HasFatalFailure()) return;
    sender_.clocks(50);
    ASSERT_TRUE(sender_.nothing_left());
  }
}

TEST_F(RdmaSender, NumbersTransfersFromWhatIsLoaded) {
  for (const uint32_t first : {1u, 21u, 42u, 62u, 63u, static_cast<uint32_t>(bench_.below(64))}) {
    restart();
    sender_.number_from(first);
    for (uint16_t n = 0; n < 3; ++n) {
      give(post(1));
      sender_.clocks(10);  // the request is compared
      EXPECT_EQ(sender_.golden().context(n).msgid, (first + n) % 64);
    }
    if (HasFatalFailure()) return;
  }
}

// Random traffic

TEST_F(RdmaSender, EqualsTheGoldenModelUnderRandomTrafficAndResets) {
  SenderTraffic traffic(sender_, sender_config());
  traffic.run(1'200'000);
  traffic.expect_each_outcome(50);
  EXPECT_GT(sender_.answers_done, 1000u);
}

TEST_F(RdmaSender, EqualsTheGoldenModelWithAnySettings) {
  SenderTraffic(sender_, sender_config()).run_with_any_settings(100'000);
  EXPECT_GT(sender_.outcomes[Outcome::send], 50u);
}

TEST_F(RdmaSender, EqualsTheGoldenModelWithoutTransfers) {
  sender_.compare_with(sender_params(false), sender_config());
  SenderTraffic traffic(sender_, sender_config());
  traffic.run(1'200'000);
  traffic.expect_each_outcome(50);
  EXPECT_EQ(sender_.outcomes[Outcome::drop_no_key], 0u);
  EXPECT_EQ(sender_.answers_done, 0u);
}

// All numbers as wide as headers and registers have them.

TEST(RdmaSenderWide, EqualsTheGoldenModelUnderRandomTrafficAndResets) {
  SenderLockstep<Vwide_sender> sender(widest(sender_params()));
  sender.reset(sender_config());
  SenderTraffic traffic(sender, sender_config());
  traffic.run(400'000);
  traffic.expect_each_outcome(10);
}

TEST(RdmaSenderWide, AnyPacketThatAnAckCanAskForAlone) {
  SenderLockstep<Vwide_sender> sender(widest(sender_params()));
  sender.reset(sender_config());
  constexpr uint32_t packets = 600;
  sender.post = rdma::Post{0, 64 * payload, packets * payload, peer, 7};
  sender.give_inputs();
  sender.clocks(10);
  constexpr uint16_t sid = 0;
  const auto answer_with = [&](Ptype type, uint32_t pidx, uint64_t arg) {
    sender.header = fitting_header(sender.golden().context(sid), type);
    sender.header->sid = sid;
    sender.header->pidx = pidx;
    sender.header->arg = arg;
    sender.give_inputs();
  };
  answer_with(Ptype::rsp, 0, 0);
  sender.clocks(packets * 5 + 20);
  ASSERT_EQ(sender.outcomes[Outcome::send], packets);
  unsigned asked = 0;
  for (const uint32_t base : {0u, 500u}) {
    for (uint32_t n = 0; n < rdma::ack_map_bits; ++n) {
      answer_with(Ptype::ack, base, uint64_t{1} << n);
      sender.clocks(15);
      ASSERT_EQ(sender.outcomes[Outcome::send_again], ++asked) << "packet " << base + n;
    }
  }
}

TEST(RdmaSenderWide, EqualsTheGoldenModelWithAnySettings) {
  SenderLockstep<Vwide_sender> sender(widest(sender_params()));
  sender.reset(sender_config());
  SenderTraffic(sender, sender_config()).run_with_any_settings(100'000);
}

}  // namespace
}  // namespace weft::rtl_test
