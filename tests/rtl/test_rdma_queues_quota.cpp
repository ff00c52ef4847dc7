// SPDX-License-Identifier: Apache-2.0
// Shares of the send contexts: what a queue may have under way.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "rdma_queues_fixture.hpp"

namespace weft::rtl_test {
namespace {

class RdmaQueuesQuota : public RdmaQueues {
 protected:
  void open_with(uint32_t q, uint16_t quota) { open(q, 6, 6, IrqKind::none, quota); }
  std::vector<queue_formats::Submission> several(queue_formats::Opcode opcode, unsigned count) {
    std::vector<queue_formats::Submission> entries;
    for (unsigned n = 0; n < count; ++n) entries.push_back(entry_of(opcode));
    return entries;
  }
  /// The engine completes nothing: long enough that all has come to rest.
  void rest() {
    settle_registers();
    cycles(1000);
  }
  /// The engine completes one request of this queue.
  void end_one(uint32_t q) {
    const auto ends =
        std::find_if(engine_.begin(), engine_.end(), [&](const auto& o) { return o.queue == q; });
    ASSERT_NE(ends, engine_.end());
    std::iter_swap(engine_.begin(), ends);
    const auto others = std::vector(engine_.begin() + 1, engine_.end());
    engine_.resize(1);
    paces_.complete = 100;
    until([&] { return engine_.empty(); });
    paces_.complete = 0;
    engine_.insert(engine_.end(), others.begin(), others.end());
  }
};

TEST_F(RdmaQueuesQuota, HoldsBackOnlyItsQueue) {
  open_with(0, 5);
  open_with(1, 0);
  open_with(2, 7);
  paces_.complete = 0;
  for (uint32_t q = 0; q < 3; ++q) post(q, several(queue_formats::Opcode::write, 40));
  rest();
  EXPECT_EQ(model_.queue(0).head, 5);
  EXPECT_EQ(model_.queue(1).head, 40) << "no limit";
  EXPECT_EQ(model_.queue(2).head, 7);
  EXPECT_EQ(engine_.size(), 52u);
  end_one(2);
  rest();
  EXPECT_EQ(model_.queue(0).head, 5);
  EXPECT_EQ(model_.queue(2).head, 8);
  end_one(0);
  rest();
  end_one(0);
  rest();
  EXPECT_EQ(model_.queue(0).head, 7);
  EXPECT_EQ(model_.queue(2).head, 8);
  paces_.complete = 100;
  settle();
  for (uint32_t q = 0; q < 3; ++q) EXPECT_EQ(take(q, 99), 40);
}

TEST_F(RdmaQueuesQuota, CountsNoReadAndNoRecv) {
  open_with(0, 1);
  paces_.complete = 0;
  post(0, several(queue_formats::Opcode::recv, 9));
  settle_registers();
  post(0, several(queue_formats::Opcode::read, 9));
  rest();
  EXPECT_EQ(tickets_.size(), 18u);
  for (const auto opcode :
       {queue_formats::Opcode::write, queue_formats::Opcode::write_imm, queue_formats::Opcode::send}) {
    post(0, several(opcode, 1));
    rest();
    EXPECT_EQ(engine_.size(), 1u);
    post(0, several(opcode, 1));
    rest();
    EXPECT_EQ(engine_.size(), 1u) << "a second one waits";
    end_one(0);
    rest();
    end_one(0);
    rest();
  }
  EXPECT_EQ(tickets_.size(), 18u);
  paces_.complete = 100;
  settle();
  EXPECT_EQ(take(0, 99), 24);
}

/// What ends in the queues gives its share back, and one that is disabled leaves nothing to the next owner.
TEST_F(RdmaQueuesQuota, IsGivenBackHoweverARequestEnds) {
  open_with(0, 3);
  auto bad = several(queue_formats::Opcode::write, 40);
  for (size_t n = 0; n < bad.size(); n += 2) bad[n].opcode = 77;
  for (size_t n = 1; n < bad.size(); n += 2) bad[n].reserved1 = 1;
  post(0, bad);
  settle();
  EXPECT_EQ(take(0, 99), 40);
  ring_head(0, 40, false);
  const auto base = model_.queue(0).config.sq_base;
  memory_->inject_errors(base + 44 * 64, base + 64 * 64);
  post(0, several(queue_formats::Opcode::send, 24));
  settle();
  EXPECT_EQ(state(0), QueueState::error);
  EXPECT_EQ(model_.queue(0).held(), 0);
  memory_->inject_errors(0, 0);
  for (unsigned wait = 0; wait < 40; ++wait) {
    disable(0);
    settle();
    open_with(0, 3);
    post(0, several(queue_formats::Opcode::write, 20));
    settle_registers();
    cycles(wait);
  }
  settle();
  EXPECT_EQ(take(0, 99), 20);
}

/// The only share comes back in any clock before, in and after a visit that a doorbell causes; nothing else
/// would visit the queue again.
TEST_F(RdmaQueuesQuota, NoShareGivenBackIsOverlooked) {
  open_with(0, 1);
  for (unsigned wait = 0; wait < 40; ++wait) {
    paces_.complete = 0;
    post(0, several(queue_formats::Opcode::write, 1));
    until([&] { return engine_.size() == 1; });
    cycles(40);
    post(0, several(queue_formats::Opcode::write, 1));
    cycles(wait % 20);
    paces_.complete = 100;
    settle();
    ASSERT_EQ(model_.queue(0).head, 2 * (wait + 1))
        << "completion " << wait % 20 << " clocks after the doorbell";
    ring_head(0, take(0, 99), false);
    settle();
  }
}

TEST_F(RdmaQueuesQuota, TakesEffectWhenAQueueIsEnabled) {
  open_with(0, 2);
  EXPECT_TRUE(write_now(queue_reg::Q_QUOTA, 0x12345));
  EXPECT_EQ(read_now(queue_reg::Q_QUOTA), 0x2345u);
  paces_.complete = 0;
  post(0, several(queue_formats::Opcode::write, 20));
  rest();
  EXPECT_EQ(engine_.size(), 2u);
}

}  // namespace
}  // namespace weft::rtl_test
