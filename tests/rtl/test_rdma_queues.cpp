// SPDX-License-Identifier: Apache-2.0
// The host queues in lockstep with their golden model, rule by rule: rings, entries, completions, states.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/ring_driver.hpp"
#include "rdma_queues_fixture.hpp"

namespace weft::rtl_test {
namespace {

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
  refuses([](auto& c) { c.sq_base |= 4096, c.sq_log2 = 7; });
  refuses([](auto& c) { c.cq_base |= 4096, c.cq_log2 = 8; });
  refuses([](auto& c) { c.sq_log2 = 3; });
  refuses([](auto& c) { c.cq_log2 = 3; });
  refuses([](auto& c) { c.sq_base |= uint64_t{1} << 48; });
  refuses([](auto& c) { c.cq_base |= uint64_t{1} << 63; });
  refuses([](auto& c) { c.msi_addr += 2; });
  refuses([](auto& c) { c.msi_addr |= uint64_t{1} << 48; });
  refuses([](auto& c) { c.irq = IrqKind{3}; });
  for (unsigned bit = 0; bit < 12; ++bit) {
    refuses([&](auto& c) { c.sq_base |= uint64_t{1} << bit; });
    refuses([&](auto& c) { c.cq_base |= uint64_t{1} << bit; });
  }
  refuses([](auto& c) { c.msi_addr += 1; });
  EXPECT_EQ(read_now(queue_reg::BAD_ACCESS), 36u);
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

/// 64 queues, all but one of them at rest.
class RdmaQueuesAlone : public QueuesTest<SixtyFour> {
 protected:
  void open(uint32_t q, IrqKind irq) {
    auto config = make_config(q, 4, 4, irq);
    config.quota = 1;
    enable(q, config);
    settle();
    ASSERT_EQ(state(q), QueueState::run);
  }
  QueueState state(uint32_t q) const { return model_.queue(q).state; }
  void settle() {
    until([&] { return quiet(); });
  }
  void arm(uint32_t q) { ring_head(q, take(q, 99), true); }
  void post_writes(uint32_t q, unsigned count) {
    std::vector<queue_formats::Submission> entries;
    while (entries.size() < count) {
      entries.push_back(good_entry());
      if (entries.back().opcode != static_cast<uint8_t>(queue_formats::Opcode::write)) entries.pop_back();
    }
    post(q, entries);
  }
  void close(uint32_t q) {
    disable(q);
    until([&] { return registers_idle() && state(q) == QueueState::off; });
  }
};

TEST_F(RdmaQueuesAlone, EachOneInterruptsWaitsForItsQuotaAndFails) {
  start(memory(2));
  for (uint32_t q = 0; q < queues; ++q) {
    open(q, IrqKind::level);
    EXPECT_TRUE(write_now(of(q, queue_reg::MODERATION), 50 | 3 << 16));
    arm(q);
    paces_.complete = 0;
    post_writes(q, 2);  // the quota is one
    cycles(600);
    EXPECT_EQ(engine_.size(), 1u);
    paces_.complete = 100;
    until([&] { return bench_->irq_o != 0; });
    arm(q);
    settle();
    EXPECT_FALSE(bench_->irq_o);
    close(q);
    const auto messages = messages_;
    open(q, IrqKind::message);
    arm(q);
    post_writes(q, 1);
    until([&] { return messages_ == messages + 1; });
    settle();
    memory_->inject_errors(model_.queue(q).config.sq_base, model_.queue(q).config.sq_base + 16 * 64);
    post_writes(q, 1);
    until([&] { return state(q) == QueueState::error; });
    memory_->inject_errors(0, 0);
    close(q);
    if (HasFailure()) FAIL() << "queue " << q;
  }
  EXPECT_EQ(read_now(queue_reg::FETCH_ERRORS), queues);
}

/// Queues with the longest rings, filled again and again until all indices have gone round.
class RdmaQueuesLong : public QueuesTest<SixtyFour> {};

TEST_F(RdmaQueuesLong, IndicesGoRound) {
  constexpr uint8_t log2 = 15;
  constexpr uint32_t ring = 1u << log2;
  start(memory(2));
  enable(63, make_config(63, log2, log2, IrqKind::message));
  until([&] { return registers_idle(); });
  for (unsigned lap = 0; lap < 5; ++lap) {
    const uint32_t count = lap == 1 ? ring / 2 : ring;  // so that the ends of laps lie elsewhere
    for (uint32_t left = count, part = 0; left > 0; left -= part) {
      part = std::min(left, 5003u);
      post(63, part);  // while most of the others are still to be fetched
      until([&] { return registers_idle(); });
      read_now(of(63, queue_reg::SQ_HEAD));
    }
    until([&] { return quiet(); }, 1'000'000);
    const auto expected = static_cast<uint16_t>((lap + 1) * ring - (lap >= 1 ? ring / 2 : 0));
    ASSERT_EQ(model_.queue(63).head, expected) << "lap " << lap;
    while (owners_[63].head != expected && !HasFailure()) {
      ring_head(63, take(63, 5003), true);
      until([&] { return registers_idle(); });
      read_now(of(63, queue_reg::CQ_TAIL));
    }
  }
  until([&] { return quiet(); });
  EXPECT_EQ(completions_taken_, 5 * ring - ring / 2);
  EXPECT_TRUE(owners_[63].awaited.empty());
  disable(63);  // and a short ring again
  until([&] { return model_.queue(63).state == QueueState::off; });
  enable(63, make_config(63, 4, 4, IrqKind::message));
  until([&] { return registers_idle(); });
  post(63, 16);
  until([&] { return quiet(); });
  EXPECT_EQ(take(63, 16), 16);
}

}  // namespace
}  // namespace weft::rtl_test
