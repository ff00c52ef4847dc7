// SPDX-License-Identifier: Apache-2.0
// A barrier engine as large as it is by default, in lockstep with its golden model: groups of up to 1,024
// members with any numbers of nodes, any settings, and other nodes that answer or send anything; epochs that
// wrap; registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <unordered_map>
#include <vector>

#ifdef WEFT_BARRIER_NETLIST  // of the small one
#include "Vbarrier_engine.h"
#else
#include "Vbarrier_large.h"
#endif
#include "barrier/lockstep_node.hpp"
#include "barrier_registers.hpp"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

using namespace barrier;
namespace reg = formats::reg;

struct LargeSize {  // as CMakeLists.txt says
#ifdef WEFT_BARRIER_NETLIST
  using Top = Vbarrier_engine;
  static constexpr uint32_t groups = 4, members = 32, nodes = 24;
#else
  using Top = Vbarrier_large;
  static constexpr uint32_t groups = 16, members = 1024, nodes = 49152;
#endif
  static constexpr uint32_t tick_period = 24;
  static constexpr uint32_t largest_group = std::min(members, nodes);
  static void begin(Top& top) { choose_mutant(top); }
};

class BarrierLarge : public testing::Test {
 protected:
  using Engine = tb::LockstepNode<LargeSize>;

  struct Group {
    GroupSettings settings;
    std::unordered_map<Node, uint32_t> numbers;
    uint16_t epoch = 0;
    bool open = false;
    uint8_t digest = 0;
  };

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint16_t word() { return static_cast<uint16_t>(below(0x10000)); }
  uint32_t any_size(uint32_t bits) {
    return static_cast<uint32_t>(random_() & ((uint64_t{1} << below(bits + 1)) - 1));
  }

  /// This node and others, each once, in any order; often this one is the first root, or has many children.
  void draw_members(Group& group, uint32_t count) {
    group = {};
    while (group.numbers.size() + 1 < count) {
      const Node node = below(Engine::nodes);
      if (node != self_) group.numbers.emplace(node, 0);
    }
    auto& members = group.settings.members;
    for (const auto& [node, number] : group.numbers) members.push_back(node);
    std::shuffle(members.begin(), members.end(), random_);
    const uint32_t own = chance(30) ? 0 : chance(50) ? count / 2 : below(count);
    members.insert(members.begin() + own, self_);
    for (uint32_t number = 0; number < count; number++) group.numbers[members[number]] = number;
  }

  /// ... with this node at a place.
  void draw_members(Group& group, uint32_t count, uint32_t own) {
    draw_members(group, count);
    auto& members = group.settings.members;
    std::swap(members[group.numbers.at(self_)], members[own]);
    for (uint32_t number = 0; number < count; number++) group.numbers[members[number]] = number;
  }

  void open(uint32_t number) {
    Group& group = groups_[number];
    const std::array<uint32_t, 4> sizes{
        1, 2 + below(6), 2 + below(60),
        LargeSize::largest_group - below(2) * below(LargeSize::largest_group / 2)};
    draw_members(group, std::min(sizes[chance(10) ? 3 : below(3)], LargeSize::largest_group));
    const auto members = static_cast<uint32_t>(group.settings.members.size());
    group.settings.instance = word();
    group.settings.shape = shapes[below(shapes.size())].shape;
    if (chance(40)) move_in_blocks(group.settings, std::min<uint32_t>(below(11), std::countr_zero(members)));
    const uint32_t offsets = offsets_of(group.settings);
    group.settings.judge = {
        .offsets = offsets, .stride = below(offsets + 1), .good = any_size(16), .tries = below(256)};
    group.settings.waiting = {.first = chance(70) ? any_size(4) : word(),
                              .largest = chance(70) ? any_size(6) : word(),
                              .tries = below(256),
                              .late = chance(60) ? any_size(10) : static_cast<uint32_t>(random_())};
    if (chance(40)) group.settings.multicast = Engine::nodes + below(0x10000 - Engine::nodes);
    group.digest = digest_of(group.settings);
    group.open = true;
    engine_.close(number);
    engine_.open(number, group.settings);
  }

  Packet packet_of(uint32_t number, Node from) {
    const Group& group = groups_[number];
    const uint32_t offsets = offsets_of(group.settings);
    Packet packet;
    packet.from = from;
    packet.to = self_;
    packet.group = number;
    packet.number = group.numbers.at(from);
    packet.instance = group.settings.instance;
    packet.digest = group.digest;
    packet.epoch = group.epoch;
    packet.length = static_cast<uint16_t>(any_size(16));
    packet.named = word();
    packet.has_named = chance(50);
    packet.memory = {.offset = below(offsets),
                     .best_offset = below(offsets),
                     .best_length = any_size(16),
                     .tries_left = below(256),
                     .holding = chance(50)};
    return packet;
  }

