// SPDX-License-Identifier: Apache-2.0
// Barriers and RDMA in one NIC: both engines in lockstep with their golden models behind shared ports.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "barrier_watch.hpp"
#include "driver/barrier_driver.hpp"
#include "nic_bench.hpp"

namespace weft::tb {
namespace {

namespace ring = barrier_ring::formats;
using barrier::formats::Ending;
using driver::BarrierDriver;
using driver::BarrierGroup;
using Refusal = BarrierDriver::Refusal;

constexpr uint64_t ring_base = 0x3d'0000'0000;

/// NICs, each with the driver of its barriers and what its software knows of them.
class WeftNics {
 public:
  explicit WeftNics(uint32_t nodes, const fabric::Faults& faults = {}, double pause = 0,
                    uint8_t ring_log2 = 3) {
    SystemConfig config = NicBench::usual_config(nodes, "weft");
    config.faults = faults;
    config.node.pause = pause;
    driver::RdmaSetup setup = NicBench::usual_setup();
    // What such a network holds back waits for so many others between the same two nodes.
    if (faults.reorder_degree > 0) setup.max_retry = 8;
    bench = std::make_unique<NicBench>(config, setup);
    const uint32_t window = driver::barrier_window(config.node.build.queues);
    for (uint32_t index = 0; index < nodes; ++index) {
      RdmaNode& node = bench->system.node(index);
      watches.push_back(std::make_unique<BarrierWatch>(node, window, BarrierSize{}));
      drivers.push_back(
          std::make_unique<BarrierDriver>(node.registers(), *bench->hosts[index].memory, window));
      driver::BarrierSetup of_barriers;
      of_barriers.node = static_cast<uint16_t>(index);
      of_barriers.tick_period = 24;
      of_barriers.ring_base = ring_base;
      of_barriers.ring_log2 = ring_log2;
      of_barriers.interrupt = true;
      EXPECT_TRUE(answer([&](auto done) { drivers[index]->start(of_barriers, done); })) << index;
    }
  }

