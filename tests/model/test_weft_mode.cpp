// SPDX-License-Identifier: Apache-2.0
// Weft mode, which the paper does not have: the receiver's ACKs and the sender that keeps within the window.
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <vector>

#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

constexpr uint16_t sid = 2;
constexpr uint16_t cid = 1;
constexpr uint8_t log2_window = 3;  // of small_params()

Config weft_config(uint16_t node) {
  Config config = small_config(node);
  config.weft_mode = true;
  return config;
}

Params with_window(uint32_t window) {
  Params params = small_params();
  params.window = window;
  return params;
}

class WeftReceiver : public ::testing::Test {
 protected:
  RxResult grant(uint32_t packets) {
    Packet request{to_receiver(Ptype::rqt, sid, 5), {}};
    request.header.pidx = packets * 32;
    request.header.arg = 0x2000;
    last_ = packets - 1;
    return receiver.packet(request, {true, cid, 0});
  }

  RxResult data(uint32_t pidx, bool room = true, uint8_t flags = 0) {
    Packet packet{to_receiver(Ptype::data, sid, 5), pattern(32, pidx)};
    packet.header.cid = cid;
    packet.header.gen = 1;
    packet.header.pidx = pidx;
    packet.header.len = 32;
    packet.header.flags = static_cast<uint8_t>(flags | (pidx == last_ ? formats::flag_last : 0));
    return receiver.packet(packet, {room, {}, 0});
  }

  /// What an ACK asks for, and that all else in it is right.
  uint64_t map_of(const RxResult& result, uint32_t wbase) {
    if (!result.emitted) {
      ADD_FAILURE() << "no ACK";
      return 0;
    }
    Header expected = to_sender(Ptype::ack, sid, 5);
    expected.cid = cid;
    expected.gen = 1;
    expected.pidx = wbase;
    expected.arg = result.emitted->header.arg;
    EXPECT_TRUE(result.emitted->header == expected);
    EXPECT_EQ(expected.arg >> ack_map_bits, static_cast<uint64_t>(std::countr_zero(params.window)));
    return expected.arg & ack_map_mask;
  }

  Params params = with_window(8);
  Receiver receiver{params, weft_config(receiver_node)};

 private:
  uint32_t last_ = 0;
};

TEST_F(WeftReceiver, GrantTellsTheWindow) { EXPECT_EQ(grant(20).emitted->header.pidx, log2_window); }

TEST_F(WeftReceiver, AckAtEachQuarterOfTheWindow) {
  grant(20);
  for (uint32_t pidx = 0; pidx < 19; ++pidx) {
    const auto result = data(pidx);
    EXPECT_EQ(result.outcome, Outcome::advance);
    EXPECT_EQ(result.emitted.has_value(), pidx % 2 == 1) << pidx;
    if (pidx % 2 == 1) {
      EXPECT_EQ(map_of(result, pidx + 1), 0u);
    }
  }
  EXPECT_EQ(data(19).emitted->header.ptype, static_cast<uint8_t>(Ptype::done));
}

TEST_F(WeftReceiver, OneAckForALongStep) {
  grant(20);
  for (uint32_t pidx = 1; pidx < 8; ++pidx) EXPECT_FALSE(data(pidx).emitted);
  EXPECT_EQ(map_of(data(0), 8), 0u);
}

TEST_F(WeftReceiver, AckWithoutRoomIsCountedAndTheNextOneTellsMore) {
  grant(20);
  data(0);
  EXPECT_TRUE(data(1, false).ctl_dropped);
  data(2);
  EXPECT_EQ(map_of(data(3), 4), 0u);
}

TEST_F(WeftReceiver, BeyondTheWindowNothingIsAskedFor) {
  grant(20);
  const auto result = data(9);
  EXPECT_EQ(result.outcome, Outcome::drop_window);
  EXPECT_FALSE(result.emitted);
  EXPECT_FALSE(result.ctl_dropped);
}

TEST_F(WeftReceiver, TimeoutAsksForAllThatIsMissing) {
  grant(20);
  for (const uint32_t pidx : {0u, 3u, 4u, 6u}) data(pidx);
  const auto result = receiver.timeout(cid, {true, {}, 10});
  EXPECT_EQ(result.outcome, Outcome::ask_map);
  EXPECT_EQ(map_of(result, 1), 0b10011u) << "1, 2 and 5; nothing is known of 7";
  EXPECT_EQ(receiver.context(cid).silent, 1);
  EXPECT_EQ(receiver.context(cid).timer.elapsed(10), 0);
}