  void send(const Packet& packet) {
    auto bytes = write_packet(packet);
    const uint32_t hops = chance(90) ? below(4) : word();
    bytes[26] = static_cast<uint8_t>(hops);
    bytes[27] = static_cast<uint8_t>(hops >> 8);
    if (chance(5))
      bytes[chance(50) ? std::array{0U, 1U, 2U, 25U}[below(4)] : below(32)] ^=
          static_cast<uint8_t>(1U << below(8));
    engine_.receive(bytes);
  }

  void make_multicast(Packet& packet) {
    packet.multicast = true;
    packet.to = groups_[packet.group].settings.multicast;
  }

  /// Of a member, and nearly what the engine waits for.
  void send_anything() {
    const uint32_t number = below(Engine::groups);
    const Group& group = groups_[number];
    if (!group.open) return;
    Packet packet = packet_of(
        number, group.settings.members[below(static_cast<uint32_t>(group.settings.members.size()))]);
    packet.type = static_cast<Type>(below(4));
    packet.failed = chance(5);
    packet.epoch = static_cast<uint16_t>(packet.epoch + (packet.failed && chance(50) ? -1
                                                         : chance(70)                ? 0
                                                         : chance(80)                ? below(3) - 1
                                                                                     : word()));
    if (packet.type == Type::release && !packet.failed && chance(50)) make_multicast(packet);
    if (chance(1)) packet.multicast = true;
    if (chance(2)) packet.to = word();
    if (chance(2)) packet.group = below(256);
    if (chance(2)) packet.from = word();
    if (chance(2)) packet.number = word();
    if (chance(2)) packet.instance = word();
    if (chance(2)) packet.digest = static_cast<uint8_t>(below(256));
    if (chance(2)) packet.memory.offset = word();
    if (chance(2)) packet.memory.best_offset = word();
    send(packet);
  }

  /// As the other node would, without regard to its own children.
  void answer(const PacketBytes& bytes) {
    const auto sent = formats::unpack_packet(bytes);
    Group& group = groups_[sent.group];
    if (!group.open || sent.inst != group.settings.instance) return;
    const auto kind = static_cast<Type>(sent.kind);
    group.epoch = static_cast<uint16_t>(sent.epoch + (kind == Type::release ? 1 : 0));
    if (sent.failed != 0) group.epoch = sent.epoch;
    if ((kind != Type::ask && kind != Type::gather) || !group.numbers.contains(sent.to)) return;
    Packet packet = packet_of(sent.group, sent.to);
    packet.epoch = sent.epoch;
    packet.type = chance(20) ? Type::wait : kind == Type::ask ? Type::gather : Type::release;
    if (packet.type == Type::release && group.settings.multicast != 0 && chance(50)) make_multicast(packet);
    send(packet);
  }

  void clock(uint32_t pauses) {
    engine_.clock(pauses);
    for (const PacketBytes& bytes : engine_.take_packets())
      if (chance(answers_)) answer(bytes);
    for (const Completion& completion : engine_.take_completions()) {
      Group& group = groups_[completion.group];
      if (completion.ending == Ending::ok) group.epoch = static_cast<uint16_t>(completion.epoch + 1);
      if (completion.ending != Ending::ok && chance(50)) group.open = false;
    }
  }

  testing::ScopedTrace reproduce_{__FILE__, __LINE__, reproduce_command()};
  std::mt19937_64 random_{seed() + 3};
  const Node self_ = 1 + below(Engine::nodes - 1);
  Engine engine_{self_, seed()};
  std::array<Group, Engine::groups> groups_;
  uint32_t answers_ = 80;  ///< percent
  uint32_t arrived_ = 0;
};

TEST_F(BarrierLarge, EqualsItsModelWithAnySettingsWhateverComes) {
  uint32_t period = 24;
  for (int i = 0; i < 400000 && !HasFailure(); i++) {
    if (i % 20000 == 0) {
      period = std::array{1U, 8U, 24U, 100U}[below(4)];
      answers_ = std::array{0U, 50U, 80U, 100U}[below(4)];
      EXPECT_TRUE(engine_.write(reg::TICK_PERIOD, period));
    }
    if (!engine_.busy() && below(12) == 0) {
      const uint32_t group = below(Engine::groups);
      if (below(200) == 0) {
        const auto unknown = static_cast<uint32_t>(random_()) | 0x100;
        chance(50) ? engine_.arrive(unknown) : engine_.close(unknown);
      } else if (!groups_[group].open || below(150) == 0) {
        open(group);
      } else {
        engine_.arrive(group);
      }
    }
    if (below(40) == 0) send_anything();
    clock(i / 1000 % 2 == 0 ? 0U : 40U);
  }
  EXPECT_TRUE(engine_.write(reg::TICK_PERIOD, 0xffff));  // no event while counters are read
  for (int i = 0; i < 2000; i++) clock(0);
  engine_.compare_counters();
}

