// SPDX-License-Identifier: Apache-2.0
// Interrupts of the host queues: level and messages, arming, moderation.
#include <cstdint>

#include "rdma_queues_fixture.hpp"

namespace weft::rtl_test {
namespace {

/// A completion that lands at any moment around the doorbell that arms wakes up, exactly once.
TEST_F(RdmaQueues, NoWakeUpIsLost) {
  open(0, 4, 6, IrqKind::message);
  for (unsigned wait = 0; wait < 80; ++wait) {
    const uint64_t fires = fires_, messages = messages_;
    arrival(0);
    cycles(wait % 40);
    ring_head(0, take(0, wait < 40 ? 0 : 99), true);
    settle();
    const bool seen = model_.queue(0).unseen() == 0;  // taken before arming: no interrupt, still armed
    cycles(50);
    EXPECT_EQ(fires_ - fires, seen ? 0u : 1u) << "armed " << wait % 40 << " clocks behind the arrival";
    EXPECT_EQ(messages_ - messages, seen ? 0u : 1u);
    EXPECT_EQ(model_.queue(0).armed, seen);
    if (seen) {
      one_completion(0);
      cycles(50);
      EXPECT_EQ(fires_ - fires, 1u);
    }
    ring_head(0, take(0, 99), false);
    settle();
  }
}

TEST_F(RdmaQueues, DisabledWhileItsMessageIsUnderWay) {
  start(memory(100));
  open(0, 4, 6, IrqKind::message);
  ring_head(0, 0, true);
  arrival(0);
  until([&] { return fires_ == 1; });
  disable(0);
  settle_registers();
  ASSERT_EQ(state(0), QueueState::drain);
  ASSERT_TRUE(model_.queue(0).message_under_way);
  settle();
  EXPECT_EQ(state(0), QueueState::off);
  EXPECT_EQ(messages_, 1u);
}

TEST_F(RdmaQueues, NothingIsSentUnlessArmed) {
  open(0, 4, 6, IrqKind::message);
  one_completion(0);
  cycles(300);
  EXPECT_EQ(fires_, 0u);
  ring_head(0, 0, true);
  settle();
  one_completion(0);
  cycles(300);
  EXPECT_EQ(fires_, 1u) << "once an arming";
}

TEST_F(RdmaQueues, MessageComesBehindTheCompletionsItAnnounces) {
  open(0, 4, 6, IrqKind::message);
  for (unsigned n = 0; n < 60; ++n) {
    ring_head(0, take(0, 99), true);
    settle_registers();
    const uint64_t messages = messages_;
    const uint16_t before = owners_[0].head;
    arrival(0);
    until([&] { return messages_ == messages + 1; });
    EXPECT_EQ(take(0, 99), before + 1) << "not yet in memory when the message came";
  }
}

TEST_F(RdmaQueues, ModerationByCount) {
  open(0, 4, 6, IrqKind::level);
  moderate(0, 4, 0xffff);
  ring_head(0, 0, true);
  settle();
  for (unsigned n = 1; n <= 4; ++n) {
    EXPECT_EQ(fires_, 0u) << "after " << n - 1;
    one_completion(0);
    cycles(100);
  }
  EXPECT_EQ(fires_, 1u);
  EXPECT_TRUE(bench_->irq_o);
  ring_head(0, 0, false);
  settle();
  cycles(3);
  EXPECT_FALSE(bench_->irq_o) << "CQ_HEAD ends it";
}

/// So many ticks of so many clocks, a tick more or less, and some clocks.
TEST_F(RdmaQueues, ModerationByTime) {
  struct Time {
    uint32_t cycles, ticks;
  };
  unsigned fires = 0;
  open(0, 4, 6, IrqKind::message);
  for (const auto& [tick, ticks] : {Time{10, 30}, Time{10, 30}, Time{0xffff, 1}, Time{0xaaaa, 2},
                                    Time{1, 0xffff}, Time{1, 0xaaaa}, Time{1, 0x5555}}) {
    write(queue_reg::TICK_CYCLES, tick);
    moderate(0, 50, ticks);
    ring_head(0, take(0, 99), true);
    settle();
    const uint64_t begin = bench_.cycle();
    one_completion(0);
    until([&] { return fires_ == fires + 1; }, 2 * tick * ticks + 1000);
    ASSERT_EQ(fire_cycles_.size(), ++fires);
    EXPECT_GE(fire_cycles_.back() - begin, uint64_t{tick} * (ticks - 1));
    EXPECT_LE(fire_cycles_.back() - begin, uint64_t{tick} * (ticks + 1) + 90);
    settle();
  }
}

TEST_F(RdmaQueues, SignalAndErrorsEndTheModeration) {
  open(0, 4, 6, IrqKind::message);
  moderate(0, 50, 0xffff);
  ring_head(0, 0, true);
  settle();
  one_completion(0);
  cycles(200);
  EXPECT_EQ(fires_, 0u);
  auto entry = plain_entry();
  entry.flags = queue_formats::flag_signal;
  post(0, {entry});
  settle();
  cycles(50);
  EXPECT_EQ(fires_, 1u) << "SIGNAL";
  ring_head(0, take(0, 99), true);
  settle();
  entry = plain_entry();
  entry.opcode = 200;
  post(0, {entry});
  settle();
  cycles(50);
  EXPECT_EQ(fires_, 2u) << "an error completion";
}

TEST_F(RdmaQueues, MessageThatMemoryRefusesIsCounted) {
  open(0, 4, 6, IrqKind::message);
  memory_->inject_errors(msi_base, msi_base + 4);
  ring_head(0, 0, true);
  settle();
  one_completion(0);
  until([&] { return fires_ == 1; });
  settle();
  EXPECT_EQ(read_now(queue_reg::MSI_ERRORS), 1u);
  EXPECT_EQ(state(0), QueueState::run);
}

}  // namespace
}  // namespace weft::rtl_test
