// SPDX-License-Identifier: Apache-2.0
// Barrier engines in RTL, each beside its golden model, on a network that loses, repeats, delays, reorders
// and corrupts; bad packets, bad commands, reset; registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "barrier_registers.hpp"
#include "bench.hpp"
#include "small_barrier.hpp"

namespace weft::rtl_test {
namespace {

using namespace barrier;
namespace reg = formats::reg;

constexpr Node multicast_address = 0xc123;

struct Storm {
  uint32_t loss = 0, twice = 0, corrupt = 0, forged = 0;  ///< percent of packets
  uint32_t delay = 1;                                     ///< clocks at most
  uint32_t pauses = 0;                                    ///< percent of clocks
};

class BarrierRtl : public testing::Test {
 protected:
  void build(uint32_t count) {
    for (Node node = 0; node < count; node++) nodes_.push_back(std::make_unique<SmallNode>(node, seed()));
    arrived_.assign(count, 0);
    done_.assign(count, 0);
    failed_.assign(count, {});
  }

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  GroupSettings settings_of(uint32_t members) {
    GroupSettings settings;
    settings.instance = 7;
    settings.shape = shapes[below(shapes.size())].shape;
    settings.members.resize(members);
    std::iota(settings.members.begin(), settings.members.end(), 0);
    std::shuffle(settings.members.begin(), settings.members.end(), random_);
    move_in_blocks(settings, below(5));
    if (chance(40)) settings.multicast = multicast_address;
    settings.judge.tries = 200;
    settings.waiting = {.first = 8, .largest = 32, .tries = 12, .late = 100};
    return settings;
  }

  void fly(PacketBytes bytes, const Storm& storm) {
    sent_++;
    if (chance(storm.loss)) return;
    for (uint32_t hops = below(4); hops > 0; hops--) add_hop(bytes);
    const auto packet = formats::unpack_packet(bytes);
    if (packet.multicast == 0) return fly_to(packet.to, bytes, storm);
    for (Node node = 0; node < nodes_.size(); node++)
      if (node != packet.from) fly_to(node, bytes, storm);
  }
  void fly_to(uint32_t to, PacketBytes bytes, const Storm& storm) {
    ways_.emplace(formats::unpack_packet(bytes).from, to);
    if (chance(storm.forged)) {
      const bool kind = chance(25);  // one is taken for another kind
      bytes[kind ? 2 : 2 + below(24)] ^= static_cast<uint8_t>(1U << below(kind ? 2 : 8));
      bytes = checked(bytes);
    }
    if (chance(storm.corrupt)) bytes[below(32)] ^= static_cast<uint8_t>(1U << below(8));
    if (to < nodes_.size()) flying_.emplace(now_ + 1 + below(storm.delay), std::pair(to, bytes));
  }

  void clock(const Storm& storm) {
    now_++;
    while (!flying_.empty() && flying_.begin()->first <= now_) {
      const auto [to, bytes] = flying_.begin()->second;
      flying_.erase(flying_.begin());
      if (!dead(to)) nodes_[to]->receive(bytes);
    }
    for (Node node = 0; node < nodes_.size(); node++) {
      if (dead(node)) continue;
      nodes_[node]->clock(storm.pauses);
      for (const PacketBytes& bytes : nodes_[node]->take_packets()) {
        fly(bytes, storm);
        if (chance(storm.twice)) fly(bytes, storm);
      }
      for (const Completion& completion : nodes_[node]->take_completions()) note(node, completion);
    }
  }

  bool dead(Node node) const { return dead_ && *dead_ == node; }

  void note(Node node, const Completion& completion) {
    if (completion.group != 0) return;
    if (completion.ending != Ending::ok) {
      failed_[node] = completion.dead;
      return;
    }
    done_[node]++;
    if (!safe_) return;
    for (Node other = 0; other < nodes_.size(); other++)
      EXPECT_GE(arrived_[other], done_[node]) << "node " << node << " left before " << other << " arrived";
  }

  /// Software of all nodes comes back after random times. @return whether all have done so many barriers
  bool run(uint32_t barriers, const Storm& storm, uint32_t pause) {
    for (uint32_t i = 0; i < 400000 && !HasFailure(); i++) {
      bool all = true;
      for (Node node = 0; node < nodes_.size(); node++) {
        if (dead(node) || failed_[node]) continue;
        all = all && done_[node] >= barriers;
        if (arrived_[node] > done_[node] || arrived_[node] >= barriers || nodes_[node]->busy() ||
            below(pause) != 0)
          continue;
        arrived_[node]++;
        nodes_[node]->arrive(0);
      }
      if (all) return true;
      clock(storm);
    }
    return false;
  }

