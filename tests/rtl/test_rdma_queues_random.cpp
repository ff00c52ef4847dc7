// SPDX-License-Identifier: Apache-2.0
// The host queues in lockstep with their golden model: random use in several sizes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rdma_queues_fixture.hpp"

namespace weft::rtl_test {
namespace {

template <typename Config>
class RdmaQueuesRandom : public QueuesTest<Config> {
 protected:
  using Base = QueuesTest<Config>;
  using Base::bench_;
  using Base::model_;
  using Base::paces_;

  rdma_queues::QueueConfig random_config(uint32_t q) {
    const auto log2 = [&] { return static_cast<uint8_t>(4 + bench_.below(bench_.chance(5) ? 7 : 3)); };
    auto config = this->make_config(q, log2(), log2(), random_irq());
    if (bench_.chance(70)) config.quota = static_cast<uint16_t>(bench_.below(12));
    if (bench_.chance(10)) config.quota = static_cast<uint16_t>(bench_.below(1u << 16));
    return config;
  }

  IrqKind random_irq() { return IrqKind{static_cast<uint8_t>(bench_.below(3))}; }

  queue_formats::Submission random_entry() {
    auto entry = this->good_entry();
    switch (bench_.below(20)) {
      case 0:
        entry.opcode = static_cast<uint8_t>(bench_.below(bench_.chance(50) ? 256 : 20));
        break;
      case 5:
        entry.remote_addr = uint64_t{1} << bench_.below(64);
        break;
      case 6:
        entry.node = 1u << bench_.below(32);
        break;
      case 7:
        entry.remote_key = 1u << bench_.below(32);
        break;
      case 1:
        entry.flags = static_cast<uint8_t>(bench_.below(256));
        break;
      case 2:
        entry.reserved0 = static_cast<uint16_t>(1u << bench_.below(16));
        break;
      case 3:
        entry.reserved1 = uint64_t{1} << bench_.below(64);
        break;
      case 4:
        entry.reserved2 = uint64_t{1} << bench_.below(64);
        break;
      default:
        break;
    }
    return entry;
  }

  /// Something that software or an arrival does with a queue.
  void act(uint32_t q) {
    const auto& queue = model_.queue(q);
    const auto pick = bench_.below(100);
    if (queue.state == QueueState::off) {
      if (pick < 60) this->enable(q, random_config(q));
    } else if (pick < 35 && queue.state == QueueState::run) {
      const uint32_t space = this->free_entries(q);
      std::vector<queue_formats::Submission> entries(bench_.below(space + 1));
      for (auto& entry : entries) entry = random_entry();
      this->post(q, entries);
    } else if (pick < 70 && queue.live()) {
      const uint16_t head = queue.write_failed
                                ? queue.retired
                                : this->take(q, static_cast<uint32_t>(bench_.below(queue.cq_size() + 1)));
      this->ring_head(q, head, bench_.chance(50));
    } else if (pick < 74) {
      const unsigned bits = bench_.chance(80) ? 3 : 16;
      this->write(this->of(q, queue_reg::MODERATION),
                  static_cast<uint32_t>(bench_.any(bits) | bench_.any(bits) << 16));
    } else if (pick < 76 || (queue.state == QueueState::error && pick < 90)) {
      this->disable(q);
    } else if (pick < 85) {
      this->want_claim(q);
    } else {
      odd_access(q);
    }
  }

