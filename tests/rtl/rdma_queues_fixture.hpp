// SPDX-License-Identifier: Apache-2.0
// The host queues in the sizes that are tested, and what the tests of single rules share.
#pragma once

#include "Vqueues2.h"
#include "Vqueues64.h"
#include "Vqueues8.h"
#include "rdma_queues_lockstep.hpp"

namespace weft::rtl_test {

using queue_formats::IrqKind;
using queue_formats::QueueState;

struct Eight {
  using Top = Vqueues8;
  static constexpr uint32_t queues = 8, data_bytes = 32, addr_bits = 48, fetch = 4;
  static constexpr bool transfers = true;
};
struct Two {
  using Top = Vqueues2;
  static constexpr uint32_t queues = 2, data_bytes = 64, addr_bits = 40, fetch = 2;
  static constexpr bool transfers = false;
};
struct SixtyFour {
  using Top = Vqueues64;
  static constexpr uint32_t queues = 64, data_bytes = 64, addr_bits = 64, fetch = 16;
  static constexpr bool transfers = true;
};

inline tb::AxiMemoryConfig memory(uint32_t latency, uint32_t jitter = 0, double pause = 0) {
  tb::AxiMemoryConfig config;
  config.latency = latency;
  config.jitter = jitter;
  config.pause = pause;
  return config;
}

class RdmaQueues : public QueuesTest<Eight> {
 protected:
  void SetUp() override { start(memory(6, 4)); }

  /// Enabled, with all accesses made.
  void open(uint32_t q, uint8_t sq_log2 = 5, uint8_t cq_log2 = 6, IrqKind irq = IrqKind::none,
            uint16_t quota = 0) {
    auto config = make_config(q, sq_log2, cq_log2, irq);
    config.quota = quota;
    enable(q, config);
    until([&] { return registers_idle(); });
    ASSERT_EQ(state(q), QueueState::run);
  }
  QueueState state(uint32_t q) const { return model_.queue(q).state; }
  void settle() {
    until([&] { return quiet(); });
  }
  void settle_registers() {
    until([&] { return registers_idle(); });
  }
  queue_formats::Submission plain_entry() {
    auto entry = good_entry();
    entry.flags = 0;
    return entry;
  }
  queue_formats::Submission entry_of(queue_formats::Opcode opcode) {
    auto entry = plain_entry();
    while (entry.opcode != static_cast<uint8_t>(opcode)) entry = plain_entry();
    return entry;
  }
  /// One completion for this queue, with status OK and without SIGNAL, in memory and retired.
  void one_completion(uint32_t q) {
    arrival(q);
    settle();
  }
  /// The same, on its way.
  void arrival(uint32_t q) {
    const auto before = claims_granted_;
    want_claim(q);
    until([&] { return claims_granted_ == before + 1; });
  }
  void moderate(uint32_t q, uint32_t count, uint32_t ticks) {
    EXPECT_TRUE(write_now(of(q, queue_reg::MODERATION), count | ticks << 16));
  }
};

}  // namespace weft::rtl_test
