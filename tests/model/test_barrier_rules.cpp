// SPDX-License-Identifier: Apache-2.0
// One barrier engine: whom it tells and in which order, what it refuses and drops.
#include <algorithm>
#include <map>
#include <vector>

#include "barrier_network.hpp"

namespace weft::barrier {
namespace {

// Of 16 members in blocks of 4, all moved on by one: number 3 of each block is its root, those of blocks
// gather along a tree of their own.
TEST(BarrierEngine, GathersInBlocksThenOverTheirRoots) {
  for (const auto& [number, parent] : std::map<Node, Node>{
           {0, 3}, {1, 3}, {2, 1}, {4, 7}, {5, 7}, {6, 5}, {7, 3}, {11, 3}, {15, 11}, {12, 15}, {14, 13}}) {
    Engine member(number, 1, 16);
    auto settings = settings_of(16);
    move_in_blocks(settings, 2);
    settings.judge.stride = 1;
    ASSERT_EQ(member.open(0, settings), Refusal::none);
    Packet release;  // by which the offset is 1
    release.to = number;
    release.instance = settings.instance;
    release.digest = digest_of(settings);
    release.epoch = 1;
    release.memory.offset = 1;
    member.arrive(0);
    for (Node child = 0; child < 16; child++) {  // whoever is one: all have arrived
      Packet gather = release;
      gather.epoch = 0;
      gather.length = 1;  // so judge tries another offset
      gather.memory.offset = 0;
      gather.from = gather.number = child;
      if (child != number) member.receive(gather);
    }
    if (number == 0) {  // the root has judged by itself
      EXPECT_EQ(member.take().packets.back().memory.offset, 1u);
    } else {
      release.type = Type::release;
      release.epoch = 0;
      release.from = release.number = parent_of(Shape::lct, number);
      member.receive(release);
    }
    member.take();
    member.completion_taken(0);
    ASSERT_EQ(member.arrive(0), Refusal::none);
    for (Node child = 0; child < 16; child++) {
      Packet gather = release;
      gather.type = Type::gather;
      gather.epoch = 1;
      gather.from = gather.number = child;
      if (child != number) member.receive(gather);
    }
    const auto packets = member.take().packets;
    const auto gather = std::ranges::find(packets, Type::gather, &Packet::type);
    ASSERT_NE(gather, packets.end()) << number;
    EXPECT_EQ(gather->to, parent) << number;
  }
}

TEST(BarrierEngine, ReleasesTheLargestSubtreeFirst) {
  const std::map<Shape, std::vector<Node>> largest_first{
      {Shape::lct, {4, 2, 1}}, {Shape::bst, {1, 2, 4}}, {Shape::lct4, {4, 3, 2, 1}}};
  for (const auto& [shape, children] : largest_first) {
    Engine root(0, 1, 8);
    auto settings = settings_of(8);
    settings.shape = shape;
    ASSERT_EQ(root.open(0, settings), Refusal::none);
    root.arrive(0);
    for (const Node child : children) {
      Packet gather;
      gather.from = gather.number = child;
      gather.instance = settings.instance;
      gather.digest = digest_of(settings);
      root.receive(gather);
    }
    std::vector<Node> told;
    for (const Packet& packet : root.take().packets) told.push_back(packet.to);
    EXPECT_EQ(told, children);
  }
}

TEST(BarrierEngine, TellsAllAtOnceByMulticast) {
  for (const uint32_t members : {1u, 2u, 8u}) {
    Engine root(0, 1, 8);
    auto settings = settings_of(members);
    settings.multicast = multicast_address;
    ASSERT_EQ(root.open(0, settings), Refusal::none);
    root.arrive(0);
    for (const Node child : {4u, 2u, 1u}) {
      Packet gather;
      gather.from = gather.number = child;
      gather.instance = settings.instance;
      gather.digest = digest_of(settings);
      if (child < members) root.receive(gather);
    }
    const Outputs out = root.take();
    EXPECT_EQ(out.completions.size(), 1u);
    ASSERT_EQ(out.packets.size(), members == 1 ? 0u : 1u);
    if (members == 1) continue;
    EXPECT_TRUE(out.packets[0].multicast);
    EXPECT_EQ(out.packets[0].type, Type::release);
    EXPECT_EQ(out.packets[0].to, multicast_address);
  }
}

// Number 4 of 8 has the children 5 and 6. It passes on what came for it alone, which those may have missed.
TEST(BarrierEngine, PassesOnWhatIsNoMulticast) {
  for (const bool multicast : {false, true}) {
    Engine member(4, 1, 8);
    auto settings = settings_of(8);
    settings.multicast = multicast_address;
    ASSERT_EQ(member.open(0, settings), Refusal::none);
    member.arrive(0);
    Packet packet;
    packet.to = 4;
    packet.instance = settings.instance;
    packet.digest = digest_of(settings);
    for (const Node child : {5u, 6u}) {
      packet.from = packet.number = child;
      member.receive(packet);
    }
    member.take();
    packet.type = Type::release;
    packet.from = packet.number = 0;
    packet.multicast = multicast;
    if (multicast) packet.to = multicast_address;
    member.receive(packet);
    const Outputs out = member.take();
    ASSERT_EQ(out.completions.size(), 1u);
    EXPECT_EQ(out.packets.size(), multicast ? 0u : 2u);
    for (const Packet& release : out.packets) EXPECT_FALSE(release.multicast);
  }
}

TEST(BarrierEngine, RefusesWhatSoftwareDoesWrong) {
  Engine engine(1, 2, 8);
  auto settings = settings_of(4);
  const auto with = [&](std::vector<Node> members) {
    auto other = settings;
    other.members = std::move(members);
    return other;
  };
  EXPECT_EQ(engine.arrive(0), Refusal::not_open);
  EXPECT_EQ(engine.close(0), Refusal::not_open);
  EXPECT_EQ(engine.open(2, settings), Refusal::no_such_group);
  EXPECT_EQ(engine.arrive(2), Refusal::no_such_group);
  EXPECT_EQ(engine.open(0, with({})), Refusal::empty);
  EXPECT_EQ(engine.open(0, with({0, 1, 8})), Refusal::unknown_node);
  EXPECT_EQ(engine.open(0, with({0, 1, 2, 0})), Refusal::repeated_node);
  EXPECT_EQ(engine.open(0, with({0, 2})), Refusal::not_member);
  const auto in_blocks = [&](uint32_t block, uint32_t stride) {
    auto other = settings;
    other.block_log2 = block;
    other.judge.stride = stride;
    return other;
  };
  EXPECT_EQ(engine.open(0, in_blocks(3, 1)), Refusal::bad_block);
  EXPECT_EQ(engine.open(0, in_blocks(1, 3)), Refusal::bad_stride);
  EXPECT_EQ(engine.open(0, in_blocks(11, 1)), Refusal::bad_block);
  EXPECT_EQ(engine.open(0, in_blocks(32, 1)), Refusal::bad_block);
  settings.shape = Shape::bst;
  EXPECT_EQ(engine.open(0, in_blocks(1, 1)), Refusal::bad_block);
  settings.shape = Shape::lct4;
  EXPECT_EQ(engine.open(0, in_blocks(1, 1)), Refusal::bad_block);
  EXPECT_EQ(engine.open(0, in_blocks(2, 1)), Refusal::none);
  EXPECT_EQ(engine.close(0), Refusal::none);
  settings.shape = Shape::lct;
  settings.instance++;
  EXPECT_EQ(engine.open(0, in_blocks(2, 4)), Refusal::none);
  EXPECT_EQ(engine.close(0), Refusal::none);
  EXPECT_EQ(engine.open(0, in_blocks(0, 5)), Refusal::bad_stride);
  const auto told_at = [&](Node multicast) {
    auto other = settings;
    other.multicast = multicast;
    return other;
  };
  EXPECT_EQ(engine.open(0, told_at(1)), Refusal::bad_multicast);
  EXPECT_EQ(engine.open(0, told_at(7)), Refusal::bad_multicast);
  settings.instance++;
  EXPECT_EQ(engine.open(0, told_at(8)), Refusal::none);
  EXPECT_EQ(engine.close(0), Refusal::none);
  EXPECT_EQ(engine.refused(), 17u);
  EXPECT_EQ(engine.open(0, settings), Refusal::same_instance);
  EXPECT_EQ(engine.open(1, settings), Refusal::none) << "of another group";
  settings.instance++;
  EXPECT_EQ(engine.open(0, settings), Refusal::none);
  EXPECT_EQ(engine.open(0, settings), Refusal::open);
  EXPECT_EQ(engine.arrive(0), Refusal::none);
  EXPECT_EQ(engine.arrive(0), Refusal::arrived);
  EXPECT_EQ(engine.close(0), Refusal::none);
}

TEST(BarrierEngine, WantsItsCompletionTakenBeforeTheNextArrival) {
  Engine engine(0, 2, 1);
  for (uint32_t group = 0; group < 2; group++) {
    ASSERT_EQ(engine.open(group, settings_of(1)), Refusal::none);
    EXPECT_EQ(engine.arrive(group), Refusal::none);
  }
  EXPECT_EQ(engine.take().completions.size(), 2u);
  EXPECT_EQ(engine.arrive(0), Refusal::arrived);
  EXPECT_EQ(engine.close(0), Refusal::none);
  auto again = settings_of(1);
  again.instance++;
  EXPECT_EQ(engine.open(0, again), Refusal::none);
  EXPECT_EQ(engine.arrive(0), Refusal::arrived) << "it is still there";
  engine.completion_taken(0);
  EXPECT_EQ(engine.arrive(0), Refusal::none);
  EXPECT_EQ(engine.arrive(1), Refusal::arrived);
}

TEST(BarrierEngine, DropsWhatIsNotForItAndCounts) {
  Engine engine(0, 2, 8);
  ASSERT_EQ(engine.open(0, settings_of(4)), Refusal::none);
  Packet good;
  good.from = 1;
  good.number = 1;
  good.instance = 7;
  good.digest = digest_of(settings_of(4));
  const auto dropped = [&](Drop reason, auto change) {
    Packet packet = good;
    change(packet);
    const auto before = engine.dropped(reason);
    engine.receive(packet);
    EXPECT_EQ(engine.dropped(reason), before + 1) << static_cast<int>(reason);
    EXPECT_TRUE(engine.take().packets.empty());
  };
  dropped(Drop::unknown_group, [](Packet& packet) { packet.group = 1; });
  dropped(Drop::unknown_group, [](Packet& packet) { packet.group = 9; });
  dropped(Drop::other_instance, [](Packet& packet) { packet.instance = 6; });
  dropped(Drop::other_settings, [](Packet& packet) { packet.digest ^= 1; });
  dropped(Drop::not_member, [](Packet& packet) { packet.number = 2; });
  dropped(Drop::not_member, [](Packet& packet) { packet.number = 4; });
  dropped(Drop::misrouted, [](Packet& packet) { packet.to = 1; });
  const auto multicast = [](Node to) {
    return [to](Packet& packet) {
      packet.type = Type::release;
      packet.multicast = true;
      packet.to = to;
    };
  };
  dropped(Drop::misrouted, multicast(0));
  dropped(Drop::misrouted, multicast(multicast_address));
  dropped(Drop::bad_offset, [](Packet& packet) { packet.memory.offset = 4; });
  dropped(Drop::bad_offset, [](Packet& packet) { packet.memory.best_offset = 4; });
  dropped(Drop::not_child, [](Packet& packet) { packet.from = packet.number = 3; });
  dropped(Drop::future_epoch, [](Packet& packet) { packet.epoch = 1; });
  dropped(Drop::old_epoch, [](Packet& packet) { packet.epoch = 0xfffe; });
  dropped(Drop::not_waiting, [](Packet& packet) { packet.type = Type::release; });
  dropped(Drop::not_waiting, [](Packet& packet) { packet.type = Type::wait; });

  auto blocks = settings_of(4);
  move_in_blocks(blocks, 1);
  blocks.multicast = multicast_address;
  ASSERT_EQ(engine.open(1, blocks), Refusal::none);
  good.group = 1;
  good.digest = digest_of(blocks);
  dropped(Drop::bad_offset, [](Packet& packet) { packet.memory.offset = 2; });
  dropped(Drop::bad_offset, [](Packet& packet) { packet.memory.best_offset = 2; });
  dropped(Drop::misrouted, multicast(multicast_address + 1));
  dropped(Drop::not_waiting, multicast(multicast_address));
}

// A Gather of the group's last use, late in the network, would be taken for one of now.
TEST(BarrierEngine, IsNotOpenedWithTheSameInstanceAgain) {
  Engine engine(0, 1, 2);
  auto settings = settings_of(2);
  Packet gather;
  gather.from = gather.number = 1;
  gather.instance = settings.instance;
  gather.digest = digest_of(settings);
  ASSERT_EQ(engine.open(0, settings), Refusal::none);
  ASSERT_EQ(engine.close(0), Refusal::none);
  EXPECT_EQ(engine.open(0, settings), Refusal::same_instance);
  settings.instance++;
  ASSERT_EQ(engine.open(0, settings), Refusal::none);
  engine.receive(gather);
  ASSERT_EQ(engine.arrive(0), Refusal::none);
  EXPECT_TRUE(engine.take().completions.empty());
  EXPECT_EQ(engine.dropped(Drop::other_instance), 1u);
}

// The next barrier's Gather overtakes this one's Release, and says as much.
TEST(BarrierEngine, TakesTheNextBarriersGatherForItsRelease) {
  Engine engine(2, 1, 4);
  ASSERT_EQ(engine.open(0, settings_of(4)), Refusal::none);
  Packet gather;
  gather.from = gather.number = 3;
  gather.to = 2;
  gather.instance = 7;
  gather.digest = digest_of(settings_of(4));
  engine.receive(gather);
  ASSERT_EQ(engine.arrive(0), Refusal::none);
  engine.take();
  gather.epoch = 1;
  gather.memory.offset = 0;
  engine.receive(gather);
  const Outputs out = engine.take();
  ASSERT_EQ(out.completions.size(), 1u);
  EXPECT_EQ(out.completions[0].ending, Ending::ok);
  ASSERT_EQ(out.packets.size(), 1u);  // Release to its own child; the Gather is noted
  EXPECT_EQ(out.packets[0].type, Type::release);
  EXPECT_EQ(out.packets[0].epoch, 0u);
  engine.completion_taken(0);
  ASSERT_EQ(engine.arrive(0), Refusal::none);
  ASSERT_EQ(engine.take().packets.size(), 1u) << "its child's Gather was not noted";
}

}  // namespace
}  // namespace weft::barrier
