// SPDX-License-Identifier: Apache-2.0
// The sender with a receiver in weft mode, which the paper does not have: it keeps within the window, or one
// more.
#include <gtest/gtest.h>

#include <vector>

#include "rdma/sender.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

constexpr uint16_t sid = 2;
constexpr uint16_t cid = 1;
constexpr uint8_t log2_window = 3;  // of small_params()

class WeftSender : public ::testing::Test {
 protected:
  /// A transfer of 40 packets, granted by a receiver with a window of eight.
  void SetUp() override {
    sender.post({0, 0x2000, 40 * 32, receiver_node, 7}, {true, true, sid, 0});
    Header rsp = answer(Ptype::rsp);
    rsp.pidx = log2_window;
    sender.packet({rsp, {}}, {});
  }

  static Header answer(Ptype type) {
    Header header = to_sender(type, sid, 0);
    header.cid = cid;
    header.gen = 1;
    return header;
  }

  TxResult ack(uint32_t wbase, uint64_t map = 0, uint16_t now = 0, uint8_t flags = formats::flag_order) {
    Header header = answer(Ptype::ack);
    header.pidx = wbase;
    header.flags = flags;
    header.arg = uint64_t{log2_window} << ack_map_bits | map;
    return sender.packet({header, {}}, at(now));
  }

  TxResult resend(uint32_t pidx, uint8_t flags = 0, uint16_t now = 0) {
    Header header = answer(Ptype::resend);
    header.pidx = pidx;
    header.flags = flags;
    return sender.packet({header, {}}, at(now));
  }

  static TxInputs at(uint16_t now) { return {true, true, {}, now}; }

  bool restarted(uint16_t now) const { return sender.context(sid).timer.elapsed(now) == 0; }

  /// PIDX of all packets that turns send until none is left; those sent again are negative.
  std::vector<int> sent() {
    std::vector<int> pidx;
    while (sender.context(sid).turn) {
      const auto result = sender.turn(sid, {});
      if (!result.data) continue;
      const bool again = has_flag(result.data->header, formats::flag_retry);
      EXPECT_FALSE(result.data->resend) << "goes through the queue of new packets";
      pidx.push_back(again ? -static_cast<int>(result.data->header.pidx)
                           : static_cast<int>(result.data->header.pidx));
    }
    return pidx;
  }

  Sender sender{small_params(), small_config(sender_node)};
};

