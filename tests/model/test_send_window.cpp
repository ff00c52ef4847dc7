// SPDX-License-Identifier: Apache-2.0
// Scheme sender_window, rule by rule (docs/rdma_baseline.md).
#include <gtest/gtest.h>

#include <vector>

#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

Params windowed_params() {
  Params params = small_params();
  params.scheme = Scheme::sender_window;
  params.window = 4;
  params.n_send_buffers = 2;
  return params;
}

class SendWindow : public testing::Test {
 protected:
  static constexpr uint16_t sid = 2;
  static constexpr uint16_t buffer = receiver_node % 2;

  /// A transfer of so many packets to context `cid`, granted.
  void begin(uint32_t packets, uint16_t as = sid, uint16_t cid = 0) {
    const TxResult posted =
        sender.post({0, 0x1000u + cid * 0x800u, packets * 32 - 5, receiver_node, as}, {true, true, as, now_});
    const Packet granted = *receiver.packet(*posted.emitted, {true, cid, now_}).emitted;
    EXPECT_EQ(granted.header.pidx, 0u) << "no window of the receiver";
    ASSERT_EQ(sender.packet(granted, inputs()).outcome, Outcome::granted);
  }

  TxInputs inputs() const { return {true, true, {}, now_}; }
  static Packet packet_of(const TxResult& result) {
    return {result.data->header, std::vector<uint8_t>(result.data->header.len)};
  }
  Packet sent(uint16_t as = sid) {
    const TxResult turn = sender.turn(as, inputs());
    EXPECT_EQ(turn.outcome, Outcome::send);
    return packet_of(turn);
  }
  std::vector<Packet> first_sent(size_t count) {
    std::vector<Packet> list(count);
    for (Packet& each : list) each = sent();
    return list;
  }
  /// The receiver's answer.
  Packet answer(const Packet& packet) {
    const RxResult result = receiver.packet(packet, {true, {}, now_});
    EXPECT_EQ(result.outcome, Outcome::accept);
    EXPECT_TRUE(result.write);
    return *result.emitted;
  }
  Outcome give(const Packet& packet) { return sender.packet(packet, inputs()).outcome; }
  void wait(uint16_t ticks) { now_ = static_cast<uint16_t>(now_ + ticks); }
  void time_out_buffer() {
    wait(small_config(0).tx_retry);
    ASSERT_TRUE(sender.buffer_due(buffer, now_));
    EXPECT_EQ(sender.buffer_timeout(buffer, inputs()).outcome, Outcome::resend_from);
  }

  Sender sender{windowed_params(), small_config(sender_node)};
  Receiver receiver{windowed_params(), small_config(receiver_node)};
  uint16_t now_ = 0;
};

TEST_F(SendWindow, CompletesWhenAllAreAnsweredInAnyOrder) {
  begin(3);
  std::vector<Packet> list = first_sent(3);
  EXPECT_EQ(give(answer(list[2])), Outcome::acked);
  EXPECT_EQ(give(answer(list[0])), Outcome::acked);
  const TxResult last = sender.packet(answer(list[1]), inputs());
  EXPECT_EQ(last.outcome, Outcome::complete);
  EXPECT_EQ(last.completion->status, Status::ok);
  EXPECT_EQ(receiver.packet(*last.emitted, {}).outcome, Outcome::released);
  EXPECT_TRUE(sender.buffer(buffer).empty());
}

TEST_F(SendWindow, StopsWhenTheWindowIsFullAndGoesOnWhenItSlides) {
  begin(6);
  std::vector<Packet> list = first_sent(4);
  const auto expect_lapse = [&] {
    EXPECT_EQ(sender.turn(sid, inputs()).outcome, Outcome::lapse);
    EXPECT_TRUE(sender.context(sid).turn) << "which comes again";
  };
  expect_lapse();
  EXPECT_EQ(give(answer(list[1])), Outcome::acked);
  expect_lapse();  // the oldest is not answered
  EXPECT_EQ(give(answer(list[0])), Outcome::acked);
  EXPECT_EQ(sent().header.pidx, 4u);
  EXPECT_EQ(sent().header.pidx, 5u);
}

TEST_F(SendWindow, TransfersToOneNodeShareItsWindow) {
  begin(4);
  begin(4, 3, 1);
  std::vector<Packet> list = first_sent(3);
  list.push_back(sent(3));
  EXPECT_EQ(sender.turn(sid, inputs()).outcome, Outcome::lapse);
  EXPECT_EQ(sender.turn(3, inputs()).outcome, Outcome::lapse);
  EXPECT_EQ(give(answer(list[0])), Outcome::acked);
  EXPECT_EQ(sent(3).header.pidx, 1u);
  EXPECT_EQ(sender.turn(sid, inputs()).outcome, Outcome::lapse);
}

