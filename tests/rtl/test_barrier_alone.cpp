// SPDX-License-Identifier: Apache-2.0
// One barrier engine in RTL: packets that are too many or broken, its times, ticks and registers.
#include <array>
#include <utility>
#include <vector>

#include "barrier_registers.hpp"
#include "barrier_rtl.hpp"

namespace weft::rtl_test {
namespace {

using namespace barrier;
namespace reg = formats::reg;

TEST_F(BarrierRtl, MorePacketsThanItCanTakeAreDroppedAndCounted) {
  build(1);
  for (int i = 0; i < 20; i++) clock({});
  for (int i = 0; i < 64; i++) nodes_[0]->receive(write_packet({}));
  for (int i = 0; i < 1000; i++) clock({});
  EXPECT_GT(nodes_[0]->dropped(Drop::overrun), 0u);
  nodes_[0]->compare_counters();
}

TEST_F(BarrierRtl, APacketWithAnyOneBitWrongIsMalformed) {
  build(1);
  for (int i = 0; i < 20; i++) clock({});
  constexpr uint32_t hops = 208, behind_hops = 224;  // that field is not covered
  for (uint32_t bit = 0; bit < 256; bit++) {
    if (bit >= hops && bit < behind_hops) continue;
    PacketBytes bytes = write_packet({});
    bytes[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    nodes_[0]->receive(bytes);
    for (int i = 0; i < 10; i++) clock({});
  }
  EXPECT_EQ(nodes_[0]->dropped(Drop::malformed), 256U - 16);
  nodes_[0]->compare_counters();
}

/// Node 0, which has arrived in a group that nobody else has told of, without ticks.
class BarrierTimes : public BarrierRtl {
 protected:
  BarrierTimes() { build(1); }

  void wait_in_lct(std::vector<Node> members) {
    settings_ = settings_of(static_cast<uint32_t>(members.size()));
    settings_.shape = Shape::lct;
    settings_.members = std::move(members);
    settings_.block_log2 = 0;
    settings_.multicast = 0;
    nodes_[0]->open(0, settings_);
    nodes_[0]->arrive(0);
    for (int i = 0; i < 1000 && nodes_[0]->busy(); i++) clock({});
    EXPECT_TRUE(nodes_[0]->write(reg::TICK_PERIOD, 0xffff));
    for (uint32_t i = 0; i < 2 * SmallNode::tick_period; i++) clock({});
    nodes_[0]->take_packets();
  }
  template <typename Happened>
  uint32_t clocks_until(Happened happened) {
    uint32_t clocks = 0;
    for (; clocks < 100 && !happened(); clocks++) nodes_[0]->clock(0);
    return clocks;
  }
  /// From a packet that comes to the first that leaves.
  uint32_t clocks_to_answer(Type type, uint32_t number) {
    Packet packet;
    packet.type = type;
    packet.number = number;
    packet.from = settings_.members[number];
    packet.instance = settings_.instance;
    packet.digest = digest_of(settings_);
    nodes_[0]->receive(write_packet(packet));
    return clocks_until([&] { return !nodes_[0]->take_packets().empty(); });
  }

  static constexpr uint32_t answered = 5;  ///< the clock in which it comes, and four
  GroupSettings settings_;
};

// What model/barrier/timing.hpp takes for granted.
TEST_F(BarrierTimes, HasAPacketDoneInFourClocks) {
  wait_in_lct({1, 2, 0, 3});
  EXPECT_EQ(clocks_to_answer(Type::gather, 3), answered);
  EXPECT_EQ(clocks_to_answer(Type::release, 0), answered) << "also down the tree";
}

TEST_F(BarrierTimes, TakesTheNextPacketAfterTwoClocksOrThreeIfItIsOfAnotherGroup) {
  // A group that there is not counts as the first.
  constexpr uint32_t last = SmallNode::groups - 1, none = 2 * SmallNode::groups - 1;
  for (const auto& [other, clocks] : {std::pair{0U, 2U}, {1U, 3U}, {last, 3U}, {none, 2U}}) {
    Packet astray;
    astray.to = 5;
    const uint64_t before = nodes_[0]->dropped(Drop::misrouted);
    for (uint32_t i = 0; i < 6; i++) {
      astray.group = i % 2 == 0 ? 0 : other;
      nodes_[0]->receive(write_packet(astray));
    }
    // The first finds it idle.
    clocks_until([&] { return nodes_[0]->dropped(Drop::misrouted) == before + 2; });
    EXPECT_EQ(clocks_until([&] { return nodes_[0]->dropped(Drop::misrouted) == before + 6; }), 4 * clocks)
        << "group " << other;
  }
}

TEST_F(BarrierTimes, TheRootReleasesInFourClocks) {
  wait_in_lct({0, 1});
  EXPECT_EQ(clocks_to_answer(Type::gather, 1), answered);
}

// Both wait all the time: four packets go before each tick.
TEST_F(BarrierRtl, PacketsAndTicksTakeTurns) {
  build(1);
  nodes_[0]->open(0, settings_of(2));
  nodes_[0]->arrive(0);
  for (int i = 0; i < 1000 && nodes_[0]->busy(); i++) clock({});
  EXPECT_TRUE(nodes_[0]->write(reg::TICK_PERIOD, 1));
  for (uint32_t i = 0; i < SmallNode::tick_period; i++) clock({});  // what is left of the period before
  const uint64_t ticks = nodes_[0]->ticks(0);
  Packet astray;
  astray.to = 5;
  for (int i = 0; i < 2000; i++) {
    nodes_[0]->receive(write_packet(astray));
    clock({});
  }
  const uint64_t dropped = nodes_[0]->dropped(Drop::misrouted);
  EXPECT_GT(dropped, 2000U / 5);
  EXPECT_NEAR(static_cast<double>(nodes_[0]->ticks(0) - ticks) * 4, static_cast<double>(dropped), 8);
}

// However packets come in between, also just when a tick has begun.
TEST_F(BarrierRtl, PacketsHoldUpNoTickForEver) {
  for (uint32_t clocks = 1; clocks < 20; clocks++) {
    nodes_.clear();
    build(1);
    nodes_[0]->open(0, settings_of(2));
    nodes_[0]->arrive(0);
    for (int i = 0; i < 1000 && nodes_[0]->busy(); i++) clock({});
    const uint64_t ticks = nodes_[0]->ticks(0);
    Packet astray;
    astray.to = 5;
    constexpr uint32_t periods = 100;
    for (uint32_t i = 0; i < periods * SmallNode::tick_period; i++) {
      if (i % clocks == 0) nodes_[0]->receive(write_packet(astray));
      clock({});
    }
    EXPECT_NEAR(static_cast<double>(nodes_[0]->ticks(0) - ticks), periods, 1) << clocks;
  }
}

TEST_F(BarrierRtl, TicksComeToAllGroupsThatWaitInEachPeriod) {
  for (uint32_t closed = 0; closed < SmallNode::groups; closed++) {
    const uint32_t idle = (closed + 1) % SmallNode::groups;
    nodes_.clear();
    build(1);
    for (uint32_t group = 0; group < SmallNode::groups; group++) {
      nodes_[0]->open(group, settings_of(2));
      if (group != idle) nodes_[0]->arrive(group);
    }
    nodes_[0]->close(closed);
    for (int i = 0; i < 3000 && nodes_[0]->busy(); i++) clock({});
    std::array<uint64_t, SmallNode::groups> before{};
    for (uint32_t group = 0; group < before.size(); group++) before[group] = nodes_[0]->ticks(group);
    for (uint32_t i = 0; i < 100 * SmallNode::tick_period; i++) clock({});
    for (uint32_t group = 0; group < before.size(); group++)
      EXPECT_NEAR(static_cast<double>(nodes_[0]->ticks(group) - before[group]),
                  group == closed || group == idle ? 0 : 100, 1)
          << group;
  }
}

TEST_F(BarrierRtl, ATickComesAfterItsPeriodHoweverLong) {
  build(1);
  nodes_[0]->open(0, settings_of(2));
  nodes_[0]->arrive(0);
  for (int i = 0; i < 1000 && nodes_[0]->busy(); i++) clock({});
  const auto clocks_until_tick = [&] {
    const uint64_t before = nodes_[0]->ticks(0);
    uint32_t clocks = 0;
    for (; clocks < 0x10000 && nodes_[0]->ticks(0) == before; clocks++) nodes_[0]->clock(0);
    return clocks;
  };
  for (uint32_t bit = 5; bit < 16; bit++) {
    const uint32_t period = (1U << bit) + 3;
    EXPECT_TRUE(nodes_[0]->write(reg::TICK_PERIOD, period));
    clocks_until_tick();
    EXPECT_EQ(clocks_until_tick(), period);
  }
}

// Compared with the golden model at each tick: it doubles, with a bit that both have, and not to the largest.
TEST_F(BarrierRtl, IntervalsDoubleHoweverLong) {
  build(1);
  EXPECT_TRUE(nodes_[0]->write(reg::TICK_PERIOD, 1));
  for (uint32_t bit = 3; bit < 14; bit++) {
    GroupSettings settings = settings_of(2);
    settings.instance = static_cast<uint16_t>(bit);
    settings.waiting = {.first = 5U << (bit - 3), .largest = 3U << (bit - 1), .tries = 12, .late = 100};
    nodes_[0]->open(0, settings);
    nodes_[0]->arrive(0);
    const uint64_t before = nodes_[0]->repeated();
    for (uint32_t i = 0; i < 10 * (15U << (bit - 3)) + 1000; i++) nodes_[0]->clock(0);
    EXPECT_GE(nodes_[0]->repeated() - before, 2u);
    nodes_[0]->compare_counters();
    nodes_[0]->close(0);
    for (int i = 0; i < 100 && nodes_[0]->busy(); i++) nodes_[0]->clock(0);
  }
}

TEST_F(BarrierRtl, ANodeThatIsAMemberTwiceIsFoundAtAllPlaces) {
  build(1);
  auto& node = *nodes_[0];
  uint64_t refused = 0;
  for (uint32_t second = 1; second < SmallNode::nodes; second++) {
    for (uint32_t first = 0; first < second; first++) {
      GroupSettings settings = settings_of(SmallNode::nodes);
      settings.members[second] = settings.members[first];
      node.open(0, settings);
      for (int i = 0; i < 1000 && node.busy(); i++) node.clock(0);
      EXPECT_EQ(node.refused(Refusal::repeated_node), ++refused) << first << ", " << second;
    }
  }
}

// Who was told of one group arrives in no other one whose completion still waits.
TEST_F(BarrierRtl, EachCompletionIsOfItsGroupOnly) {
  for (uint32_t first = 0; first < SmallNode::groups; first++) {
    nodes_.clear();
    build(1);
    auto& node = *nodes_[0];
    GroupSettings settings = settings_of(1);
    settings.members = {0};
    node.hold_completions(true);
    for (uint32_t i = 0; i < SmallNode::groups; i++) {
      node.open((first + i) % SmallNode::groups, settings);
      node.arrive((first + i) % SmallNode::groups);
    }
    for (int i = 0; i < 1000; i++) node.clock(0);
    node.hold_completions(false);
    std::vector<Completion> told;
    for (int i = 0; i < 10 && told.empty(); i++) {
      node.clock(0);
      told = node.take_completions();
    }
    node.hold_completions(true);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].group, first);
    for (uint32_t i = 1; i < SmallNode::groups; i++)
      EXPECT_FALSE(node.write(reg::ARRIVE, (first + i) % SmallNode::groups)) << first << ", " << i;
    EXPECT_TRUE(node.write(reg::ARRIVE, first));
  }
}

// It may have been in the middle of a table. A group without members is refused at once.
TEST_F(BarrierRtl, AResetLeavesNothingOfAnOpening) {
  for (uint32_t clocks = 0; clocks < 40; clocks++) {
    nodes_.clear();
    build(1);
    auto& node = *nodes_[0];
    GroupSettings settings = settings_of(SmallNode::nodes);
    settings.block_log2 = 0;
    node.open(0, settings);
    for (int i = 0; i < 1000 && node.busy(); i++) node.clock(0);
    node.close(0);
    for (int i = 0; i < 100 && node.busy(); i++) node.clock(0);
    if (clocks % 2 == 1) {
      settings.instance++;
      node.open(0, settings);
      for (uint32_t i = 0; i < 140 + clocks; i++) node.clock(0);
    }
    node.reset_only();
    node.open_as_written(1, {});
    for (int i = 0; i < 1000 && node.busy(); i++) node.clock(0);
    EXPECT_FALSE(node.busy());
    EXPECT_EQ(node.refused(Refusal::empty), 1u);
  }
}

TEST_F(BarrierRtl, RegistersReadAsWrittenButWithAllStrobesOnly) {
  build(1);
  for (int i = 0; i < 20; i++) clock({});
  check_registers(*nodes_[0], random_);
}

TEST_F(BarrierRtl, RegistersReadAsWrittenAndRefuseTheRest) {
  build(1);
  for (int i = 0; i < 20; i++) clock({});
  auto& node = *nodes_[0];
  EXPECT_EQ(node.read(reg::ID), formats::reset::ID);
  EXPECT_EQ(node.read(reg::VERSION), formats::reset::VERSION);
  EXPECT_EQ(node.read(reg::CAPS), SmallNode::members << 16 | SmallNode::groups);
  EXPECT_EQ(node.read(reg::NODES), SmallNode::nodes);
  EXPECT_FALSE(node.write(reg::MEMBERS, SmallNode::members + 1));
  EXPECT_FALSE(node.write(reg::ID, 1));
  EXPECT_FALSE(node.write(reg::DROP, 1));
  EXPECT_FALSE(node.read(reg::ARRIVE));
  EXPECT_FALSE(node.read(reg::DROP + 4 * formats::count::DROP));
  EXPECT_FALSE(node.write(reg::ARRIVE, 0));
  EXPECT_EQ(node.read(reg::RESULT), static_cast<uint32_t>(Refusal::not_open));
  EXPECT_TRUE(node.write(reg::TABLE_INDEX, SmallNode::members));
  EXPECT_FALSE(node.write(reg::MEMBER, 0)) << "beyond the table";
  EXPECT_TRUE(node.write(reg::TABLE_INDEX, 0));
  EXPECT_FALSE(node.write(reg::MEMBER, 0x10000)) << "no number of a node";
  EXPECT_EQ(node.read(reg::TABLE_INDEX), 0u);
  node.open(1, settings_of(1));
  for (int i = 0; i < 1000 && node.busy(); i++) clock({});
  EXPECT_EQ(node.read(reg::RESULT), 0u);
  EXPECT_FALSE(node.write(reg::SELF, 3)) << "a group is open";
  EXPECT_TRUE(node.write(reg::TABLE_GROUP, 1));
  EXPECT_TRUE(node.write(reg::TABLE_INDEX, 0));
  EXPECT_FALSE(node.write(reg::MEMBER, 0)) << "the group is open";
  node.open(0, settings_of(1));
  for (int i = 0; i < 1000 && node.busy(); i++) clock({});
  EXPECT_FALSE(node.write(reg::CLOSE, SmallNode::groups)) << "there is no such group";
  EXPECT_TRUE(node.write(reg::ARRIVE, 0)) << "it closes no other one";
}

}  // namespace
}  // namespace weft::rtl_test