TEST_F(WeftSender, KeepsWithinTheWindow) {
  EXPECT_EQ(sent(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(ack(0, 0b1).outcome, Outcome::acked);
  EXPECT_EQ(sent(), (std::vector<int>{0}));
  ack(2);
  EXPECT_EQ(sent(), (std::vector<int>{9, 10}));
}

TEST_F(WeftSender, ResendOpensASecondWindow) {
  sent();
  EXPECT_EQ(resend(0).outcome, Outcome::resend_one);
  EXPECT_EQ(sent(), (std::vector<int>{9, 10, 11, 12, 13, 14, 15, 16}));
  resend(0);
  EXPECT_EQ(sent(), (std::vector<int>{-9, -10, -11, -12, -13, -14, -15, -16})) << "dropped before 0 came";
  ack(2);
  EXPECT_EQ(sent(), (std::vector<int>{17, 18}));
  ack(12);
  EXPECT_TRUE(sender.context(sid).second) << "stays open";
}

TEST_F(WeftSender, WhatWasSentBehindTheWindowBeforeTheRepeatFollowsItOnceMore) {
  sent();
  ack(5);
  sent();
  ack(9);  // all of the first window was sent before
  EXPECT_EQ(sent().back(), 25);
  resend(11);
  EXPECT_EQ(sender.context(sid).next, 11u + 8 + 1);
  EXPECT_EQ(sender.context(sid).high, 26u);
  EXPECT_EQ(sent(), (std::vector<int>{-20, -21, -22, -23, -24, -25}));
}

TEST_F(WeftSender, WindowThatIsFullWithNothingMissingIsShorterThanARoundTrip) {
  sent();
  ack(4);
  EXPECT_TRUE(sender.context(sid).second);
  EXPECT_EQ(sent().back(), 4 + 16);
}

TEST_F(WeftSender, FullWindowMayWaitForAPacketThatWasOvertakenWhereOrderIsNotKept) {
  sent();
  ack(4, 0, 0, 0);
  EXPECT_FALSE(sender.context(sid).second);
  EXPECT_EQ(sent().back(), 4 + 8);
}

TEST_F(WeftSender, WindowThatIsNotFullHasNoSecondOne) {
  for (int i = 0; i < 5; ++i) sender.turn(sid, {});
  ack(4);
  EXPECT_FALSE(sender.context(sid).second);
}

TEST_F(WeftSender, StandsStillAtAHoleUntilItIsFilled) {
  sent();
  ack(0, 0b1);
  sent();
  ack(9);
  EXPECT_FALSE(sender.context(sid).second) << "it was the hole that it waited for";
  sent();
  ack(13);
  EXPECT_TRUE(sender.context(sid).second);
}

TEST_F(WeftSender, WhatIsStillMissingTakesTheSecondWindowBack) {
  sent();
  resend(0);
  EXPECT_EQ(sent().size(), 8u);
  ack(0, 0b1);
  EXPECT_EQ(sent(), (std::vector<int>{0})) << "again";
  EXPECT_EQ(sender.context(sid).next, 9u);
  ack(2);
  EXPECT_EQ(sent(), (std::vector<int>{-9, -10}));
  ack(12, 0b1);
  EXPECT_EQ(sent(), (std::vector<int>{-12, -13, -14, -15, -16, 17, 18, 19, 20})) << "11 has come";
}

TEST_F(WeftSender, ReceiverThatGoesToPaperModeClosesTheSecondWindow) {
  sent();
  resend(0);
  sent();
  resend(0, formats::flag_from);
  EXPECT_FALSE(sender.context(sid).second);
  EXPECT_EQ(sender.turn(sid, {}).data->header.pidx, 0u);
  ack(4);
  EXPECT_EQ(sender.context(sid).span, log2_window);
  EXPECT_FALSE(sender.context(sid).second);
  EXPECT_EQ(sent().back(), -12);
}

TEST_F(WeftSender, NeighboursThatAreLostOpenOneSecondWindow) {
  sent();
  resend(0);
  resend(1);
  EXPECT_EQ(sent().size(), 8u);
  ack(1);
  EXPECT_EQ(sent(), (std::vector<int>{17}));
  resend(1);
  EXPECT_EQ(sent(), (std::vector<int>{-10, -11, -12, -13, -14, -15, -16, -17})) << "until 1 comes";
}

TEST_F(WeftSender, AckFromBringsAllAgainThatWasSent) {
  sent();
  ack(2, 0b1, 0, formats::flag_from);
  EXPECT_EQ(sender.turn(sid, {}).data->header.pidx, 2u);
  EXPECT_EQ(sender.turn(sid, {}).data->header.pidx, 3u);
  ack(2, 0b1, 0, formats::flag_from);
  EXPECT_EQ(sent(), (std::vector<int>{-2, -4, -5, -6, -7, -8, 9, 10})) << "they are under way already";
  resend(2);
  EXPECT_EQ(sent().size(), 8u);
  ack(2, 0b1, 0, formats::flag_from);
  EXPECT_EQ(sent(), (std::vector<int>{-2, -3, -4, -5, -6, -7, -8, -9, -10}));
}

/// The last packets of a transfer, of which some were dropped beyond the window: each timeout of the receiver
/// brings at least one on, whatever it tells.
TEST_F(WeftSender, EndOfATransferInTheSecondWindowComesBack) {
  for (uint32_t wbase = 0; wbase <= 24; wbase += 4) {
    sent();
    ack(wbase);
  }
  EXPECT_EQ(sent().back(), 39);
  resend(24);
  EXPECT_EQ(sent(), (std::vector<int>{-33, -34, -35, -36, -37, -38, -39}));
  ack(24, 0b1);
  EXPECT_EQ(sent(), (std::vector<int>{-24}));
  ack(33, 0b1);
  EXPECT_EQ(sent(), (std::vector<int>{-33, -34, -35, -36, -37, -38, -39}));
}

TEST_F(WeftSender, SendsAgainWhatIsAskedForAndThenGoesOn) {
  sent();
  ack(2, 0b1010001);
  EXPECT_EQ(sent(), (std::vector<int>{-2, -6, -8, 9, 10}));
}

TEST_F(WeftSender, WhatWasAskedForStaysSoUntilItIsSent) {
  sent();
  ack(2, 0b1010001);
  ack(4);
  EXPECT_EQ(sent(), (std::vector<int>{-6, -8, 9, 10, 11, 12})) << "2 has come meanwhile";
}

TEST_F(WeftSender, NothingStaysAskedForThatIsFarBehind) {
  sender = Sender(small_params(), small_config(sender_node));
  sender.post({0, 0x2000, 200 * 32, receiver_node, 7}, {true, true, sid, 0});
  Header rsp = answer(Ptype::rsp);
  rsp.pidx = 7;
  sender.packet({rsp, {}}, {});
  for (int n = 0; n < 129; ++n) sender.turn(sid, {});
  ack(0, ack_map_mask);
  ack(56);
  EXPECT_EQ(sender.context(sid).asked, 0u);
  ack(60, ack_map_mask);
  ack(115);
  EXPECT_EQ(sender.context(sid).asked, 1u) << "the last one of that map";
}

TEST_F(WeftSender, SendsNothingAgainThatItNeverSent) {
  sent();
  ack(7, 0xff);
  EXPECT_EQ(sent(), (std::vector<int>{-7, -8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST_F(WeftSender, OldAcksAndLiesChangeNothing) {
  sent();
  ack(4);
  const auto before = sender.context(sid);
  EXPECT_EQ(ack(3, 1).outcome, Outcome::drop_old_ack);
  EXPECT_EQ(ack(10, 1).outcome, Outcome::drop_old_ack) << "9 packets were sent";
  EXPECT_TRUE(sender.context(sid) == before);
  EXPECT_EQ(ack(9).outcome, Outcome::acked);
}

TEST_F(WeftSender, NewerAckTakesThePlaceOfWhatWasAskedFor) {
  sent();
  ack(2, 0b11);
  ack(3, 0b10);
  EXPECT_EQ(sent(), (std::vector<int>{-4, 9, 10, 11}));
}

TEST_F(WeftSender, StaleAckIsAnsweredByRelease) {
  Header header = answer(Ptype::ack);
  header.gen = 2;
  const auto result = sender.packet({header, {}}, {});
  EXPECT_EQ(result.outcome, Outcome::stale);
  ASSERT_TRUE(result.emitted);
  EXPECT_EQ(result.emitted->header.gen, 2);
}

TEST_F(WeftSender, AckStandsForALostResponse) {
  sender.reset();
  sender.post({0, 0x2000, 40 * 32, receiver_node, 7}, {true, true, sid, 0});
  EXPECT_EQ(ack(0, 1).outcome, Outcome::granted);
  EXPECT_EQ(sent().size(), 9u) << "and tells the window";
}

TEST_F(WeftSender, OnlyProgressRestartsTheTimer) {
  sender.turn(sid, at(10));
  EXPECT_TRUE(restarted(10)) << "a new packet";
  sent();
  ack(2, 0, 20);
  EXPECT_TRUE(restarted(20));
  ack(2, 0b11, 30);
  resend(3, 0, 30);
  resend(9, 0, 30);
  EXPECT_EQ(sender.turn(sid, at(30)).outcome, Outcome::send_again);
  EXPECT_TRUE(restarted(20)) << "2 is asked for, asked for again, and sent again";
  EXPECT_EQ(sender.turn(sid, at(30)).outcome, Outcome::send_again);
  EXPECT_EQ(sender.turn(sid, at(40)).outcome, Outcome::send);
  EXPECT_TRUE(restarted(40));
}

TEST_F(WeftSender, ReceiverThatRepeatsItselfDoesNotKeepIt) {
  sent();
  resend(0);
  sent();  // the second window
  for (uint16_t now = 0; now < 100; ++now) {
    ack(0, 1, now, now % 2 == 0 ? formats::flag_from : 0);
    resend(0, 0, now);
    while (sender.context(sid).turn) sender.turn(sid, at(now));
    EXPECT_FALSE(sender.due(sid, now));
  }
  EXPECT_EQ(sender.timeout(sid, at(100)).completion, (Completion{7, Status::dead_peer}));
}

TEST_F(WeftSender, ProgressStartsThePatienceAnew) {
  EXPECT_EQ(sender.timeout(sid, at(100)).outcome, Outcome::still_sending);
  EXPECT_EQ(sender.context(sid).retries, 1);
  sender.turn(sid, at(150));
  EXPECT_EQ(sender.context(sid).retries, 0);
  EXPECT_EQ(sender.timeout(sid, at(250)).outcome, Outcome::still_sending);
  ack(0, 1, 260);
  EXPECT_EQ(sender.context(sid).retries, 1);
  EXPECT_EQ(sender.turn(sid, at(270)).outcome, Outcome::send_again);
  EXPECT_EQ(sender.context(sid).retries, 1);
  EXPECT_EQ(sender.timeout(sid, at(350)).outcome, Outcome::still_sending);
  EXPECT_EQ(sender.timeout(sid, at(450)).completion, (Completion{7, Status::dead_peer}));
}

// MODE changes under way

TEST_F(WeftSender, ReceiverInPaperModeIsFollowedWithoutAWindow) {
  sent();
  EXPECT_EQ(resend(9, 0, 10).outcome, Outcome::drop_not_yet) << "all that was sent has arrived";
  EXPECT_EQ(resend(9, formats::flag_from, 20).outcome, Outcome::resend_from);
  EXPECT_TRUE(sender.context(sid).heard);
  EXPECT_EQ(sent().size(), 31u);
  EXPECT_FALSE(sender.context(sid).heard) << "they are new";
  EXPECT_EQ(resend(30, formats::flag_from, 30).outcome, Outcome::resend_from);
  EXPECT_EQ(sent().size(), 10u);
}

TEST_F(WeftSender, ReceiverThatFollowsNoWindowAndOnlyAsksAgainDoesNotKeepIt) {
  resend(0, formats::flag_from, 0);
  EXPECT_EQ(sent().size(), 40u) << "all of it";
  uint16_t now = 0;
  const auto ask = [&] {
    ack(0, 0, now);  // with a window
    resend(0, formats::flag_from, now);
    sent();
    resend(5, 0, now);
    resend(99, 0, now);
    EXPECT_TRUE(sender.context(sid).heard);
  };
  ask();
  for (int again = 0; again < 255; ++again) {
    ASSERT_EQ(sender.timeout(sid, at(now += 100)).outcome, Outcome::still_asked);
    ASSERT_FALSE(sender.context(sid).heard);
    ask();
  }
  EXPECT_EQ(sender.timeout(sid, at(now += 100)).completion, (Completion{7, Status::dead_peer}));
}

TEST_F(WeftSender, ReceiverWithoutAWindowThatIsSilentIsDead) {
  resend(0, formats::flag_from, 0);
  sent();
  resend(0, 0, 10);
  EXPECT_EQ(sender.timeout(sid, at(100)).outcome, Outcome::still_asked);
  EXPECT_EQ(sender.timeout(sid, at(200)).completion, (Completion{7, Status::dead_peer}));
}

TEST_F(WeftSender, ReceiverBackInWeftModeGetsAgainWhatItDropped) {
  sent();
  resend(9, formats::flag_from);
  sent();
  EXPECT_EQ(ack(12, 1, 50).outcome, Outcome::acked);
  EXPECT_TRUE(restarted(50));
  EXPECT_EQ(sent(), (std::vector<int>{-12, -12, -13, -14, -15, -16, -17, -18, -19, -20}));
  ack(30);
  EXPECT_EQ(sent(), (std::vector<int>{-30, -31, -32, -33, -34, -35, -36, -37, -38, -39}));
}

TEST_F(WeftSender, FullWindowDoesNotKeepADeadPeerAlive) {
  sent();
  const auto result = sender.timeout(sid, {true, true, {}, 100});
  EXPECT_EQ(result.outcome, Outcome::give_up);
  EXPECT_EQ(result.completion, (Completion{7, Status::dead_peer}));
}

}  // namespace
}  // namespace weft::rdma::test
