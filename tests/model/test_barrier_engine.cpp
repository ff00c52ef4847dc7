// SPDX-License-Identifier: Apache-2.0
// The protocol of barrier engines: safety under loss, repetition and reordering; dead and late members;
// refusals.
#include <algorithm>
#include <map>
#include <numeric>

#include "barrier_network.hpp"

namespace weft::barrier {
namespace {

GroupSettings settings_of(uint32_t members) {
  GroupSettings settings;
  settings.instance = 7;
  settings.members.resize(members);
  std::iota(settings.members.begin(), settings.members.end(), 0);
  settings.judge.stride = default_stride(members);
  settings.judge.tries = 200;
  settings.waiting = {.first = 16, .largest = 64, .tries = 10, .late = 1000};
  return settings;
}

/// Barriers of all nodes, whose software comes back after random times. @return ticks, or nothing if it takes
/// too long
std::optional<uint32_t> run(BarrierNetwork& net, RandomStream& random, uint32_t barriers, uint32_t pause) {
  const auto nodes = static_cast<uint32_t>(net.engines.size());
  for (uint32_t ticks = 0; ticks < 1'000'000; ticks++) {
    bool all = true;
    for (Node node = 0; node < nodes; node++) {
      if (net.dead[node]) continue;
      const bool failed = !net.completions[node].empty() && net.completions[node].back().ending != Ending::ok;
      all = all && (failed || net.done[node] == barriers);
      if (failed || net.arrived[node] == barriers || net.arrived[node] > net.done[node]) continue;
      if (random.below(pause) == 0) net.arrive(node);
    }
    if (all) return ticks;
    net.tick();
  }
  return std::nullopt;
}

TEST(BarrierEngine, OneMemberLeavesAtOnce) {
  BarrierNetwork net(1, {}, 1);
  net.open(settings_of(1));
  net.arrive(0);
  EXPECT_EQ(net.done[0], 1u);
}

TEST(BarrierEngine, GathersTheLongestWay) {
  BarrierNetwork net(8, {}, 1);
  auto settings = settings_of(8);
  settings.judge.good = 9;  // three levels of three hops: no search
  net.hops = 3;
  net.open(settings);
  for (Node node = 0; node < 8; node++) net.arrive(node);
  for (int i = 0; i < 10; i++) net.tick();
  EXPECT_EQ(net.done, std::vector<uint32_t>(8, 1));
  net.engines[7].arrive(0);
  const auto gather = net.engines[7].take().packets;
  ASSERT_EQ(gather.size(), 1u);
  EXPECT_TRUE(gather[0].memory.holding);
  EXPECT_EQ(gather[0].memory.best_length, 9u);
}

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

// Whom no multicast reaches is told by its parent, which it reminds.
TEST(BarrierEngine, EndsWithoutANetworkThatCopies) {
  for (const uint32_t nodes : {2u, 8u, 13u}) {
    auto settings = settings_of(nodes);
    settings.multicast = multicast_address;
    BarrierNetwork net(nodes, {}, 1);
    net.copies = false;
    net.open(settings);
    RandomStream random(1, 1);
    ASSERT_TRUE(run(net, random, 5, 1));
    EXPECT_EQ(net.done, std::vector<uint32_t>(nodes, 5));
  }
}

TEST(BarrierEngine, NoNodeLeavesBeforeAllHaveArrivedWhateverTheNetworkDoes) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomStream random(seed, 1);
    const auto nodes = 1 + static_cast<uint32_t>(random.below(20));
    const Weather weather{random.chance(0.5) ? 0.1 : 0.0, random.chance(0.5) ? 0.3 : 0.0,
                          1 + static_cast<uint32_t>(random.below(12))};
    auto settings = settings_of(nodes);
    settings.shape = shapes[random.below(shapes.size())].shape;
    if (random.chance(0.5)) move_in_blocks(settings, static_cast<uint32_t>(random.below(5)));
    const bool multicast = random.chance(0.5), all_alike = random.chance(0.7);
    BarrierNetwork net(nodes, weather, seed);
    for (Engine& engine : net.engines) {  // who was told another address misses all copies
      if (multicast)
        settings.multicast = all_alike || random.chance(0.5) ? multicast_address : multicast_address + 1;
      ASSERT_EQ(engine.open(0, settings), Refusal::none);
    }
    ASSERT_TRUE(run(net, random, 12, 1 + static_cast<uint32_t>(random.below(40)))) << "does not end";
    for (const uint32_t done : net.done) ASSERT_EQ(done, 12u);
    if (HasFailure()) return;
  }
}