TEST_F(SendWindow, TimeoutSendsAllThatIsNotAnsweredOnceMore) {
  begin(3);
  std::vector<Packet> list = first_sent(3);
  EXPECT_EQ(give(answer(list[1])), Outcome::acked);
  time_out_buffer();
  std::vector<uint32_t> again;
  while (sender.buffer(buffer).next_again()) {
    const TxResult turn = sender.buffer_turn(buffer, inputs());
    ASSERT_TRUE(turn.data);
    EXPECT_EQ(turn.outcome, Outcome::resend_one);
    EXPECT_TRUE(turn.data->header.flags & formats::flag_retry);
    again.push_back(turn.data->header.pidx);
    give(answer(packet_of(turn)));
  }
  EXPECT_EQ(again, (std::vector{0u, 2u}));
  EXPECT_EQ(sender.context(sid).state, TxContext::State::free);
}

TEST_F(SendWindow, AnswerCountsOnce) {
  begin(3);
  const Packet first = sent();
  const Packet told = answer(first);
  EXPECT_EQ(give(told), Outcome::acked);
  EXPECT_EQ(give(told), Outcome::drop_old_ack);
  EXPECT_EQ(give(answer(first)), Outcome::drop_old_ack) << "a double is written and answered again";
  Packet forged = answer(sent());
  forged.header.pidx = 0;
  EXPECT_EQ(give(forged), Outcome::drop_old_ack);
  forged.header.arg = 200;
  EXPECT_EQ(give(forged), Outcome::drop_old_ack) << "no such slot";
}

TEST_F(SendWindow, TimerBacksOffAndRestartsWhenTheWindowSlides) {
  begin(3);
  const Packet first = sent();
  sent();
  time_out_buffer();
  wait(static_cast<uint16_t>(small_config(0).tx_retry - 1));
  EXPECT_FALSE(sender.buffer_due(buffer, now_));
  EXPECT_EQ(give(answer(first)), Outcome::acked);
  wait(1);
  EXPECT_FALSE(sender.buffer_due(buffer, now_)) << "it began anew";
}

TEST_F(SendWindow, WhatIsOverLeavesTheBuffer) {
  begin(3);
  sent();
  const uint32_t msgid = sender.context(sid).msgid;
  EXPECT_EQ(sender.fault(sid, msgid, inputs()).outcome, Outcome::source_failed);
  EXPECT_FALSE(sender.buffer(buffer).empty());
  time_out_buffer();
  EXPECT_EQ(sender.buffer_turn(buffer, inputs()).outcome, Outcome::lapse);
  EXPECT_TRUE(sender.buffer(buffer).empty());
}

TEST_F(SendWindow, FailedWriteEndsTheTransferWithAnErrorWhenAllAreAnswered) {
  begin(2);
  Packet first = answer(sent());
  first.header.flags |= formats::flag_failed;
  const Packet second = answer(sent());
  EXPECT_EQ(give(first), Outcome::acked);
  const TxResult last = sender.packet(second, inputs());
  EXPECT_EQ(last.outcome, Outcome::complete_error);
  EXPECT_EQ(last.completion->status, Status::remote_error);
}

TEST_F(SendWindow, ReceiverAsksWhetherItIsOfUseAndASenderThatHasNoneReleasesIt) {
  begin(1);
  const TxResult last = sender.packet(answer(sent()), inputs());
  ASSERT_EQ(last.outcome, Outcome::complete);  // and its RELEASE is lost
  wait(small_config(0).rx_timeout);
  const RxResult asked = receiver.timeout(0, {true, {}, now_});
  EXPECT_EQ(asked.outcome, Outcome::ask_one);
  const TxResult told = sender.packet(*asked.emitted, inputs());
  EXPECT_EQ(told.outcome, Outcome::stale);
  EXPECT_EQ(receiver.packet(*told.emitted, {}).outcome, Outcome::released);
}

// Its packets may wait long for room in the buffer, or be lost again and again.
TEST_F(SendWindow, ReceiverKeepsAContextAsLongAsItsSenderHasUseForIt) {
  begin(2);
  sent();
  const Config config = small_config(0);
  for (int i = 0; i < 3 * config.max_silent; ++i) {
    wait(config.rx_timeout << config.backoff);
    const RxResult asked = receiver.timeout(0, {true, {}, now_});
    ASSERT_EQ(asked.outcome, Outcome::ask_one) << i;
    const TxResult told = sender.packet(*asked.emitted, inputs());
    ASSERT_EQ(told.outcome, Outcome::drop_not_yet);
    ASSERT_EQ(receiver.packet(*told.emitted, {true, {}, now_}).outcome, Outcome::kept);
    ASSERT_FALSE(receiver.due(0, now_));
  }
}

TEST_F(SendWindow, ContextOfASenderThatSaysNothingIsReclaimed) {
  begin(2);
  const Config config = small_config(0);
  Outcome last = Outcome::ask_one;
  for (int i = 0; i <= config.max_silent && last == Outcome::ask_one; ++i) {
    wait(config.rx_timeout << config.backoff);
    last = receiver.timeout(0, {true, {}, now_}).outcome;
  }
  EXPECT_EQ(last, Outcome::reclaim);
}

}  // namespace
}  // namespace weft::rdma::test