TEST_F(WeftReceiver, TimeoutWithNothingAheadAsksForTheFirst) {
  grant(20);
  EXPECT_EQ(map_of(receiver.timeout(cid, {true, {}, 10}), 0), 1u);
  EXPECT_TRUE(receiver.timeout(cid, {false, {}, 20}).ctl_dropped);
}

/// Flags of the ACKs that timeouts send, one after the other.
TEST_F(WeftReceiver, AckFromIfNothingBehindWbaseHasComeAtTheSecondTimeout) {
  uint16_t now = 0;
  const auto flags = [&] {
    const auto result = receiver.timeout(cid, {true, {}, now = static_cast<uint16_t>(now + 1000)});
    EXPECT_EQ(result.outcome, Outcome::ask_map);
    return result.emitted->header.flags;
  };
  grant(20);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(flags(), 0) << "none has come at all";
  data(0);
  EXPECT_EQ(flags(), 0) << "the first one";
  EXPECT_EQ(flags(), formats::flag_from);
  EXPECT_EQ(flags(), formats::flag_from);
  data(1, true, formats::flag_retry);
  EXPECT_EQ(flags(), formats::flag_from) << "that was asked for";
  data(2);
  EXPECT_EQ(flags(), 0) << "the first one since then";
  data(5);
  EXPECT_EQ(flags(), 0) << "5 has come";
  data(3);
  data(4);
  EXPECT_EQ(flags(), 0);
  EXPECT_EQ(flags(), formats::flag_from);
}

TEST_F(WeftReceiver, AckFromAtTheFirstTimeoutBehindAPacketThatWasAskedFor) {
  grant(20);
  receiver.timeout(cid, {true, {}, 1000});
  data(0, true, formats::flag_retry);
  EXPECT_EQ(receiver.timeout(cid, {true, {}, 2000}).emitted->header.flags, formats::flag_from);
}

TEST_F(WeftReceiver, AckFromWithoutRoomIsSaidByTheNextTimeout) {
  grant(20);
  data(0);
  receiver.timeout(cid, {false, {}, 1000});
  EXPECT_TRUE(receiver.timeout(cid, {false, {}, 2000}).ctl_dropped);
  EXPECT_EQ(receiver.timeout(cid, {true, {}, 3000}).emitted->header.flags, formats::flag_from);
}

TEST_F(WeftReceiver, MapEndsWhereItHasNoMoreBits) {
  params = with_window(128);
  receiver = Receiver(params, weft_config(receiver_node));
  grant(200);
  data(128);
  EXPECT_EQ(map_of(receiver.timeout(cid, {true, {}, 10}), 0), ack_map_mask);
  data(0);
  EXPECT_EQ(map_of(receiver.timeout(cid, {true, {}, 20}), 1), ack_map_mask);
}

class WeftReceiverAhead : public WeftReceiver {
 protected:
  WeftReceiverAhead() { set(2); }

  void set(uint8_t ahead, bool weft_mode = true) {
    Config config = weft_config(receiver_node);
    config.rx_ahead = ahead;
    config.weft_mode = weft_mode;
    receiver.configure(config);
  }

  /// The packet that RESEND asks for; nothing if nothing is sent.
  std::optional<uint32_t> asked(const RxResult& result) {
    EXPECT_EQ(result.outcome, Outcome::accept);
    if (!result.emitted) return std::nullopt;
    Header expected = to_sender(Ptype::resend, sid, 5);
    expected.cid = cid;
    expected.gen = 1;
    expected.pidx = result.emitted->header.pidx;
    EXPECT_TRUE(result.emitted->header == expected);
    return expected.pidx;
  }
};

TEST_F(WeftReceiverAhead, AsksForWhatAPacketIsAheadOfIfItIsMissing) {
  grant(20);
  EXPECT_EQ(asked(data(1)), std::nullopt) << "there is no packet -1";
  EXPECT_EQ(asked(data(3)), std::nullopt) << "1 has come";
  EXPECT_EQ(asked(data(2)), 0u);
  EXPECT_EQ(asked(data(6)), 4u);
  EXPECT_EQ(asked(data(8)), std::nullopt) << "6 has come";
  EXPECT_EQ(data(8).outcome, Outcome::drop_duplicate);
  EXPECT_FALSE(data(8).emitted) << "a copy asks for nothing";
  EXPECT_EQ(asked(data(7)), 5u);
  EXPECT_EQ(data(0).outcome, Outcome::advance);
  EXPECT_EQ(asked(data(5)), std::nullopt) << "3 is before WBASE";
}

