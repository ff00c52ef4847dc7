// SPDX-License-Identifier: Apache-2.0
// The host queues in lockstep with their golden model: random use in several sizes, and each rule by itself.
#include <algorithm>
#include <array>
#include <cstdint>

#include "Vqueues2.h"
#include "Vqueues64.h"
#include "Vqueues8.h"
#include "driver/ring_driver.hpp"
#include "rdma_queues_lockstep.hpp"

namespace weft::rtl_test {
namespace {

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

tb::AxiMemoryConfig memory(uint32_t latency, uint32_t jitter = 0, double pause = 0) {
  tb::AxiMemoryConfig config;
  config.latency = latency;
  config.jitter = jitter;
  config.pause = pause;
  return config;
}

// ------------------------------------------------------------------------------------------------- random
// use

template <typename Config>
class RdmaQueuesRandom : public QueuesTest<Config> {
 protected:
  using Base = QueuesTest<Config>;
  using Base::bench_;
  using Base::model_;
  using Base::paces_;

  rdma_queues::QueueConfig random_config(uint32_t q) {
    const auto log2 = [&] { return static_cast<uint8_t>(4 + bench_.below(3)); };
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
        entry.reserved0 = 1;
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
      this->write(this->of(q, queue_reg::MODERATION),
                  static_cast<uint32_t>(bench_.below(8) | bench_.below(8) << 16));
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
    const uint32_t any_address = static_cast<uint32_t>(bench_.below((2 * Config::queues) * 4096ull)) & ~3u;
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
        this->read(admin[bench_.below(admin.size())]);
        break;
      case 7:
        this->read(this->of(q, queue_reg::SQ_TAIL + 4 * static_cast<uint32_t>(bench_.below(7))));
        break;
      default:
        this->write(queue_reg::CAPS + near * 4, 0);
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

// ------------------------------------------------------------------------------------------------- rule by
// rule

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

/// All doorbells while nothing is taken, so that all queues have work from the same clock on.
TEST_F(RdmaQueues, NoQueueIsAheadByMoreThanABurst) {
  for (uint32_t q = 0; q < queues; ++q) open(q, 6, 7);
  paces_.request = 0;
  for (uint32_t q = 0; q < queues; ++q) post(q, 64);
  settle_registers();
  request_order_.clear();
  const std::size_t before = 16 + 2;  // read ahead meanwhile, from the first queues
  paces_.request = 100;
  settle();
  std::array<uint32_t, queues> taken{};
  for (std::size_t n = 0; n < request_order_.size(); ++n) {
    if (n < before) continue;
    ++taken[request_order_[n]];
    const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
    if (n < 64 * queues - 200) {
      EXPECT_LE(*most - *least, 2 * Eight::fetch) << "after " << n << " requests";
    }
  }
  EXPECT_EQ(request_order_.size(), 64u * queues);
}

TEST_F(RdmaQueues, FullCompletionRingStopsOnlyItsQueue) {
  open(0, 5, 4);
  open(1, 5, 6);
  post(0, 32);
  settle();
  EXPECT_EQ(model_.queue(0).head, 16);
  post(1, 32);
  settle();
  EXPECT_EQ(model_.queue(1).head, 32);
  EXPECT_EQ(model_.queue(0).head, 16);
  ring_head(0, take(0, 5), false);
  settle();
  EXPECT_EQ(model_.queue(0).head, 21);
  EXPECT_EQ(model_.queue(0).written, 21);
}

// --- quotas

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

TEST_F(RdmaQueues, EnableRefusesBadRings) {
  const auto refuses = [&](auto change) {
    auto config = make_config(3, 5, 6, IrqKind::message);
    change(config);
    stage(3, config);
    settle_registers();
    EXPECT_FALSE(write_now(queue_reg::Q_CTL, 1));
    EXPECT_EQ(state(3), QueueState::off);
  };
  refuses([](auto& c) { c.sq_base += 64; });
  refuses([](auto& c) { c.cq_base += 2048; });
  refuses([](auto& c) { c.sq_base += 4096, c.sq_log2 = 7; });
  refuses([](auto& c) { c.cq_base += 4096, c.cq_log2 = 8; });
  refuses([](auto& c) { c.sq_log2 = 3; });
  refuses([](auto& c) { c.cq_log2 = 3; });
  refuses([](auto& c) { c.sq_base |= uint64_t{1} << 48; });
  refuses([](auto& c) { c.cq_base |= uint64_t{1} << 63; });
  refuses([](auto& c) { c.msi_addr += 2; });
  refuses([](auto& c) { c.msi_addr |= uint64_t{1} << 48; });
  refuses([](auto& c) { c.irq = IrqKind{3}; });
  EXPECT_EQ(read_now(queue_reg::BAD_ACCESS), 11u);
  open(3);
  EXPECT_FALSE(write_now(queue_reg::Q_CTL, 1)) << "not OFF";
  EXPECT_FALSE(write_now(queue_reg::Q_CTL, 2));
}

TEST_F(RdmaQueues, BadDoorbellsAreCountedAndChangeNothing) {
  open(2, 4, 4);
  uint32_t bad = 0;
  const auto refused = [&](uint32_t reg, uint32_t q, uint32_t data) {
    EXPECT_FALSE(write_now(of(q, reg), data)) << reg << " " << data;
    EXPECT_EQ(read_now(queue_reg::BAD_DOORBELL), ++bad);
  };
  refused(queue_reg::SQ_TAIL, 1, 1);  // OFF
  refused(queue_reg::CQ_HEAD, 1, 0);
  refused(queue_reg::SQ_TAIL, 2, 17);       // beyond its size
  refused(queue_reg::SQ_TAIL, 2, 0xffff);   // backwards beyond the head
  refused(queue_reg::SQ_TAIL, 2, 0x10000);  // upper bits
  refused(queue_reg::CQ_HEAD, 2, 1);        // nothing has come
  paces_.request = 0;
  post(2, 16);
  settle_registers();
  refused(queue_reg::SQ_TAIL, 2, 15);  // backwards, not beyond the head
  paces_.request = 100;
  settle();
  refused(queue_reg::CQ_HEAD, 2, 17);
  EXPECT_TRUE(write_now(of(2, queue_reg::CQ_HEAD), 9));
  take(2, 9);
  refused(queue_reg::CQ_HEAD, 2, 8);
  refused(queue_reg::CQ_HEAD, 2, 0x4000000a);
  EXPECT_FALSE(write_now(of(2, queue_reg::CQ_HEAD), 10, 0x7));
  EXPECT_EQ(read_now(queue_reg::BAD_DOORBELL), ++bad);
  EXPECT_EQ(model_.queue(2).cq_head, 9);
  EXPECT_EQ(model_.queue(2).tail, 16);
}

TEST_F(RdmaQueues, MalformedEntriesEndInErrorCompletions) {
  open(0, 5, 5);
  std::vector<queue_formats::Submission> entries(10);
  for (auto& entry : entries) entry = plain_entry();
  entries[0].opcode = 99;
  entries[1].reserved2 = 1;
  entries[2].flags = 4;
  entries[3].opcode = static_cast<uint8_t>(queue_formats::Opcode::receive);  // of completions only
  entries[4] = entry_of(queue_formats::Opcode::write);
  entries[4].flags = queue_formats::flag_imm;
  entries[5] = entry_of(queue_formats::Opcode::send);
  entries[5].remote_addr = 4096;
  entries[6] = entries[7] = entries[8] = entry_of(queue_formats::Opcode::recv);
  entries[6].node = 1;
  entries[7].remote_addr = uint64_t{1} << 63;
  entries[8].remote_key = 1;
  for (uint64_t n = 0; n < entries.size(); ++n) entries[n].tag = n;
  post(0, entries);
  settle();
  EXPECT_EQ(requests_taken_, 1u);
  std::vector<uint8_t> statuses;
  for (const auto& entry : owners_[0].ring) statuses.push_back(entry.status);
  const auto last = statuses.empty() ? uint8_t{0} : statuses.back();
  EXPECT_EQ(statuses, (std::vector<uint8_t>{16, 17, 17, 16, 17, 17, 17, 17, 17, last}));
  EXPECT_EQ(take(0, 99), 10);
  EXPECT_TRUE(owners_[0].awaited.empty());
}

class RdmaQueuesPlain : public QueuesTest<Two> {};

TEST_F(RdmaQueuesPlain, KnowsWriteOnly) {
  start(memory(2));
  enable(1, make_config(1, 4, 4, IrqKind::none));
  until([&] { return registers_idle(); });
  EXPECT_EQ(read_now(queue_reg::CAPS), 2u | 2u << 8 | 0b10u << 16);
  std::vector<queue_formats::Submission> entries(6);
  for (uint8_t opcode = 0; opcode < 6; ++opcode) {
    entries[opcode].opcode = opcode;
    entries[opcode].tag = opcode;
  }
  post(1, entries);
  until([&] { return quiet(); });
  EXPECT_EQ(requests_taken_, 1u);
  EXPECT_EQ(take(1, 99), 6);
}

// --- what the inbox is told

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

// --- driver

class DriverMemory final : public driver::RingMemory {
 public:
  explicit DriverMemory(tb::AxiMemory& memory) : memory_(memory) {}
  void write(uint64_t address, std::span<const uint8_t> bytes) override {
    memory_.memory().write(address, bytes);
  }
  void read(uint64_t address, std::span<uint8_t> bytes) const override {
    memory_.memory().read(address, bytes);
  }

 private:
  tb::AxiMemory& memory_;
};

class NoRegisters final : public driver::RegisterBus {
 public:
  void write(uint32_t, uint32_t, driver::OnWritten) override {}
  void read(uint32_t, driver::OnRead) override {}
};

/// Every kind of request of the driver is accepted, with its fields where they belong.
TEST_F(RdmaQueues, RequestsOfTheDriver) {
  open(0);
  DriverMemory rings(*memory_);
  NoRegisters bus;
  driver::RingSetup setup;
  setup.sq_base = model_.queue(0).config.sq_base;
  setup.sq_log2 = model_.queue(0).config.sq_log2;
  driver::RingQueue queue(bus, rings, 0, setup);
  const driver::LocalBytes local{0x1000, 512, 0x20003};
  const driver::RemoteBytes remote{7, 0x9000, 0x40005};
  EXPECT_TRUE(queue.post_write(1, local, remote, queue_formats::flag_signal));
  EXPECT_TRUE(queue.post_write_imm(2, local, remote, 0xabcd));
  EXPECT_TRUE(queue.post_send(3, local, {7, 5, 0x1234}));
  EXPECT_TRUE(queue.post_send(4, local, {7, 5, 0x1234}, 0xdcba));
  EXPECT_TRUE(queue.post_read(5, local, remote));
  EXPECT_TRUE(queue.post_recv(6, local));
  for (uint64_t tag = 1; tag <= 6; ++tag) owners_[0].awaited.insert(tag);
  write(of(0, queue_reg::SQ_TAIL), 6);
  settle();
  using queue_formats::Opcode;
  using Entry = queue_formats::Submission;
  const auto wanted = [&](uint64_t tag, Opcode opcode, auto change) {
    Entry entry;
    entry.opcode = static_cast<uint8_t>(opcode);
    entry.tag = tag;
    entry.local_addr = 0x1000;
    entry.bytes = 512;
    entry.local_key = 0x20003;
    change(entry);
    return entry;
  };
  const auto at_region = [](Entry& entry) {
    entry.node = 7, entry.remote_addr = 0x9000, entry.remote_key = 0x40005;
  };
  const std::vector<Entry> entries{
      wanted(1, Opcode::write, [&](Entry& e) { at_region(e), e.flags = queue_formats::flag_signal; }),
      wanted(2, Opcode::write_imm, [&](Entry& e) { at_region(e), e.immediate = 0xabcd; }),
      wanted(3, Opcode::send, [](Entry& e) { e.node = 7, e.remote_key = 0x51234; }),
      wanted(4, Opcode::send,
             [](Entry& e) {
               e.node = 7, e.remote_key = 0x51234, e.flags = queue_formats::flag_imm, e.immediate = 0xdcba;
             }),
      wanted(5, Opcode::read, at_region),
      wanted(6, Opcode::recv, [](Entry&) {}),
  };
  EXPECT_EQ(requests_seen_, entries);
}

TEST_F(RdmaQueues, PhaseTellsLapsApart) {
  open(4, 4, 4);
  for (unsigned lap = 0; lap < 5; ++lap) {
    for (unsigned part = 0; part < 4; ++part) {
      post(4, 4);
      settle();
      EXPECT_EQ(take(4, 99), 16 * lap + 4 * part + 4);
      ring_head(4, owners_[4].head, false);
    }
  }
  EXPECT_EQ(completions_taken_, 80u);
}

TEST_F(RdmaQueues, DrainDiscardsWhatTheEngineStillHas) {
  open(5, 5, 5);
  open(6, 5, 5);
  paces_.complete = 0;
  post(5, 10);
  post(6, 3);
  until([&] { return engine_.size() + tickets_.size() == 13; });
  disable(5);
  cycles(300);
  EXPECT_EQ(state(5), QueueState::drain);
  EXPECT_FALSE(write_now(queue_reg::Q_CTL, 1)) << "not OFF yet";
  paces_.complete = 100;
  settle();
  EXPECT_EQ(state(5), QueueState::off);
  EXPECT_EQ(discards_, 10u);
  EXPECT_EQ(read_now(queue_reg::DISCARDED), 10u);
  EXPECT_EQ(take(6, 99), 3) << "the other queue's completions are not discarded";
  open(5, 4, 4);  // another owner, other rings
  post(5, 7);
  settle();
  EXPECT_EQ(take(5, 99), 7);
}

/// Disabled in every phase of a fetch.
TEST_F(RdmaQueues, DisableAtAnyMoment) {
  open(0, 5, 5);
  for (unsigned wait = 0; wait < 60; ++wait) {
    open(1, 5, 5, IrqKind::message);
    ring_head(1, 0, true);
    post(1, 12);
    settle_registers();
    cycles(wait);
    disable(1);
    settle();
    ASSERT_EQ(state(1), QueueState::off) << "disabled " << wait << " clocks after the doorbell";
  }
  post(0, 1);
  settle();
  EXPECT_EQ(take(0, 9), 1);
}

TEST_F(RdmaQueues, FetchErrorStopsOnlyItsQueue) {
  open(0, 5, 5, IrqKind::level);
  open(1, 5, 5);
  ring_head(0, 0, true);
  const auto base = model_.queue(0).config.sq_base;
  memory_->inject_errors(base + 8 * 64, base + 9 * 64);
  post(0, 20);
  post(1, 20);
  settle();
  EXPECT_EQ(state(0), QueueState::error);
  EXPECT_EQ(model_.queue(0).head, 8) << "those before the burst that failed are taken";
  EXPECT_EQ(read_now(of(0, queue_reg::STATE)).value_or(0) & 0xfu, 2u | 4u);
  EXPECT_EQ(read_now(queue_reg::FETCH_ERRORS), 1u);
  EXPECT_EQ(take(0, 99), 8);
  EXPECT_EQ(take(1, 99), 20);
  EXPECT_GE(fires_, 1u);
  memory_->inject_errors(0, 0);
  ring_head(0, 8, true);  // a sleeper is woken although nothing is unseen
  settle_registers();
  cycles(40);
  EXPECT_TRUE(bench_->irq_o);
  EXPECT_EQ(read_now(queue_reg::IRQ_PENDING_LO), 1u);
  EXPECT_FALSE(write_now(of(0, queue_reg::SQ_TAIL), 20));
  disable(0);
  settle();
  open(0);
  post(0, 5);
  settle();
  EXPECT_EQ(take(0, 99), 5);
}

TEST_F(RdmaQueues, CompletionThatMemoryRefusesStopsItsQueue) {
  open(0, 5, 5);
  open(1, 5, 5);
  const auto base = model_.queue(0).config.cq_base;
  memory_->inject_errors(base + 32, base + 64);
  post(0, 3);
  post(1, 3);
  settle();
  EXPECT_EQ(state(0), QueueState::error);
  EXPECT_EQ(model_.queue(0).retired, 3);
  EXPECT_EQ(read_now(of(0, queue_reg::STATE)).value_or(0) & 0xfu, 2u | 8u);
  EXPECT_EQ(read_now(queue_reg::WRITE_ERRORS), 1u);
  EXPECT_EQ(take(1, 99), 3);
}

TEST_F(RdmaQueues, ClaimsAreGrantedAsLongAsThereAreSlots) {
  open(0, 4, 4);
  paces_.request = 0;  // the engine takes nothing: claims are answered all the same
  post(0, 10);
  cycles(200);
  for (unsigned n = 0; n < 10; ++n) want_claim(0);
  for (unsigned n = 0; n < 100; ++n) cycle(paces_);
  EXPECT_EQ(claims_granted_, 6u);
  EXPECT_EQ(claims_refused_, 4u);
  want_claim(1);  // OFF
  cycles(30);
  EXPECT_EQ(claims_refused_, 5u);
  paces_.request = 100;
  settle();
  EXPECT_EQ(take(0, 99), 16);
}

TEST_F(RdmaQueues, EntriesComeAtTheRateOfTheBus) {
  start(memory(8));
  open(0, 6, 7);
  post(0, 64);
  until([&] { return requests_taken_ == 1; });
  const uint64_t begin = bench_.cycle();
  until([&] { return requests_taken_ == 64; });
  EXPECT_LE(bench_.cycle() - begin, 2 * 63 + 8u) << "two beats an entry";
}

TEST_F(RdmaQueues, CompletionsFollowWithoutBubble) {
  start(memory(2));
  open(0, 6, 7);
  paces_.complete = 0;
  post(0, 64);
  until([&] { return engine_.size() + tickets_.size() == 64; });
  paces_.complete = 100;
  until([&] { return model_.queue(0).retired == 1; });
  const uint64_t begin = bench_.cycle();
  until([&] { return model_.queue(0).retired == 64; });
  EXPECT_EQ(bench_.cycle() - begin, 63u);
}

// --- interrupts

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

TEST_F(RdmaQueues, ModerationByTime) {
  write(queue_reg::TICK_CYCLES, 10);
  open(0, 4, 6, IrqKind::message);
  moderate(0, 50, 30);
  for (unsigned n = 0; n < 5; ++n) {
    ring_head(0, take(0, 99), true);
    settle();
    const uint64_t begin = bench_.cycle();
    one_completion(0);
    until([&] { return fires_ == n + 1u; });
    ASSERT_EQ(fire_cycles_.size(), n + 1u);
    EXPECT_GE(fire_cycles_.back() - begin, 290u);
    EXPECT_LE(fire_cycles_.back() - begin, 400u);
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