// A member's engine dies at a random time: every other member is told within a bounded time, by its name.
TEST(BarrierEngine, ADeadMemberIsNamedToAllOthers) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomStream random(seed, 2);
    const auto nodes = 2 + static_cast<uint32_t>(random.below(18));
    BarrierNetwork net(nodes, {random.chance(0.5) ? 0.05 : 0.0, 0.1, 4}, seed);
    auto settings = settings_of(nodes);
    if (seed % 2 == 0) settings.multicast = multicast_address;
    net.open(settings);
    ASSERT_TRUE(run(net, random, static_cast<uint32_t>(random.below(4)), 20));
    const auto victim = static_cast<Node>(random.below(nodes));
    const auto before = net.done[victim];
    for (uint64_t wait = random.below(30); wait > 0; wait--) net.tick();
    net.dead[victim] = true;
    const auto ticks = run(net, random, before + 2, 20);
    ASSERT_TRUE(ticks) << "hangs";
    EXPECT_LT(*ticks, 10000u);
    for (Node node = 0; node < nodes; node++) {
      if (node == victim) continue;
      ASSERT_FALSE(net.completions[node].empty());
      EXPECT_EQ(net.completions[node].back().ending, Ending::dead_member) << node;
      EXPECT_EQ(net.completions[node].back().dead, victim) << node;
    }
    if (HasFailure()) return;
  }
}

TEST(BarrierEngine, WhoIsLateIsNamedAndNotDead) {
  BarrierNetwork net(8, {}, 1);
  net.open(settings_of(8));
  for (Node node = 0; node < 8; node++) {
    if (node != 5) net.arrive(node);  // 5 is the root's grandchild
  }
  for (int i = 0; i < 5000; i++) net.tick();
  EXPECT_EQ(net.done, std::vector<uint32_t>(8, 0));
  net.arrive(5);
  for (int i = 0; i < 100; i++) net.tick();
  EXPECT_EQ(net.done, std::vector<uint32_t>(8, 1));
  for (const Node node : {0u, 4u}) {
    EXPECT_EQ(net.completions[node][0].late, std::optional<Node>(5)) << node;
    EXPECT_EQ(net.engines[node].late(), 1u) << node;
  }
}

Packet packet_of(Type type, Node from, Node to, uint16_t epoch, const GroupSettings& settings) {
  Packet packet;
  packet.type = type;
  packet.from = packet.number = from;
  packet.to = to;
  packet.epoch = epoch;
  packet.instance = settings.instance;
  packet.digest = digest_of(settings);
  return packet;
}

// 1 was waited for, but came long before the limit; of 2, which is alive, nobody knows whom it waits for.
TEST(BarrierEngine, WhoCameInTimeIsNotNamedLate) {
  const auto settings = settings_of(3);
  Engine engine(0, 1, 3);
  ASSERT_EQ(engine.open(0, settings), Refusal::none);
  ASSERT_EQ(engine.arrive(0), Refusal::none);
  Packet waits = packet_of(Type::wait, 1, 0, 0, settings);
  waits.has_named = true;
  waits.named = 1;
  engine.receive(waits);
  engine.receive(packet_of(Type::gather, 1, 0, 0, settings));
  for (uint32_t ticks = 0; ticks < 2 * settings.waiting.late; ticks++) {
    engine.tick();
    engine.receive(packet_of(Type::wait, 2, 0, 0, settings));
  }
  engine.receive(packet_of(Type::gather, 2, 0, 0, settings));
  const auto completions = engine.take().completions;
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].late, std::nullopt);
  EXPECT_EQ(engine.late(), 0u);
}

