// SPDX-License-Identifier: Apache-2.0
// Weft mode of the receiver, which the paper does not have: its ACKs, and what it asks for.
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <vector>

#include "rdma/receiver.hpp"
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

TEST_F(WeftReceiverAhead, AckTellsOfOrderWithinAWindow) {
  grant(20);
  data(0);
  uint16_t now = 0;
  for (const auto& [ahead, ordered] : {std::pair{0, false}, {1, true}, {9, true}, {10, false}}) {
    set(static_cast<uint8_t>(ahead));
    const RxResult result = receiver.timeout(cid, {true, {}, now += 10});
    ASSERT_TRUE(result.emitted);
    EXPECT_EQ(has_flag(result.emitted->header, formats::flag_order), ordered) << "RX_AHEAD " << ahead;
  }
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

}  // namespace
}  // namespace weft::rdma::test