// Two members, the other of which answers at once: so many barriers that their number wraps, and goes on.
TEST_F(BarrierLarge, EpochsWrap) {
  draw_members(groups_[0], 2);
  groups_[0].settings.judge = {.offsets = 2, .stride = 1, .good = 0, .tries = 0};
  engine_.open(0, groups_[0].settings);
  const Node other = groups_[0].settings.members[1 - groups_[0].numbers.at(self_)];
  uint32_t barriers = 0;
  for (uint32_t i = 0; i < 6'000'000 && barriers < 65'600 && !HasFailure(); i++) {
    if (!engine_.busy() && i > 100 && barriers == arrived_) {
      arrived_++;
      engine_.arrive(0);
      Packet gather;
      gather.from = other;
      gather.to = self_;
      gather.number = groups_[0].numbers.at(other);
      gather.digest = digest_of(groups_[0].settings);
      gather.epoch = static_cast<uint16_t>(barriers);
      if (groups_[0].numbers.at(self_) == 0) engine_.receive(write_packet(gather));
    }
    engine_.clock(0);
    for (const PacketBytes& bytes : engine_.take_packets()) {
      const auto sent = formats::unpack_packet(bytes);
      if (static_cast<Type>(sent.kind) != Type::gather) continue;
      Packet release;
      release.type = Type::release;
      release.from = other;
      release.to = self_;
      release.number = groups_[0].numbers.at(other);
      release.digest = sent.digest;
      release.epoch = sent.epoch;
      engine_.receive(write_packet(release));
    }
    for (const Completion& completion : engine_.take_completions()) {
      EXPECT_EQ(completion.epoch, static_cast<uint16_t>(barriers));
      barriers++;
    }
  }
  EXPECT_EQ(barriers, 65'600U);
}

#ifndef WEFT_BARRIER_NETLIST  // whose groups are small
// Places that are seldom drawn: children far above a root, high own numbers. Then all is forgotten, the
// instances too.
TEST_F(BarrierLarge, ChildrenFarAbove) {
  struct Case {
    Shape shape;
    uint32_t members, own, block_log2 = 0;
  };
  constexpr std::array cases{
      Case{Shape::lct8, 512, 72, 3}, Case{Shape::lct4, 1000, 0},  Case{Shape::lct8, 350, 0},
      Case{Shape::lct8, 400, 0},     Case{Shape::lct8, 460, 0},   Case{Shape::lct8, 600, 0},
      Case{Shape::lct8, 300, 200},   Case{Shape::lct, 700, 64},   Case{Shape::lct, 700, 128},
      Case{Shape::lct4, 900, 256},   Case{Shape::lct8, 900, 512}, Case{Shape::bst, 1000, 255},
      Case{Shape::lct4, 900, 768}};
  answers_ = 100;
  uint32_t completed = 0;
  for (uint32_t number = 0; number < Engine::groups; number++) {
    const auto& [shape, members, own, block_log2] = cases[number % cases.size()];
    Group& group = groups_[number];
    draw_members(group, members, own);
    group.settings.shape = shape;
    group.settings.instance = 7;
    move_in_blocks(group.settings, block_log2);
    group.settings.judge = {.offsets = offsets_of(group.settings), .stride = 1, .good = 0xffff, .tries = 0};
    group.settings.waiting = {.first = 2, .largest = 4, .tries = 255, .late = 0xffffffff};
    group.digest = digest_of(group.settings);
    group.open = true;
    engine_.open(number, group.settings);
    for (int i = 0; i < 20'000 && engine_.busy(); i++) clock(0);
    for (uint32_t barrier = 0; barrier < 2; barrier++) {
      engine_.arrive(number);
      bool ended = false;
      for (int i = 0; i < 100'000 && !ended && !HasFailure(); i++) {
        engine_.clock(0);
        for (const PacketBytes& bytes : engine_.take_packets()) answer(bytes);
        for (const Completion& completion : engine_.take_completions()) {
          EXPECT_EQ(completion.ending, Ending::ok);
          EXPECT_EQ(completion.epoch, barrier);
          group.epoch = static_cast<uint16_t>(completion.epoch + 1);
          ended = true;
        }
      }
      completed += ended ? 1 : 0;
    }
  }
  EXPECT_EQ(completed, 2 * Engine::groups);
  engine_.reset();
  for (uint32_t number = 0; number < Engine::groups; number++)
    engine_.open(number, groups_[number].settings);  // accepted, as the model says: no instance was used
  for (int i = 0; i < 100'000 && engine_.busy(); i++) engine_.clock(0);
  EXPECT_FALSE(engine_.busy());
}
#endif

// A peer that says nothing is asked as often as can be set, then is dead.
TEST_F(BarrierLarge, TriesAsOftenAsItIsTold) {
  draw_members(groups_[0], 2);
  groups_[0].settings.waiting = {.first = 1, .largest = 1, .tries = 255, .late = 0xffffffff};
  EXPECT_TRUE(engine_.write(reg::TICK_PERIOD, 1));
  constexpr uint16_t rounds = 20;  // so that REPEATED has many bits
  for (uint16_t round = 0; round < rounds; round++) {
    groups_[0].settings.instance = round;
    engine_.open(0, groups_[0].settings);
    engine_.arrive(0);
    std::vector<Completion> completions;
    for (int i = 0; i < 10000 && completions.empty(); i++) {
      engine_.clock(0);
      completions = engine_.take_completions();
    }
    ASSERT_EQ(completions.size(), 1U);
    EXPECT_EQ(completions[0].ending, Ending::dead_member);
    EXPECT_EQ(completions[0].dead, groups_[0].settings.members[1 - groups_[0].numbers.at(self_)]);
    engine_.close(0);
    for (int i = 0; i < 100 && engine_.busy(); i++) engine_.clock(0);
  }
  EXPECT_EQ(engine_.read(reg::REPEATED), rounds * 255U);
}

TEST_F(BarrierLarge, RegistersReadAsWrittenButWithAllStrobesOnly) {
  for (int i = 0; i < 20; i++) engine_.clock(0);
  EXPECT_EQ(engine_.read(reg::CAPS), Engine::members << 16 | Engine::groups);
  EXPECT_EQ(engine_.read(reg::NODES), Engine::nodes);
  check_registers(engine_, random_);
}

// Also those with the highest numbers, with so many that ticks take longer than their period.
TEST_F(BarrierLarge, TicksComeToAllGroupsHoweverManyWait) {
  for (uint32_t group = 0; group < Engine::groups; group++) {
    draw_members(groups_[group], 2);
    groups_[group].settings.waiting = {.first = 0xffff, .largest = 0xffff, .tries = 255, .late = 0xffffffff};
    engine_.open(group, groups_[group].settings);
    engine_.arrive(group);
  }
  for (int i = 0; i < 20'000 && engine_.busy(); i++) engine_.clock(0);
  for (const auto& [period, every] :
       {std::pair(64U, 3U), std::pair(1U, 3U), std::pair(1U, 5U), std::pair(1U, 6U)}) {
    EXPECT_TRUE(engine_.write(reg::TICK_PERIOD, period));
    std::array<uint64_t, Engine::groups> before{};
    for (uint32_t group = 0; group < before.size(); group++) before[group] = engine_.ticks(group);
    Packet astray;
    astray.to = static_cast<Node>(self_ ^ 1);
    for (uint32_t i = 0; i < 16'000; i++) {
      if (i % every == 0) engine_.receive(write_packet(astray));
      engine_.clock(0);
    }
    const uint64_t first = engine_.ticks(0) - before[0];
    EXPECT_GE(first, 16'000 / std::max(period, 29 * Engine::groups + 2) - 1);
    for (uint32_t group = 0; group < before.size(); group++)
      EXPECT_NEAR(static_cast<double>(engine_.ticks(group) - before[group]), static_cast<double>(first), 1)
          << group;
  }
}

// The longest tick there is: it comes again only after that time, two or three times in three of it.
TEST_F(BarrierLarge, TicksComeAsOftenAsItIsTold) {
  draw_members(groups_[0], 2);
  groups_[0].settings.waiting = {.first = 1, .largest = 1, .tries = 255, .late = 0xffffffff};
  engine_.open(0, groups_[0].settings);
  EXPECT_TRUE(engine_.write(reg::TICK_PERIOD, 0xffff));
  engine_.arrive(0);
  uint32_t sent = 0;
  for (uint32_t clocks = 0; clocks < 3 * 0x10000 - 100; clocks++) {
    engine_.clock(0);
    for (const PacketBytes& bytes : engine_.take_packets())
      sent += formats::unpack_packet(bytes).kind != 1 ? 1 : 0;
  }
  EXPECT_GE(sent, 2U);
  EXPECT_LE(sent, 4U);
}

}  // namespace
}  // namespace weft::rtl_test