// 0 has died after it had released 1, not 2: 2 ends the barrier with a failure, 1 the next one, and both name
// 0.
TEST(BarrierEngine, WhoMissedTheReleaseOfADeadMemberIsNotTakenForDead) {
  const auto settings = settings_of(3);
  Engine left(1, 1, 3), missed(2, 1, 3);
  for (Engine* engine : {&left, &missed}) {
    ASSERT_EQ(engine->open(0, settings), Refusal::none);
    ASSERT_EQ(engine->arrive(0), Refusal::none);
  }
  left.receive(packet_of(Type::release, 0, 1, 0, settings));
  EXPECT_EQ(left.take().completions.at(0).ending, Ending::ok);
  left.completion_taken(0);
  ASSERT_EQ(left.arrive(0), Refusal::none);
  left.take();
  while (missed.view(0).phase != Phase::failed) missed.tick();
  missed.take();

  for (const Type asks : {Type::ask, Type::gather}) {
    missed.receive(packet_of(asks, 1, 2, 1, settings));
    const auto answers = missed.take().packets;
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_TRUE(answers[0].failed);
    EXPECT_EQ(answers[0].named, 0u);
    EXPECT_EQ(answers[0].epoch, 0u);
    left.receive(answers[0]);
  }
  const auto completions = left.take().completions;
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].ending, Ending::dead_member);
  EXPECT_EQ(completions[0].dead, 0u);
  EXPECT_EQ(completions[0].epoch, 1u);
}

// Both are asked in turn and answer: one barrier, one count.
TEST(BarrierEngine, TwoWhoAreLateCountOnce) {
  BarrierNetwork net(4, {}, 1);
  net.open(settings_of(4));
  net.arrive(0);
  for (int i = 0; i < 9000; i++) net.tick();
  EXPECT_EQ(net.engines[0].late(), 1u);
  for (const Node node : {1u, 2u, 3u}) net.arrive(node);
  for (int i = 0; i < 100; i++) net.tick();
  EXPECT_EQ(net.done, std::vector<uint32_t>(4, 1));
  EXPECT_TRUE(net.completions[0][0].late == Node{1} || net.completions[0][0].late == Node{2});
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
  EXPECT_EQ(engine.open(0, told_at(8)), Refusal::none);
  EXPECT_EQ(engine.close(0), Refusal::none);
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
  EXPECT_EQ(engine.open(0, settings_of(1)), Refusal::none);
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

// Under the same number and instance: with fewer members, another order of them, another tree, blocks.
TEST(BarrierEngine, NobodyLeavesWhileOneWasToldOtherSettings) {
  const auto others = [](auto change) {
    auto settings = settings_of(4);
    change(settings);
    return settings;
  };
  for (const GroupSettings& other : {others([](auto& settings) {
                                       settings.members = {0, 1, 2};
                                     }),
                                     others([](auto& settings) {
                                       settings.members = {0, 2, 1, 3};
                                     }),
                                     others([](auto& settings) { settings.shape = Shape::bst; }),
                                     others([](auto& settings) { move_in_blocks(settings, 1); })}) {
    BarrierNetwork net(4, {}, 1);
    for (Node node = 0; node < 4; node++)
      ASSERT_EQ(net.engines[node].open(0, node == 2 ? other : settings_of(4)), Refusal::none);
    for (const Node node : {0u, 1u, 2u}) net.arrive(node);
    for (int i = 0; i < 40; i++) net.tick();
    EXPECT_EQ(net.done, std::vector<uint32_t>(4, 0));
    uint64_t told = 0;
    for (const Engine& engine : net.engines) told += engine.dropped(Drop::other_settings);
    EXPECT_GT(told, 0u);
  }
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

// Members that a reset has cut off open the group again under another instance; nothing old disturbs them.
TEST(BarrierEngine, RejoinsUnderAnotherInstance) {
  BarrierNetwork net(6, {.loss = 0, .twice = 0.5, .delay = 30}, 3);
  RandomStream random(3);
  auto settings = settings_of(6);
  net.open(settings);
  ASSERT_TRUE(run(net, random, 3, 10));
  for (Node node = 0; node < 3; node++) net.arrive(node);
  for (int i = 0; i < 10; i++) net.tick();
  net.engines[4] = Engine(4, 2, 6);  // reset
  settings.instance++;
  for (Node node = 0; node < 6; node++) {
    EXPECT_EQ(net.engines[node].close(0), node == 4 ? Refusal::not_open : Refusal::none);
    EXPECT_EQ(net.engines[node].open(0, settings), Refusal::none);
    net.arrived[node] = net.done[node] = 0;
  }
  EXPECT_TRUE(run(net, random, 5, 10));
  EXPECT_EQ(net.done, std::vector<uint32_t>(6, 5));
}

}  // namespace
}  // namespace weft::barrier