  testing::ScopedTrace reproduce_{__FILE__, __LINE__, reproduce_command()};
  std::mt19937_64 random_{seed() + 1};
  std::vector<std::unique_ptr<SmallNode>> nodes_;
  std::vector<uint32_t> arrived_, done_;
  std::vector<std::optional<Node>> failed_;
  std::optional<Node> dead_;
  std::multimap<uint64_t, std::pair<Node, PacketBytes>> flying_;
  std::set<std::pair<Node, Node>> ways_;  ///< who has sent to whom
  uint64_t now_ = 0, sent_ = 0;
  bool safe_ = true;
};

TEST_F(BarrierRtl, NobodyLeavesBeforeAllHaveArrivedWhateverTheNetworkDoes) {
  for (int round = 0; round < 6 && !HasFailure(); round++) {
    nodes_.clear();
    flying_.clear();
    const uint32_t count = 1 + below(12);
    build(count);
    const auto settings = settings_of(count);
    for (auto& node : nodes_) node->open(0, settings);
    const Storm storm{.loss = round % 2 == 0 ? 0U : 8U,
                      .twice = 20,
                      .corrupt = round % 3 == 0 ? 0U : 3U,
                      .delay = 1 + below(200),
                      .pauses = round < 2 ? 0U : 40U};
    ASSERT_TRUE(run(15, storm, 1 + below(400))) << "does not end, round " << round;
    for (int i = 0; i < 500; i++) clock(storm);
    for (auto& node : nodes_) node->compare_counters();
  }
}

TEST_F(BarrierRtl, TheTreeStaysWhileItsWaysAreGoodElseItMovesOnAtBothLevels) {
  constexpr uint32_t count = 8, links_of_tree = 2 * (count - 1);
  for (const auto& [shape, block] : {std::pair(Shape::lct, 0U), std::pair(Shape::lct, 1U),
                                     std::pair(Shape::lct, 2U), std::pair(Shape::lct4, 2U)}) {
    for (const uint32_t good : {0xffffU, 0U}) {
      nodes_.clear();
      ways_.clear();
      build(count);
      auto settings = settings_of(count);
      settings.shape = shape;
      move_in_blocks(settings, block);
      ASSERT_EQ(settings.block_log2, block);
      settings.multicast = 0;
      settings.judge.good = good;
      settings.judge.tries = 2;  // then it holds, until the network makes a way longer
      for (auto& node : nodes_) node->open(0, settings);
      ASSERT_TRUE(run(30, {}, 1));
      EXPECT_EQ(ways_.size() == links_of_tree, good > 0) << ways_.size() << " ways, blocks of 2^" << block;
    }
  }
}

// One packet of the root and one of each other member, in one level and in two.
TEST_F(BarrierRtl, MulticastReleaseIsOnePacket) {
  constexpr uint32_t count = 8, barriers = 10;
  for (const auto& [shape, block] : {std::pair(Shape::lct, 0U), std::pair(Shape::bst, 0U),
                                     std::pair(Shape::lct, 2U), std::pair(Shape::lct4, 2U)}) {
    nodes_.clear();
    build(count);
    auto settings = settings_of(count);
    settings.shape = shape;
    move_in_blocks(settings, block);
    settings.multicast = multicast_address;
    settings.waiting.first = 100;  // nothing is repeated
    for (auto& node : nodes_) node->open(0, settings);
    sent_ = 0;
    ASSERT_TRUE(run(barriers, {}, 1));
    EXPECT_EQ(sent_, barriers * count);
  }
}

// It says that it is late, then dies.
TEST_F(BarrierRtl, ADeadMemberWasLateBefore) {
  build(2);
  auto settings = settings_of(2);
  settings.members = {0, 1};
  settings.waiting = {.first = 2, .largest = 2, .tries = 3, .late = 10};
  for (auto& node : nodes_) node->open(0, settings);
  nodes_[0]->arrive(0);
  for (uint32_t i = 0; i < 2 * settings.waiting.late * SmallNode::tick_period; i++) clock({});
  std::vector<Completion> told;
  for (uint32_t i = 0; i < 1000 && told.empty(); i++) {
    nodes_[0]->clock(0);
    told = nodes_[0]->take_completions();
  }
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].ending, Ending::dead_member);
  EXPECT_EQ(told[0].dead, 1u);
  EXPECT_EQ(told[0].late, Node{1});
}

