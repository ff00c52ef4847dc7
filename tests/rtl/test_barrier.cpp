// SPDX-License-Identifier: Apache-2.0
// Barrier engines in RTL on a network that does anything: nobody leaves early, who is dead or late is named,
// and each engine does what its golden model does.
#include <array>

#include "barrier_rtl.hpp"

namespace weft::rtl_test {
namespace {

using namespace barrier;
namespace reg = formats::reg;

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
  for (const auto& [shape, block] :
       {std::pair(Shape::lct, 0U), std::pair(Shape::lct, 1U), std::pair(Shape::lct, 2U),
        std::pair(Shape::lct4, 2U), std::pair(Shape::lct8, 0U), std::pair(Shape::lct8, 3U)}) {
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

// One packet of the root and one of each other member, in one level and in two. (An LCT8's seven children
// come in one clock here, which is more than this engine's queue takes.)
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
      usual[group].instance++;
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
          if (below(20) == 0) settings.instance++;
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
  for (uint32_t why = 0; why <= static_cast<uint32_t>(Refusal::same_instance); why++) {
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

// While it is waited for, and no longer than that; of its group only.
TEST_F(BarrierRtl, WhoIsLateCanBeRead) {
  build(3);
  auto settings = settings_of(3);
  for (uint32_t group = 0; group < 2; group++)
    for (auto& node : nodes_) node->open(group, settings);
  for (const uint32_t node : {0u, 2u}) nodes_[node]->arrive(1);
  const auto late_at = [&](uint32_t node, uint32_t group) {
    EXPECT_TRUE(nodes_[node]->write(reg::TABLE_GROUP, group));
    return nodes_[node]->read(reg::LATE_NOW);
  };
  clock({});
  EXPECT_EQ(late_at(0, 1), 0u) << "not yet";
  for (uint32_t i = 0; i < 2 * settings.waiting.late * SmallNode::tick_period; i++) clock({});
  for (const uint32_t node : {0u, 2u}) {
    EXPECT_EQ(late_at(node, 1), 1U << 31 | 1U);
    EXPECT_EQ(late_at(node, 0), 0u) << "nobody has arrived there";
    EXPECT_EQ(late_at(node, SmallNode::groups), 0u) << "there is no such group";
  }
  EXPECT_EQ(late_at(1, 1), 0u) << "who is late knows nobody";
  for (auto& node : nodes_) node->compare_counters();
  nodes_[1]->arrive(1);
  for (uint32_t i = 0; i < 100 * SmallNode::tick_period; i++) clock({});
  for (uint32_t node = 0; node < 3; node++) EXPECT_EQ(late_at(node, 1), 0u) << "the barrier has ended";
  nodes_[0]->arrive(1);
  for (uint32_t i = 0; i < 2 * settings.waiting.late * SmallNode::tick_period; i++) clock({});
  EXPECT_NE(late_at(0, 1), 0u);
  nodes_[0]->reset();
  for (uint32_t i = 0; i < 10; i++) nodes_[0]->clock(0);
  EXPECT_EQ(late_at(0, 1), 0u) << "all is forgotten";
}

// A group whose software is slow stops neither the others nor the members that wait for its node.
TEST_F(BarrierRtl, ACompletionThatIsNotTakenStopsNoOtherGroup) {
  build(2);
  auto settings = settings_of(2);
  settings.multicast = 0;  // packets go to one node each here
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
  auto settings = settings_of(2);
  settings.multicast = 0;  // packets go to one node each here
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

}  // namespace
}  // namespace weft::rtl_test
