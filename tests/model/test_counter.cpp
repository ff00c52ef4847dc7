// SPDX-License-Identifier: Apache-2.0
// Scheme receiver_counter, rule by rule (docs/rdma_baseline.md).
#include <gtest/gtest.h>

#include <set>

#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

Params counter_params() {
  Params params = small_params();
  params.scheme = Scheme::receiver_counter;
  params.window = 64;
  return params;
}

class Counter : public testing::Test {
 protected:
  static constexpr uint32_t packets = 3;
  static constexpr uint16_t sid = 2;

  /// A transfer of three packets, granted.
  void SetUp() override {
    const TxResult posted =
        sender.post({0, 0x1000, packets * 32 - 5, receiver_node, 1}, {true, true, sid, 0});
    granted_ = *receiver.packet(*posted.emitted, {true, 0, 0}).emitted;
    EXPECT_EQ(granted_.header.pidx, 0u) << "no window";
    ASSERT_EQ(sender.packet(granted_, {}).outcome, Outcome::granted);
  }

  /// The next packet of the sender.
  Packet sent() {
    const TxResult turn = sender.turn(sid, {});
    EXPECT_EQ(turn.outcome, Outcome::send);
    return {turn.data->header, std::vector<uint8_t>(turn.data->header.len)};
  }
  std::vector<Packet> all_sent() {
    std::vector<Packet> list;
    for (uint32_t i = 0; i < packets; ++i) list.push_back(sent());
    return list;
  }
  RxResult give(const Packet& packet) { return receiver.packet(packet, {}); }
  RxResult time_out() {
    now_ = static_cast<uint16_t>(now_ + small_config(0).rx_timeout);
    return receiver.timeout(0, {true, {}, now_});
  }

  Sender sender{counter_params(), small_config(sender_node)};
  Receiver receiver{counter_params(), small_config(receiver_node)};
  Packet granted_;
  uint16_t now_ = 0;
};