  /// Of this access of a register, once it is there.
  template <typename Access>
  bool answer(Access access) {
    std::optional<bool> got;
    access([&](bool ok, auto...) { got = ok; });
    bench->system.run_until([&] { return got.has_value(); }, 100'000);
    return got.value_or(false);
  }

  BarrierGroup group_of_all(uint16_t instance = 1) const {
    BarrierGroup group;
    group.instance = instance;
    for (uint32_t node = 0; node < bench->system.size(); ++node)
      group.members.push_back(static_cast<uint16_t>(node));
    group.first = 16;
    group.largest = 64;
    return group;
  }

  std::optional<Refusal> open(uint32_t node, uint8_t group, const BarrierGroup& settings) {
    return outcome([&](auto done) { drivers[node]->open(group, settings, done); });
  }
  void open_everywhere(uint8_t group, const BarrierGroup& settings) {
    for (const uint16_t node : settings.members) EXPECT_EQ(open(node, group, settings), Refusal::none);
  }
  std::optional<Refusal> arrive(uint32_t node, uint8_t group) {
    return outcome([&](auto done) { drivers[node]->arrive(group, done); });
  }

  template <typename Command>
  std::optional<Refusal> outcome(Command command) {
    bool got = false;
    std::optional<Refusal> result;
    command([&](std::optional<Refusal> refusal) {
      got = true;
      result = refusal;
    });
    bench->system.run_until([&] { return got; }, 200'000);
    return result;
  }

  std::optional<BarrierDriver::Completion> wait(uint32_t node, uint64_t cycles = 200'000) {
    std::optional<BarrierDriver::Completion> completion;
    bench->system.run_until(
        [&] {
          completion = drivers[node]->take();
          return completion.has_value();
        },
        cycles);
    return completion;
  }

  void expect_clean() {
    bench->expect_settled();
    for (auto& watch : watches) watch->compare_counters();
    bench->run(2'000);
    EXPECT_FALSE(bench->system.findings().any()) << bench->problems();
    for (const auto& watch : watches) EXPECT_TRUE(watch->quiet());
  }

  std::unique_ptr<NicBench> bench;
  std::vector<std::unique_ptr<BarrierWatch>> watches;
  std::vector<std::unique_ptr<BarrierDriver>> drivers;
};

/// Goes through barriers of some groups as fast as it can, and sees that nobody leaves one before all have
/// come.
class Software {
 public:
  Software(WeftNics& nics, std::vector<BarrierGroup> groups, uint32_t rounds)
      : nics_(nics), groups_(std::move(groups)), rounds_(rounds) {
    for (const BarrierGroup& group : groups_) {
      arrived_.emplace_back(nics.bench->system.size());
      left_.emplace_back(nics.bench->system.size());
      for (const uint16_t node : group.members) arrive(node, static_cast<uint8_t>(arrived_.size() - 1));
    }
  }

  /// @return all have gone through all barriers
  bool step() {
    for (uint32_t node = 0; node < nics_.bench->system.size(); ++node) {
      while (const auto completion = nics_.drivers[node]->take()) {
        const uint8_t group = completion->group;
        EXPECT_EQ(completion->ending, static_cast<uint8_t>(Ending::ok));
        EXPECT_EQ(completion->epoch, left_[group][node]++);
        for (const uint16_t member : groups_[group].members)
          EXPECT_GE(arrived_[group][member], left_[group][node]) << "leaves before " << member << " came";
        if (left_[group][node] < rounds_) arrive(node, group);
      }
    }
    for (uint32_t group = 0; group < groups_.size(); ++group) {
      for (const uint16_t node : groups_[group].members) {
        if (left_[group][node] < rounds_) return false;
      }
    }
    return true;
  }

 private:
  void arrive(uint32_t node, uint8_t group) {
    ++arrived_[group][node];
    nics_.drivers[node]->arrive(group,
                                [](std::optional<Refusal> refusal) { EXPECT_EQ(refusal, Refusal::none); });
  }

  WeftNics& nics_;
  std::vector<BarrierGroup> groups_;
  uint32_t rounds_;
  std::vector<std::vector<uint32_t>> arrived_, left_;
};

/// Posts WRITEs and READs to random peers, a few at a time.
void keep_posting(NicBench& bench, uint32_t& left) {
  for (uint32_t node = 0; node < bench.system.size() && left > 0; ++node) {
    if (bench.hosts[node].rings[0].wanted.size() >= 3) continue;
    const auto peer = static_cast<uint32_t>(bench.below(bench.system.size()));
    const uint64_t from = 64 * bench.below(200), to = 64 * bench.below(200);
    const auto bytes = static_cast<uint32_t>(1 + bench.below(1500));
    bench.post(node, 0,
               bench.below(2) == 0 ? bench.write_entry(0, peer, from, to, bytes)
                                   : bench.read_entry(0, peer, from, to, bytes));
    --left;
  }
}

void run_together(const fabric::Faults& faults, double pause) {
  WeftNics nics(4, faults, pause);
  NicBench& bench = *nics.bench;
  for (uint32_t node = 0; node < 4; ++node) bench.enable(node, 0, 0);
  BarrierGroup some = nics.group_of_all(7);
  some.members = {3, 1, 2};
  some.shape = barrier::formats::Shape::bst;
  const std::vector<BarrierGroup> groups = {nics.group_of_all(), some};
  nics.open_everywhere(0, groups[0]);
  nics.open_everywhere(1, groups[1]);
  Software software(nics, groups, 12);
  uint32_t transfers = 60;
  bool through = false;
  bench.system.run_until(
      [&] {
        bench.collect_all();
        keep_posting(bench, transfers);
        through = software.step() || through;
        return (through && transfers == 0) || bench.failed();
      },
      2'000'000);
  EXPECT_TRUE(through) << bench.problems();
  nics.expect_clean();
  for (const auto& watch : nics.watches) {
    EXPECT_GE(watch->entries_written(), 12u);
    EXPECT_GE(watch->packets_left(), 12u);
  }
}

TEST(WeftNic, BarriersBesideTransfers) { run_together({}, 0); }

TEST(WeftNic, BarriersBesideTransfersOverABadNetwork) {
  fabric::Faults faults;
  faults.loss = 0.02;
  faults.duplicate = 0.03;
  faults.corrupt = 0.01;
  faults.reorder_degree = 3;
  faults.jitter = 20;
  run_together(faults, 0.2);
}

TEST(WeftNic, DeadMemberIsNamedInTheRing) {
  WeftNics nics(3);
  BarrierGroup group = nics.group_of_all();
  group.tries = 3;
  nics.open_everywhere(0, group);
  nics.bench->system.halt_node(2);
  for (const uint32_t node : {0, 1}) EXPECT_EQ(nics.arrive(node, 0), Refusal::none);
  for (const uint32_t node : {0, 1}) {
    const auto completion = nics.wait(node);
    ASSERT_TRUE(completion) << nics.bench->problems();
    EXPECT_EQ(completion->ending, static_cast<uint8_t>(Ending::dead_member));
    EXPECT_EQ(completion->dead, 2u);
    const auto bytes = nics.bench->memory(node).read(ring_base, ring::entry_bytes);
    const auto entry = ring::unpack_entry(std::span(bytes).first<ring::entry_bytes>());
    EXPECT_EQ(entry.status, static_cast<uint8_t>(EngineStatus::dead_peer));
    EXPECT_EQ(entry.node, 2u);
  }
  EXPECT_FALSE(nics.bench->system.findings().any()) << nics.bench->problems();
}

/// A ring of two entries, three groups of this node alone, whose barriers end at once.
class WeftNicRing : public testing::Test {
 protected:
  WeftNicRing() : nics(1, {}, 0, 1), bus(nics.bench->system.node(0).registers()) {
    for (uint8_t group = 0; group < 3; ++group) nics.open_everywhere(group, nics.group_of_all(group));
  }
  uint32_t read(uint32_t reg) {
    uint32_t value = 0;
    EXPECT_TRUE(nics.answer([&](auto done) {
      bus.read(ring_address(reg), [&value, done](bool ok, uint32_t data) {
        value = data;
        done(ok);
      });
    }));
    return value;
  }
  bool write(uint32_t reg, uint32_t data) {
    return nics.answer([&](auto done) { bus.write(ring_address(reg), data, done); });
  }
  bool write_strobed(uint32_t reg, uint32_t data, uint8_t strobes) {
    return nics.answer([&](auto done) { bus.write_strobed(ring_address(reg), data, strobes, done); });
  }
  static uint32_t ring_address(uint32_t reg) {
    return driver::barrier_window(4) + driver::barrier_ring_offset + reg;
  }
  void settle() { nics.bench->run(300); }
  std::optional<uint8_t> group_taken() {
    const auto completion = nics.drivers[0]->take();
    settle();
    return completion ? std::optional(completion->group) : std::nullopt;
  }

  WeftNics nics;
  AxiLiteMaster& bus;
};

TEST_F(WeftNicRing, FullRingWaitsAndLosesNothing) {
  for (uint8_t group = 0; group < 3; ++group) EXPECT_EQ(nics.arrive(0, group), Refusal::none);
  settle();
  EXPECT_EQ(read(ring::reg::TAIL), 2u);
  EXPECT_TRUE(nics.watches[0]->irq());
  EXPECT_EQ(nics.arrive(0, 2), Refusal::arrived) << "its completion is not in the ring";
  EXPECT_EQ(nics.arrive(0, 0), Refusal::none) << "its completion is in the ring";
  for (const uint8_t group : {0, 1, 2, 0}) EXPECT_EQ(group_taken(), group);
  EXPECT_EQ(group_taken(), std::nullopt);
  EXPECT_FALSE(nics.watches[0]->irq());
  nics.expect_clean();
}

TEST_F(WeftNicRing, FailedWriteIsRepeatedOnceEnabled) {
  AxiMemory& memory = nics.bench->system.node(0).memory();
  memory.inject_errors(ring_base, ring_base + 64);
  EXPECT_EQ(nics.arrive(0, 1), Refusal::none);
  settle();
  EXPECT_EQ(read(ring::reg::STATE), 4u);
  EXPECT_EQ(read(ring::reg::ERRORS), 1u);
  EXPECT_EQ(read(ring::reg::TAIL), 0u);
  EXPECT_TRUE(nics.watches[0]->irq());
  EXPECT_EQ(group_taken(), std::nullopt);
  memory.inject_errors(0, 0);
  EXPECT_TRUE(nics.answer([&](auto done) { nics.drivers[0]->enable_again(done); }));
  settle();
  EXPECT_EQ(group_taken(), 1);
  EXPECT_EQ(read(ring::reg::STATE), 1u);
  nics.expect_clean();
}

TEST_F(WeftNicRing, DisabledRingWritesNothing) {
  EXPECT_TRUE(write(ring::reg::ENABLE, 0));
  EXPECT_EQ(nics.arrive(0, 0), Refusal::none);
  settle();
  EXPECT_EQ(read(ring::reg::TAIL), 0u);
  EXPECT_TRUE(write(ring::reg::ENABLE, 1));
  settle();
  EXPECT_EQ(group_taken(), 0);
  nics.expect_clean();
}

TEST_F(WeftNicRing, RegistersRefuse) {
  EXPECT_EQ(read(ring::reg::ID), ring::reset::ID);
  EXPECT_FALSE(write(ring::reg::ID, 1));
  EXPECT_FALSE(write(ring::reg::TAIL, 0));
  EXPECT_FALSE(write(ring::reg::HEAD, 1)) << "beyond TAIL";
  EXPECT_FALSE(write(ring::reg::HEAD, 0x10000));
  EXPECT_FALSE(write(ring::reg::BASE_LO, 0)) << "enabled";
  EXPECT_FALSE(write(ring::reg::BASE_HI, 0));
  EXPECT_FALSE(write(ring::reg::LOG2, 3));
  EXPECT_FALSE(write(ring::reg::ENABLE, 1)) << "enabled already";
  EXPECT_TRUE(write(ring::reg::ENABLE, 0));
  EXPECT_FALSE(write(ring::reg::LOG2, 0));
  EXPECT_TRUE(write(ring::reg::LOG2, 2));
  EXPECT_TRUE(write(ring::reg::BASE_LO, 64)) << "a multiple of 64 bytes, not of 128";
  EXPECT_FALSE(write(ring::reg::ENABLE, 1));
  EXPECT_TRUE(write(ring::reg::BASE_LO, 128));
  EXPECT_FALSE(write_strobed(ring::reg::ENABLE, 1, 7));
  EXPECT_TRUE(write(ring::reg::ENABLE, 1));
  EXPECT_FALSE(nics.answer([&](auto done) {
    bus.read(ring_address(ring::reg::ERRORS + 4), [done](bool ok, uint32_t) { done(ok); });
  }));
  EXPECT_FALSE(nics.answer([&](auto done) { bus.write(driver::barrier_window(4) + 0x3fc, 0, done); }));
  nics.expect_clean();
}

/// Registers of 32 bits, and addresses of the barrier's half at which there is none.
TEST_F(WeftNicRing, RegistersKeepAnyValueAndNothingElseTakesOne) {
  EXPECT_TRUE(write(ring::reg::ENABLE, 0));
  NicBench& bench = *nics.bench;
  const uint32_t window = driver::barrier_window(4), ring_begin = driver::barrier_ring_offset,
                 nothing = 0x100;
  for (int n = 0; n < 3'000; ++n) {
    const auto any = static_cast<uint32_t>(bench.below(uint64_t{1} << 32));
    const bool known = bench.below(2) == 0;
    const std::array registers{ring_begin + ring::reg::BASE_LO, ring_begin + ring::reg::BASE_HI,
                               barrier::formats::reg::LATE};
    const uint32_t place = bench.below(2) == 0 ? ring_begin : 0;
    const auto elsewhere = static_cast<uint32_t>(
        place + nothing + bench.below((place == 0 ? ring_begin : window - ring_begin) - nothing));
    const uint32_t address = window + (known ? registers[bench.below(3)] : elsewhere);
    const auto strobes = static_cast<uint8_t>(bench.below(3) > 0 ? 15 : bench.below(16));
    const bool taken = nics.answer([&](auto done) { bus.write_strobed(address, any, strobes, done); });
    EXPECT_EQ(taken, known && strobes == 15) << "address " << address;
    const bool read = nics.answer([&](auto done) {
      bus.read(address, [&, done](bool ok, uint32_t data) {
        EXPECT_TRUE(!taken || data == any) << "address " << address << " reads " << data << " after " << any;
        done(ok);
      });
    });
    EXPECT_EQ(read, known) << "address " << address;
  }
  nics.expect_clean();
}

TEST(WeftNic, WhatBeginsLikeABarrierPacketIsCounted) {
  WeftNics nics(1);
  std::vector<uint8_t> packet(32);
  packet[0] = 0x57;
  packet[1] = 0x42;
  nics.bench->system.node(0).receive(packet);
  packet.resize(128, 0x55);  // more beats than one
  nics.bench->system.node(0).receive(packet);
  nics.bench->run(100);
  EXPECT_EQ(nics.watches[0]->malformed(), 2u);
  nics.expect_clean();
}

/// Nobody has opened a group, so each is dropped for a reason that RTL and model agree on, or for want of
/// room.
TEST(WeftNic, PacketsOfAnyContentAreDroppedAndCounted) {
  WeftNics nics(1);
  NicBench& bench = *nics.bench;
  const auto any_bytes = [&] {
    barrier::PacketBytes bytes{};
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(bench.below(256));
    return bytes;
  };
  for (int round = 0; round < 40; ++round) {
    for (int n = 0; n < 100; ++n) {  // in odd rounds faster than they are taken: of two groups in turn
      const auto any = any_bytes();
      barrier::formats::Packet packet = barrier::formats::unpack_packet(any);
      packet.magic = barrier::packet_magic;
      packet.reserved0 = 0;
      if (round % 2 == 1) packet.group = static_cast<uint8_t>(n % 2);
      barrier::PacketBytes bytes = barrier::formats::pack(packet);
      if (bench.below(8) > 0) bytes = barrier::checked(bytes);
      bench.system.node(0).receive({bytes.begin(), bytes.end()});
    }
    bench.run(400);
  }
  EXPECT_GT(nics.watches[0]->overruns(), 10u);
  EXPECT_GT(nics.watches[0]->malformed(), 10u);
  nics.expect_clean();
}

/// A reader of a queue's completions finds its way in an entry of a barrier.
TEST(WeftNic, EntryLiesLikeACompletionOfTheQueues) {
  namespace ours = ring::entry_field;
  namespace theirs = rdma_queues::formats::completion_field;
  static_assert(ring::entry_bytes == rdma_queues::formats::completion_bytes);
  EXPECT_EQ(ours::told_lsb, theirs::tag_lsb);
  EXPECT_EQ(ours::told_width, theirs::tag_width);
  EXPECT_EQ(ours::node_lsb, theirs::node_lsb);
  EXPECT_EQ(ours::status_lsb, theirs::status_lsb);
  EXPECT_EQ(ours::opcode_lsb, theirs::opcode_lsb);
  EXPECT_EQ(ours::phase_lsb, theirs::phase_lsb);
  EXPECT_EQ(static_cast<uint8_t>(ring::EntryStatus::dead_peer),
            static_cast<uint8_t>(EngineStatus::dead_peer));
  using rdma_queues::formats::Opcode;
  EXPECT_EQ(name(static_cast<Opcode>(ring::EntryOpcode::barrier)), "?") << "an opcode of the queues, too";
}

}  // namespace
}  // namespace weft::tb