  /// Doorbells that are wrong or nearly so, reads of everything, holes, strobes.
  void odd_access(uint32_t q) {
    const auto& queue = model_.queue(q);
    const uint32_t near = static_cast<uint32_t>(bench_.below(5)) - 2;
    const uint32_t unaligned = bench_.chance(20) ? static_cast<uint32_t>(bench_.below(4)) : 0;
    const auto any_address =
        (static_cast<uint32_t>(bench_.below((2 * Config::queues) * 4096ull)) & ~3u) + unaligned;
    constexpr std::array admin{queue_reg::CAPS,           queue_reg::BAD_ACCESS,    queue_reg::BAD_DOORBELL,
                               queue_reg::DISCARDED,      queue_reg::FETCH_ERRORS,  queue_reg::WRITE_ERRORS,
                               queue_reg::MSI_ERRORS,     queue_reg::TICK_CYCLES,   queue_reg::IRQ_PENDING_LO,
                               queue_reg::IRQ_PENDING_HI, queue_reg::QUEUE,         queue_reg::Q_SQ_BASE_LO,
                               queue_reg::Q_SQ_BASE_HI,   queue_reg::Q_CQ_BASE_LO,  queue_reg::Q_CQ_BASE_HI,
                               queue_reg::Q_SIZE,         queue_reg::Q_OWNER,       queue_reg::Q_IRQ,
                               queue_reg::Q_MSI_ADDR_LO,  queue_reg::Q_MSI_ADDR_HI, queue_reg::Q_MSI_DATA,
                               queue_reg::Q_CTL,          queue_reg::Q_STATE,       queue_reg::Q_KEY,
                               queue_reg::Q_QUOTA};
    switch (bench_.below(9)) {
      case 0:  // a tail one too far or too short; never one that announces entries that were not written
        this->write(this->of(q, queue_reg::SQ_TAIL),
                    bench_.chance(50) ? static_cast<uint16_t>(queue.tail - 1)
                                      : static_cast<uint16_t>(queue.tail + queue.sq_size() + 1));
        break;
      case 1:
        this->write(this->of(q, queue_reg::SQ_TAIL), queue.tail | 0x10000u << bench_.below(16));
        break;
      case 2:
        this->write(this->of(q, queue_reg::CQ_HEAD),
                    static_cast<uint16_t>(queue.retired + 2 + bench_.below(60'000)));
        break;
      case 3:
        this->write(this->of(q, queue_reg::CQ_HEAD),
                    static_cast<uint16_t>(queue.cq_head - 1) | uint32_t{bench_.chance(50)}
                                                                   << (16 + bench_.below(16)));
        break;
      case 4:
        this->write(this->of(q, queue_reg::CQ_HEAD), static_cast<uint32_t>(queue.cq_head),
                    static_cast<uint8_t>(bench_.below(15)));
        break;
      case 5:
        this->read(any_address);
        break;
      case 6:
        this->read(admin[bench_.below(admin.size())] + unaligned);
        break;
      case 7:
        this->read(this->of(q, queue_reg::SQ_TAIL + 4 * static_cast<uint32_t>(bench_.below(7))));
        break;
      default:
        this->write(queue_reg::CAPS + near * 4 + unaligned, 0);
        break;
    }
  }

  uint32_t victim_ = 0;  // the queue whose rings answer with errors, used more than others

  /// A ring or the messages' page answer with errors, or nothing does.
  void toggle_errors() {
    victim_ = static_cast<uint32_t>(bench_.below(Config::queues));
    const auto& config = model_.queue(victim_).config;
    switch (bench_.below(8)) {
      case 0:
        this->memory_->inject_errors(config.sq_base + 64 * bench_.below(16), config.sq_base + 64 * 16);
        break;
      case 1:
        this->memory_->inject_errors(config.cq_base + 32 * bench_.below(16), config.cq_base + 32 * 16);
        break;
      case 2:
        this->memory_->inject_errors(this->msi_base, this->msi_base + 4096);
        break;
      default:
        this->memory_->inject_errors(0, 0);
        break;
    }
  }

  void new_paces() {
    const auto slow = [&] { return std::max(1u, bench_.pace()); };
    paces_ = {bench_.pace(), bench_.pace(), slow()};
  }

  /// Everything accepted completes; nothing is left that software was promised.
  void finish() {
    this->memory_->inject_errors(0, 0);
    paces_ = {};
    for (unsigned n = 0; n < 200 && !this->HasFatalFailure(); ++n) {
      this->until([&] { return this->quiet(); });
      const uint64_t before = this->completions_taken_;
      for (uint32_t q = 0; q < Config::queues; ++q) {
        const auto& queue = model_.queue(q);
        if (queue.live() && !queue.write_failed) this->ring_head(q, this->take(q, queue.cq_size()), false);
      }
      this->until([&] { return this->registers_idle(); });
      if (this->completions_taken_ == before) break;
    }
    for (uint32_t q = 0; q < Config::queues; ++q) {
      const auto& queue = model_.queue(q);
      if (!queue.live() || queue.write_failed) continue;
      this->take(q, queue.cq_size());
      EXPECT_EQ(this->owners_[q].awaited.size(), 0u) << "queue " << q << " has requests without a completion";
      if (queue.state == QueueState::run) {
        EXPECT_EQ(queue.head, queue.tail) << "queue " << q;
      }
    }
  }

  void run(unsigned cycles) {
    this->write(queue_reg::TICK_CYCLES, static_cast<uint32_t>(bench_.below(20)));
    for (unsigned n = 0; n < cycles && !this->HasFatalFailure(); ++n) {
      if (n % 300 == 0) new_paces();
      if (n % 150 == 0) toggle_errors();
      if (this->registers_idle() && bench_.chance(30))
        act(bench_.chance(20) ? victim_ : static_cast<uint32_t>(bench_.below(Config::queues)));
      this->cycle(paces_);
    }
  }
};

using Sizes = testing::Types<Eight, Two, SixtyFour>;
TYPED_TEST_SUITE(RdmaQueuesRandom, Sizes);

TYPED_TEST(RdmaQueuesRandom, EveryEventAsInTheModel) {
  for (const auto& config : {memory(0), memory(5, 30, 0.1), memory(20, 0, 0.5), memory(1, 3, 0.9)}) {
    this->start(config);
    ASSERT_NO_FATAL_FAILURE(this->run(TypeParam::queues == 64 ? 60'000 : 40'000));
    ASSERT_NO_FATAL_FAILURE(this->finish());
  }
  EXPECT_GT(this->requests_taken_, 500u);
  EXPECT_GT(this->completions_taken_, 500u);
  EXPECT_GT(this->fires_, 50u);
  EXPECT_GT(this->messages_, 20u);
  EXPECT_GT(this->errors_, 3u);
  EXPECT_GT(this->discards_, 3u);
  EXPECT_GT(this->claims_granted_, 20u);
  EXPECT_GT(this->told_, 20u);
  EXPECT_GT(this->held_back_, 5000u) << "clocks in which only a quota held a queue back";
  if (TypeParam::transfers) {
    EXPECT_GT(this->cancelled_, 3u);
  }
}

TYPED_TEST(RdmaQueuesRandom, ResetAtAnyTime) {
  this->start(memory(8, 10, 0.2));
  for (unsigned round = 0; round < 20; ++round) {
    ASSERT_NO_FATAL_FAILURE(this->run(500 + static_cast<unsigned>(this->bench_.below(2000))));
    this->memory_->inject_errors(0, 0);
    this->reset();
  }
  ASSERT_NO_FATAL_FAILURE(this->run(5000));
  ASSERT_NO_FATAL_FAILURE(this->finish());
}

}  // namespace
}  // namespace weft::rtl_test