TEST_F(BarrierRtl, WhoWasResetJoinsAgainUnderAnotherInstance) {
  constexpr uint32_t count = 4;
  build(count);
  auto settings = settings_of(count);
  for (auto& node : nodes_) node->open(0, settings);
  const Storm storm{.loss = 3, .twice = 20, .delay = 50};
  for (int round = 0; round < 4; round++) {
    ASSERT_TRUE(run(2, storm, 20)) << "round " << round;
    const Node victim = below(count);
    nodes_[victim]->reset();
    for (Node node = 0; node < count && round % 2 == 1; node++)
      if (node != victim) nodes_[node]->arrive(0);  // it has forgotten the group
    for (int i = 0; i < 300 && round % 2 == 1; i++) clock(storm);
    EXPECT_EQ(std::ranges::max(done_), 2u) << "without the one that was reset";
    settings.instance++;
    for (auto& node : nodes_) {
      if (node != nodes_[victim]) node->close(0);
      node->open(0, settings);
    }
    arrived_.assign(count, 0);
    done_.assign(count, 0);
  }
}

TEST_F(BarrierRtl, ADeadMemberIsNamedToAllOthers) {
  for (int round = 0; round < 4 && !HasFailure(); round++) {
    nodes_.clear();
    flying_.clear();
    const uint32_t count = 2 + below(9);
    build(count);
    const auto settings = settings_of(count);
    for (auto& node : nodes_) node->open(0, settings);
    const Storm storm{.loss = 2, .twice = 10, .delay = 20, .pauses = 20};
    ASSERT_TRUE(run(3, storm, 50));
    dead_ = below(count);
    ASSERT_TRUE(run(5, storm, 50)) << "hangs";
    for (Node node = 0; node < count; node++)
      if (node != *dead_) {
        EXPECT_EQ(failed_[node], dead_) << node;
      }
    dead_.reset();
  }
}

// Forged packets, bad commands and resets: the engine does whatever its model does.
TEST_F(BarrierRtl, EqualsItsModelWhateverComes) {
  safe_ = false;
  build(6);
  std::array<GroupSettings, 3> usual;
  for (auto& settings : usual) {
    settings = settings_of(6);
    settings.judge.good = below(6);
    settings.judge.tries = below(10);
  }
  uint64_t resets = 0;
  std::array<uint64_t, formats::count::DROP> dropped{};
  for (int i = 0; i < 200000 && !HasFailure(); i++) {
    if (i % 4000 == 0) {  // all begin anew
      const uint32_t group = below(3);
      for (auto& other : nodes_) {
        other->close(group);
        other->open(group, usual[group]);
      }
    }
    auto& node = *nodes_[below(6)];
    if (!node.busy() && below(40) == 0) {
      const uint32_t group = below(20) == 0 ? 4 + below(300) : below(3);
      switch (below(8)) {
        case 0: {
          auto settings = usual[group % usual.size()];
          settings.instance = static_cast<uint16_t>(7 + (below(20) == 0 ? 1 : 0));
          settings.waiting.tries = 3 + below(6);
          const uint32_t fault = below(12);  // those with one ask for a group that is never open
          if (fault == 0) settings.members.clear();
          if (fault == 1) settings.members[below(6)] = SmallNode::nodes + below(6);
          if (fault == 2) settings.members[0] = settings.members[5];
          if (fault == 3) settings.members = {20, 21};
          if (fault == 4) settings.judge.stride = 9;
          if (fault == 5) settings.block_log2 = 10 - below(2);
          if (fault == 6) settings.multicast = 1 + below(SmallNode::nodes - 1);
          node.open(fault < 7 ? 3 : group, settings);
          break;
        }
        case 1:
          if (below(10) == 0) node.close(group);
          break;
        default:
          node.arrive(group);
      }
    }
    if (below(20000) == 0) {
      for (uint32_t reason = 0; reason < dropped.size(); reason++)
        dropped[reason] += node.dropped(static_cast<Drop>(reason));
      node.reset();
      resets++;
    }
    clock({.loss = 2,
           .twice = 10,
           .corrupt = 2,
           .forged = 3,
           .delay = 60,
           .pauses = i / 1000 % 2 == 0 ? 0U : 50U});
  }
  EXPECT_GT(resets, 0u);
  for (auto& node : nodes_)
    for (uint32_t reason = 0; reason < dropped.size(); reason++)
      dropped[reason] += node->dropped(static_cast<Drop>(reason));
  for (uint32_t reason = 0; reason < dropped.size(); reason++)
    if (static_cast<Drop>(reason) != Drop::overrun) {
      EXPECT_GT(dropped[reason], 0u) << formats::name(static_cast<Drop>(reason));
    }
  for (uint32_t why = 0; why <= static_cast<uint32_t>(Refusal::bad_multicast); why++) {
    uint64_t refused = 0;
    for (auto& node : nodes_) refused += node->refused(static_cast<Refusal>(why));
    EXPECT_GT(refused, 0u) << formats::name(static_cast<Refusal>(why));
  }
}