TEST_F(WeftReceiverAhead, EachHoleOnceHoweverManyPacketsPass) {
  grant(20);
  std::vector<uint32_t> asked_for;
  for (const uint32_t pidx : {1u, 2u, 4u, 5u, 6u, 7u, 8u}) {
    if (const auto hole = asked(data(pidx))) asked_for.push_back(*hole);
  }
  EXPECT_EQ(asked_for, (std::vector<uint32_t>{0, 3}));
}

TEST_F(WeftReceiverAhead, TimerRestartsIfItIsWbaseThatIsAskedFor) {
  grant(20);
  const auto late = [&](uint32_t pidx, uint16_t now) {
    Packet packet{to_receiver(Ptype::data, sid, 5), pattern(32, pidx)};
    packet.header.cid = cid;
    packet.header.gen = 1;
    packet.header.pidx = pidx;
    packet.header.len = 32;
    return receiver.packet(packet, {true, {}, now});
  };
  EXPECT_EQ(asked(late(4, 3)), 2u);
  EXPECT_EQ(receiver.context(cid).timer.elapsed(3), 3);
  EXPECT_EQ(asked(late(2, 5)), 0u);
  EXPECT_EQ(receiver.context(cid).timer.elapsed(5), 0);
}

TEST_F(WeftReceiverAhead, WithoutRoomItIsCounted) {
  grant(20);
  EXPECT_TRUE(data(2, false).ctl_dropped);
  EXPECT_FALSE(data(1, false).ctl_dropped);
}

TEST_F(WeftReceiverAhead, NeverWithoutABoundNorInPaperMode) {
  for (const bool weft_mode : {true, false}) {
    set(weft_mode ? 0 : 2, weft_mode);
    receiver.reset();
    grant(20);
    for (uint32_t pidx = 1; pidx < 8; ++pidx) EXPECT_FALSE(data(pidx).emitted);
  }
}

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

  TxResult ack(uint32_t wbase, uint64_t map = 0, uint16_t now = 0, uint8_t flags = 0) {
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
  EXPECT_EQ(ack(2).outcome, Outcome::acked);
  EXPECT_EQ(sent(), (std::vector<int>{9, 10}));
  ack(11);
  EXPECT_EQ(sent().size(), 9u);
}

TEST_F(WeftSender, ResendOpensASecondWindowThatEndsWhenTheFirstMovesOn) {
  sent();
  EXPECT_EQ(resend(4).outcome, Outcome::resend_one);
  EXPECT_EQ(sent(), (std::vector<int>{})) << "4 is in the second half";
  EXPECT_EQ(resend(0).outcome, Outcome::resend_one);
  EXPECT_EQ(sent(), (std::vector<int>{9, 10, 11, 12, 13, 14, 15, 16}));
  resend(0);
  EXPECT_EQ(sent(), (std::vector<int>{})) << "there is no third one";
  ack(2);
  EXPECT_EQ(sent(), (std::vector<int>{17, 18})) << "that may not be what it was opened for";
  ack(6);
  EXPECT_EQ(sent(), (std::vector<int>{})) << "18 is beyond 6 + 8";
  ack(12);
  EXPECT_EQ(sent(), (std::vector<int>{19, 20}));
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

TEST_F(WeftSender, SecondWindowStaysOpenAsLongAsTheFirstMovesOnBySmallSteps) {
  sent();
  resend(0);
  sent();
  for (uint32_t wbase = 3; wbase <= 12; wbase += 3) ack(wbase);
  EXPECT_TRUE(sender.context(sid).second);
  EXPECT_EQ(sent().back(), 12 + 16);
  ack(16);
  EXPECT_FALSE(sender.context(sid).second);
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
  resend(1);
  EXPECT_EQ(sent(), (std::vector<int>{17}));
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
  sent();  // up to 32
  resend(24);
  EXPECT_EQ(sent(), (std::vector<int>{33, 34, 35, 36, 37, 38, 39}));
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
  EXPECT_EQ(sent(), (std::vector<int>{-30, -31, -32, -33, -34, -35, -36, -37, -38}));
}

TEST_F(WeftSender, FullWindowDoesNotKeepADeadPeerAlive) {
  sent();
  const auto result = sender.timeout(sid, {true, true, {}, 100});
  EXPECT_EQ(result.outcome, Outcome::give_up);
  EXPECT_EQ(result.completion, (Completion{7, Status::dead_peer}));
}

}  // namespace
}  // namespace weft::rdma::test