TEST(CounterMix, IsABijectionOfWhatItIsGivenFirst) {
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < 100'000; ++i) seen.insert(mix(i));
  EXPECT_EQ(seen.size(), 100'000u);
}

/// Sums of two that a linear function could not tell apart.
TEST(CounterMix, IsNotLinear) {
  unsigned same = 0;
  for (uint32_t a = 1; a < 256; ++a) {
    for (uint32_t b = a + 1; b < 256; ++b) {
      for (const uint32_t x : {0u, 1000u}) same += mix(x) + mix(x ^ a ^ b) == mix(x ^ a) + mix(x ^ b);
    }
  }
  EXPECT_EQ(same, 0u);
}

TEST_F(Counter, FinishesWithAllPacketsInAnyOrder) {
  const auto list = all_sent();
  EXPECT_EQ(give(list[2]).outcome, Outcome::advance);
  const RxResult middle = give(list[0]);
  EXPECT_EQ(middle.outcome, Outcome::advance);
  EXPECT_EQ(middle.wbase, 2u) << "packets";
  EXPECT_EQ(middle.write->addr, 0x1000u);
  const RxResult last = give(list[1]);
  EXPECT_EQ(last.outcome, Outcome::finish);
  ASSERT_TRUE(last.emitted);
  EXPECT_EQ(sender.packet(*last.emitted, {}).outcome, Outcome::complete);
}

TEST_F(Counter, ADoubleDoesNotStandForOneThatIsMissing) {
  const auto list = all_sent();
  give(list[0]);
  give(list[0]);
  const RxResult third = give(list[2]);
  EXPECT_EQ(third.outcome, Outcome::ask_from) << "as many as there are, but not the right ones";
  EXPECT_TRUE(third.write) << "its bytes are right";
  EXPECT_EQ(third.wbase, 0u) << "the count begins again";
}

TEST_F(Counter, ATimeoutAsksForAllAndWhatIsOlderDoesNotCount) {
  const auto first = all_sent();
  give(first[0]);
  const RxResult asked = time_out();
  EXPECT_EQ(asked.outcome, Outcome::ask_from);
  EXPECT_EQ(asked.emitted->header.flags, formats::flag_from);
  EXPECT_EQ(give(first[1]).outcome, Outcome::drop_duplicate);
  EXPECT_EQ(sender.packet(*asked.emitted, {}).outcome, Outcome::resend_from);
  const auto second = all_sent();
  EXPECT_EQ(second[0].header.flags & formats::flag_retry, formats::flag_retry);
  EXPECT_EQ(give(second[0]).outcome, Outcome::advance);
  EXPECT_EQ(give(second[1]).outcome, Outcome::advance);
  EXPECT_EQ(give(first[2]).outcome, Outcome::drop_duplicate);
  EXPECT_EQ(give(second[2]).outcome, Outcome::finish);
  EXPECT_EQ(give(second[2]).outcome, Outcome::drop_duplicate);
}

TEST_F(Counter, AQuestionIsFollowedOnce) {
  all_sent();
  const RxResult asked = time_out();
  EXPECT_EQ(sender.packet(*asked.emitted, {}).outcome, Outcome::resend_from);
  sent();
  EXPECT_EQ(sender.packet(*asked.emitted, {}).outcome, Outcome::drop_not_yet);
  EXPECT_EQ(sender.context(sid).next, 1u);
  const RxResult again = time_out();
  EXPECT_EQ(sender.packet(*again.emitted, {}).outcome, Outcome::resend_from);
  EXPECT_EQ(sender.context(sid).next, 0u);
  EXPECT_EQ(sender.packet(*asked.emitted, {}).outcome, Outcome::drop_not_yet) << "the older one, late";
}

TEST_F(Counter, AnAttemptThatNobodyAskedForDoesNotCount) {
  Packet packet = sent();
  packet.header.arg += 1u << 24;
  EXPECT_EQ(give(packet).outcome, Outcome::drop_early);
}

/// The RSP was lost: RESEND stands for it only as long as no packet has come.
TEST_F(Counter, RequestedTransferBeginsByAQuestionAfterNoPacket) {
  Sender other(counter_params(), small_config(sender_node));
  other.post({0, 0x1000, packets * 32 - 5, receiver_node, 1}, {true, true, sid, 0});
  RxResult asked = time_out();
  EXPECT_EQ(other.packet(*asked.emitted, {}).outcome, Outcome::granted);
  const TxResult turn = other.turn(sid, {});
  EXPECT_EQ(give({turn.data->header, std::vector<uint8_t>(turn.data->header.len)}).outcome, Outcome::advance)
      << "of the attempt that was asked for";
  asked = time_out();
  Sender reset(counter_params(), small_config(sender_node));
  reset.post({0, 0x1000, packets * 32 - 5, receiver_node, 1}, {true, true, sid, 0});
  EXPECT_EQ(reset.packet(*asked.emitted, {}).outcome, Outcome::stale)
      << "it has got packets of an older life";
}

TEST_F(Counter, RepeatedRequestGetsTheSameGrantUntilAPacketHasCome) {
  Header request = to_receiver(Ptype::rqt, sid, sender.context(sid).msgid);
  RxInputs inputs;
  inputs.admission.kind = Admission::Kind::again;
  inputs.admission.cid = 0;
  time_out();
  EXPECT_EQ(receiver.packet({request, {}}, inputs).outcome, Outcome::grant_again);
  EXPECT_EQ(give(sent()).outcome, Outcome::drop_duplicate) << "of an attempt that is over";
  EXPECT_EQ(receiver.packet({request, {}}, inputs).outcome, Outcome::grant_again)
      << "nothing has been counted";
}

TEST_F(Counter, SilentTimeoutsEndTheContext) {
  for (unsigned n = 0; n < small_config(0).max_silent; ++n) EXPECT_EQ(time_out().outcome, Outcome::ask_from);
  EXPECT_EQ(time_out().outcome, Outcome::reclaim);
  EXPECT_EQ(receiver.free_contexts(), counter_params().n_rx_ctx);
}

TEST_F(Counter, AckOfAnotherSchemeMeansNothing) {
  Header ack = to_sender(Ptype::ack, sid, sender.context(sid).msgid);
  ack.cid = granted_.header.cid;
  ack.gen = granted_.header.gen;
  EXPECT_EQ(sender.packet({ack, {}}, {}).outcome, Outcome::drop_old_ack);
}

TEST(CounterParams, HasNoTransfersAndNoSmallWindow) {
  Params params = counter_params();
  EXPECT_NO_THROW(validate(params));
  params.window = 32;
  EXPECT_THROW(validate(params), Violation);
  params = counter_params();
  params.transfers = true;
  EXPECT_THROW(validate(params), Violation);
}

}  // namespace
}  // namespace weft::rdma::test
