// SPDX-License-Identifier: Apache-2.0
// The protocol of barrier engines on a network that loses, repeats and reorders: nobody leaves early, dead
// and late members are named.
#include <algorithm>
#include <vector>

#include "barrier_network.hpp"

namespace weft::barrier {
namespace {

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

// Whom a Wait names had said so some ticks before: the limit must have been over then.
TEST(BarrierEngine, WhoHadNotArrivedAtTheLimitIsNamedLate) {
  const auto settings = settings_of(2);
  for (const uint16_t before : {0, 1, 300}) {
    Engine engine(0, 1, 2);
    ASSERT_EQ(engine.open(0, settings), Refusal::none);
    ASSERT_EQ(engine.arrive(0), Refusal::none);
    Packet waits = packet_of(Type::wait, 1, 0, 0, settings);
    waits.has_named = true;
    waits.named = 1;
    waits.length = before;
    const auto tick = [&] {
      engine.tick();
      engine.receive(waits);  // it lives
    };
    for (uint32_t ticks = 1; ticks < settings.waiting.late + before; ticks++) tick();
    EXPECT_EQ(engine.late(), 0u);
    tick();
    EXPECT_EQ(engine.late(), 1u);
    engine.receive(packet_of(Type::gather, 1, 0, 0, settings));
    EXPECT_EQ(engine.take().completions.at(0).late, std::optional<Node>(1));
  }
}

// Passed on over two levels, its ticks count on; after too many of them nobody is named.
TEST(BarrierEngine, ANameGrowsOld) {
  const auto settings = settings_of(8);
  Engine engine(4, 1, 8);
  ASSERT_EQ(engine.open(0, settings), Refusal::none);
  const auto answer = [&] {
    engine.take();
    engine.receive(packet_of(Type::ask, 0, 4, 0, settings));
    return engine.take().packets.at(0);
  };
  EXPECT_EQ(answer().named, 4u);
  EXPECT_EQ(answer().length, 0u);
  ASSERT_EQ(engine.arrive(0), Refusal::none);
  EXPECT_FALSE(answer().has_named);
  Packet waits = packet_of(Type::wait, 5, 4, 0, settings);
  waits.has_named = true;
  waits.named = 5;
  waits.length = 10;
  engine.receive(waits);
  EXPECT_EQ(answer().named, 5u);
  EXPECT_EQ(answer().length, 10u);
  for (int i = 0; i < 7; i++) engine.tick();
  EXPECT_EQ(answer().length, 17u);
  waits.has_named = false;
  waits.from = waits.number = 6;  // who is asked next
  engine.receive(waits);
  EXPECT_FALSE(answer().has_named) << "it does not know any more";
  waits.has_named = true;
  waits.from = waits.number = 5;
  waits.length = 0xfffe;
  engine.receive(waits);
  engine.tick();
  EXPECT_EQ(answer().length, 0xffffu);
  engine.tick();
  EXPECT_FALSE(answer().has_named);
}

// Members of whom some come just before or after the limit, on a network that loses.
TEST(BarrierEngine, NobodyIsNamedLateWhoCameBeforeTheLimit) {
  constexpr uint32_t delay = 2, levels = 3, late = 300;
  uint32_t named = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    RandomStream random(seed, 1);
    BarrierNetwork net(8, {.loss = 0.02, .twice = 0.05, .delay = delay}, seed);
    auto settings = settings_of(8);
    settings.waiting = {.first = 4, .largest = 128, .tries = 40, .late = late};
    net.open(settings);
    std::vector<uint32_t> comes(8);
    for (uint32_t& when : comes)
      when = static_cast<uint32_t>(random.below(3) == 0 ? 200 + random.below(400) : random.below(30));
    for (uint32_t now = 0; now < 3000; now++) {
      for (Node node = 0; node < 8; node++)
        if (comes[node] == now) net.arrive(node);
      net.tick();
    }
    for (Node node = 0; node < 8; node++) {
      ASSERT_EQ(net.completions[node].size(), 1u) << "seed " << seed;
      const auto who = net.completions[node][0].late;
      if (!who) continue;
      named++;
      ASSERT_GT(comes[*who] + levels * delay, comes[node] + late) << "seed " << seed << ", node " << node;
    }
  }
  EXPECT_GT(named, 100u);
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