TEST_F(BarrierRtl, WhoIsLateIsCountedOnce) {
  build(2);
  const auto settings = settings_of(2);
  for (auto& node : nodes_) node->open(0, settings);
  nodes_[0]->arrive(0);
  for (uint32_t i = 0; i < 2 * settings.waiting.late * SmallNode::tick_period; i++) clock({});
  EXPECT_EQ(nodes_[0]->read(reg::LATE_COUNT), 1u);
  nodes_[0]->compare_counters();
}

// A group whose software is slow stops neither the others nor the members that wait for its node.
TEST_F(BarrierRtl, ACompletionThatIsNotTakenStopsNoOtherGroup) {
  build(2);
  const auto settings = settings_of(2);
  nodes_[0]->hold_completions(true);
  std::array<uint32_t, SmallNode::groups> done{};
  for (uint32_t group = 0; group < done.size(); group++) {
    for (auto& node : nodes_) node->open(group, settings);
    for (auto& node : nodes_) node->arrive(group);
  }
  const auto clocks = [&](auto& completed) {
    for (int i = 0; i < 5000; i++) {
      now_++;
      for (auto& node : nodes_) {
        node->clock(0);
        for (const PacketBytes& bytes : node->take_packets())
          nodes_[formats::unpack_packet(bytes).to]->receive(bytes);
      }
      for (const Completion& completion : completed->take_completions()) done[completion.group]++;
    }
  };
  clocks(nodes_[1]);
  EXPECT_EQ(done, (std::array<uint32_t, 4>{1, 1, 1, 1}));
  EXPECT_FALSE(nodes_[0]->write(reg::ARRIVE, 1));
  EXPECT_EQ(nodes_[0]->refused(Refusal::arrived), 1u) << "the completion before is not taken";
  EXPECT_TRUE(nodes_[0]->take_completions().empty());
  nodes_[0]->hold_completions(false);
  clocks(nodes_[0]);
  EXPECT_EQ(done, (std::array<uint32_t, 4>{2, 2, 2, 2}));
  EXPECT_TRUE(nodes_[0]->write(reg::ARRIVE, 1));
}

TEST_F(BarrierRtl, BarriersOfAllGroupsAtOnceOneAfterTheOther) {
  build(2);
  const auto settings = settings_of(2);
  for (uint32_t group = 0; group < SmallNode::groups; group++)
    for (auto& node : nodes_) node->open(group, settings);
  std::array<uint32_t, SmallNode::groups> done{};
  for (uint32_t round = 1; round <= 20; round++) {
    for (uint32_t group = 0; group < done.size(); group++)
      for (auto& node : nodes_) node->arrive(group);
    for (uint32_t i = 0; i < 600 + below(3); i++) {
      for (auto& node : nodes_) {
        node->clock(20);
        for (const PacketBytes& bytes : node->take_packets())
          nodes_[formats::unpack_packet(bytes).to]->receive(bytes);
        for (const Completion& completion : node->take_completions()) done[completion.group]++;
      }
    }
    for (const uint32_t each : done) EXPECT_EQ(each, 2 * round);
  }
}

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

// What model/barrier/timing.hpp takes for granted.
TEST_F(BarrierRtl, HasAPacketDoneInFourClocksAndTakesTheNextAfterThree) {
  build(1);
  GroupSettings settings = settings_of(4);
  settings.shape = Shape::lct;
  settings.members = {1, 2, 0, 3};
  nodes_[0]->open(0, settings);
  nodes_[0]->arrive(0);
  for (int i = 0; i < 1000 && nodes_[0]->busy(); i++) clock({});
  EXPECT_TRUE(nodes_[0]->write(reg::TICK_PERIOD, 0xffff));
  for (uint32_t i = 0; i < 2 * SmallNode::tick_period; i++) clock({});
  nodes_[0]->take_packets();
  Packet gather;
  gather.from = gather.number = 3;
  gather.instance = settings.instance;
  gather.digest = digest_of(settings);
  const auto clocks_until = [&](auto happened) {
    uint32_t clocks = 0;
    for (; clocks < 100 && !happened(); clocks++) nodes_[0]->clock(0);
    return clocks;
  };
  nodes_[0]->receive(write_packet(gather));
  EXPECT_EQ(clocks_until([&] { return !nodes_[0]->take_packets().empty(); }), 5U)
      << "the clock in which it comes, and four";
  Packet astray;
  astray.to = 5;
  for (int i = 0; i < 4; i++) nodes_[0]->receive(write_packet(astray));
  clocks_until([&] { return nodes_[0]->dropped(Drop::misrouted) == 1; });
  EXPECT_EQ(clocks_until([&] { return nodes_[0]->dropped(Drop::misrouted) == 4; }), 3 * 3U);
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
