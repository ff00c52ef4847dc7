// SPDX-License-Identifier: Apache-2.0
// What the host queues tell the inbox: which of them are open.
#include <cstdint>

#include "rdma_queues_fixture.hpp"

namespace weft::rtl_test {
namespace {

TEST_F(RdmaQueues, InboxKnowsWhichQueuesAreOpen) {
  EXPECT_EQ(read_now(queue_reg::CAPS), 8u | 4u << 8 | 0b111110u << 16);
  open(3);
  EXPECT_EQ(told_, 1u);
  EXPECT_TRUE(model_.queue(3).known_open);
  post(3, {entry_of(queue_formats::Opcode::recv), entry_of(queue_formats::Opcode::read)});
  paces_.complete = 0;
  until([&] { return tickets_.size() == 2; });
  disable(3);
  settle_registers();
  cycles(300);
  EXPECT_EQ(told_, 2u);
  EXPECT_FALSE(model_.queue(3).known_open);
  EXPECT_EQ(state(3), QueueState::drain) << "tickets are left";
  EXPECT_FALSE(write_now(queue_reg::Q_CTL, 1));
  paces_.complete = 100;
  settle();
  EXPECT_EQ(state(3), QueueState::off);
  EXPECT_EQ(cancelled_, 2u);
  EXPECT_EQ(discards_, 2u);
}

TEST_F(RdmaQueues, QueueInErrorIsClosedForTheInbox) {
  open(0);
  paces_.complete = 0;
  post(0, {entry_of(queue_formats::Opcode::recv)});
  until([&] { return tickets_.size() == 1; });
  const auto base = model_.queue(0).config.sq_base;
  memory_->inject_errors(base, base + 32 * 64);
  post(0, 1);
  until([&] { return state(0) == QueueState::error; });
  cycles(Eight::queues + 3);
  EXPECT_FALSE(model_.queue(0).known_open);
  paces_.complete = 100;
  settle();
  ASSERT_EQ(owners_[0].ring.size(), 1u) << "CANCELLED is written, not discarded";
  EXPECT_EQ(owners_[0].ring.front().status, static_cast<uint8_t>(rdma::formats::Status::cancelled));
  EXPECT_EQ(owners_[0].ring.front().opcode, static_cast<uint8_t>(queue_formats::Opcode::recv));
  EXPECT_EQ(take(0, 9), 1);
}

/// Queues fail and are disabled in the same few clocks: none is forgotten.
TEST_F(RdmaQueues, ManyQueuesCloseAtOnce) {
  for (uint32_t q = 0; q < queues; ++q) open(q, 4, 4);
  for (uint32_t q = 0; q < queues; ++q) {
    const auto base = model_.queue(q).config.sq_base;
    if (q == 2) memory_->inject_errors(base, base + 16 * 64);
    post(q, 1);
    disable(q);
    if (q % 2 == 1) enable(q - 1, make_config(q - 1, 4, 4, IrqKind::none));
  }
  settle();
  for (uint32_t q = 0; q < queues; ++q) {
    EXPECT_EQ(model_.queue(q).known_open, state(q) == QueueState::run) << "queue " << q;
  }
  EXPECT_GE(told_, 2u * queues);
}

class RdmaQueuesMany : public QueuesTest<SixtyFour> {};

/// The inbox can be told of one queue a clock: the one that is enabled comes first, the other must not be
/// forgotten, nor be OFF before. All places of the round at which both can meet.
TEST_F(RdmaQueuesMany, ClosesWhileAnotherIsEnabled) {
  start(memory(2));
  for (uint32_t n = 0; n < queues; ++n) {
    enable(0, make_config(0, 4, 4, IrqKind::none));
    stage(1, make_config(1, 4, 4, IrqKind::none));
    write(queue_reg::QUEUE, 0);
    until([&] { return registers_idle(); });
    cycles(static_cast<unsigned>((queues + n - bench_.cycle() % queues) % queues));
    write(queue_reg::Q_CTL, 0);
    write(queue_reg::QUEUE, 1);
    write(queue_reg::Q_CTL, 1);
    until([&] { return quiet(); });
    EXPECT_EQ(model_.queue(0).state, QueueState::off);
    EXPECT_TRUE(model_.queue(1).known_open);
    disable(1);
    until([&] { return quiet() && model_.queue(1).state == QueueState::off; });
  }
  EXPECT_EQ(told_, 4u * queues);
}

}  // namespace
}  // namespace weft::rtl_test
