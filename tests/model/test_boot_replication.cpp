// SPDX-License-Identifier: Apache-2.0
// Nodes and switches that pass the image on: chains of peers, multicast with losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "boot/multicast.hpp"
#include "boot/nodes.hpp"
#include "boot/packets.hpp"
#include "boot/peers.hpp"
#include "drawn_machine.hpp"
#include "mcast/figures.hpp"
#include "mcast/hops.hpp"
#include "mcast/router.hpp"
#include "property.hpp"

namespace weft::boot {
namespace {

double last(const Boots& boots) { return *std::max_element(boots.seconds.begin(), boots.seconds.end()); }

double seconds_of_balanced(const Machine& machine, const std::vector<uint32_t>& cpus) {
  return bandwidth_of(machine, cpus, plan(machine, cpus, Algorithm::balanced).servers).boot_seconds;
}

TEST(BootPeers, AreNeverWorseThanWithoutAndNeverBeatTheBound) {
  EXPECT_PROPERTY("chains lie between balanced and the bound; so does their simulation", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const double piece = *rc::gen::element(0.1, 1.0, 30.0, 1000.0);
    const Chains chains = plan_chains(machine, cpus, piece);
    const double fastest = machine.image_megabits / replication_bound(machine, cpus) * (1 - 1e-9);
    RC_ASSERT(chains.bandwidth.boot_seconds <= seconds_of_balanced(machine, cpus));
    RC_ASSERT(chains.bandwidth.boot_seconds >= fastest);
    const double simulated = last(simulate_chains(machine, cpus, chains, {}));
    RC_ASSERT(simulated <= chains.bandwidth.boot_seconds * (1 + 1e-9));
    RC_ASSERT(simulated >= fastest);
  });
}

TEST(BootPeers, EachNodeIsInOneChainWhoseServerIsAlive) {
  EXPECT_PROPERTY("chains are all nodes", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const Chains chains = plan_chains(machine, cpus, 1);
    auto order = chains.order;
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < cpus.size(); ++i) RC_ASSERT(order[i] == i);
    RC_ASSERT(order.size() == cpus.size());
    RC_ASSERT(chains.begins.front() == 0u);
    RC_ASSERT(chains.begins.back() == cpus.size());
    for (std::size_t chain = 0; chain < chains.count(); ++chain) {
      RC_ASSERT(chains.begins[chain] < chains.begins[chain + 1]);
      RC_ASSERT(!machine.failed_servers.contains(chains.servers[chain]));
    }
  });
}

/// Two boards of two nodes, one server; all links 100 Mb/s, 100 Mb in 10 pieces.
TEST(BootPeers, TakeATimeThatIsFoundByHand) {
  Machine machine;
  machine.cpus_per_board = machine.boards_per_supernode = 2;
  machine.supernodes = machine.servers = machine.servers_per_edge = 1;
  for (Link& link : machine.links) link = {100, 1};
  machine.image_megabits = 100;
  const Chains chains = plan_chains(machine, {0, 1, 2, 3}, 10);
  EXPECT_EQ(chains.count(), 1u);
  EXPECT_DOUBLE_EQ(chains.bandwidth.boot_seconds, 1.3);
  const auto seconds = simulate_chains(machine, {0, 1, 2, 3}, chains, {}).seconds;
  for (uint32_t i = 0; i < 4; ++i) EXPECT_NEAR(seconds[i], 1 + 0.1 * i, 1e-9);
  Course course;
  course.begins = {0, 5, 0, 0};  // who begins late holds up those behind it
  const auto late = simulate_chains(machine, {0, 1, 2, 3}, chains, course).seconds;
  EXPECT_NEAR(late[0], 1, 1e-9);
  EXPECT_NEAR(late[1], 6, 1e-9);
  EXPECT_NEAR(late[3], 6.2, 1e-9);
}

/// The chain of four of the test above, with a second server.
struct FourInAChain {
  FourInAChain() {
    machine.cpus_per_board = machine.boards_per_supernode = 2;
    machine.supernodes = 1;
    machine.servers = machine.servers_per_edge = 2;
    for (Link& link : machine.links) link = {100, 1};
    machine.image_megabits = 100;
    chains.order = {0, 1, 2, 3};
    chains.begins = {0, 4};
    chains.servers = {0};
    chains.backups = {1};
    chains.pieces = 10;
  }

  std::vector<double> seconds(const Death& death) const {
    Course course;
    course.death = death;
    return simulate_chains(machine, {0, 1, 2, 3}, chains, course).seconds;
  }

  Machine machine;
  Chains chains;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::isinf(found[i]), std::isinf(wanted[i])) << i;
    if (std::isinf(wanted[i])) continue;
    EXPECT_NEAR(found[i], wanted[i], 1e-9) << i;
  }
}

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(BootPeers, GoOnAtTheNextSourceWhenANodeDies) {
  const FourInAChain four;
  // node 2 has one piece; it notices at 0.55 and gets the other nine from node 0
  expect_near(four.seconds({std::nullopt, 0.35, 0.2, {1}}), {1, infinite, 1.45, 1.55});
  // nobody is between node 1 and the server any more
  expect_near(four.seconds({std::nullopt, 0.35, 0.2, {0}}), {infinite, 1.35, 1.45, 1.55});
  // both before node 2 are dead: it tries one after the other
  expect_near(four.seconds({std::nullopt, 0.35, 0.2, {0, 1}}), {infinite, infinite, 1.65, 1.75});
  // nobody is behind the last one; at 2 all have the image
  expect_near(four.seconds({std::nullopt, 0.35, 0.2, {3}}), {1, 1.1, 1.2, infinite});
  expect_near(four.seconds({std::nullopt, 2, 0.2, {1}}), {1, infinite, 1.2, 1.3});
}

TEST(BootPeers, GoOnAtTheBackupWhenTheServerDies) {
  FourInAChain four;
  expect_near(four.seconds({0, 0.35, 0.2}), {1.25, 1.35, 1.45, 1.55});
  // the first node, too: the second one tries that, the server, its backup; it has two pieces
  expect_near(four.seconds({0, 0.35, 0.2, {0}}), {infinite, 0.35 + 0.4 + 0.8, 1.65, 1.75});
  four.chains.backups = {0};
  EXPECT_THROW(four.seconds({0, 0.35, 0.2}), Fault);
  // the second server's link is slower: rates are those of who gives
  four.chains.backups = {1};
  four.machine.unequal_servers[1].mbps = 50;
  expect_near(four.seconds({0, 0.35, 0.2}), {0.55 + 1.4, 2.05, 2.15, 2.25});
}

/// A death that is drawn, within the time of the plan, and leaves a server and a node alive.
Death drawn_death(const Machine& machine, const std::vector<uint32_t>& cpus, double seconds) {
  Death death{std::nullopt, seconds * *rc::gen::inRange(0, 12) / 10.0,
              seconds * *rc::gen::inRange(0, 5) / 10.0};
  for (uint32_t server = 0; server < machine.servers && !death.server; ++server)
    if (!machine.failed_servers.contains(server) && *rc::gen::arbitrary<bool>()) death.server = server;
  if (machine.servers - machine.failed_servers.size() == 1) death.server.reset();
  for (std::size_t i = 1; i < cpus.size(); ++i)
    if (*rc::gen::inRange(0, 4) == 0) death.cpus.push_back(cpus[i]);
  return death;
}

/// Only who died has no image, and the last of the others does not beat their bound.
void expect_all_served(const Machine& machine, const std::vector<uint32_t>& cpus, const Boots& boots,
                       const Death& death, const char* way) {
  std::vector<uint32_t> living;
  double last = 0;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (std::isinf(boots.seconds[i]) != death.has_cpu(cpus[i]))
      RC_FAIL(std::string(way) + ": node " + std::to_string(cpus[i]) + " after " +
              std::to_string(boots.seconds[i]) + " s");
    if (death.has_cpu(cpus[i])) continue;
    living.push_back(cpus[i]);
    last = std::max(last, boots.seconds[i]);
  }
  if (last < machine.image_megabits / replication_bound(machine, living) * (1 - 1e-9))
    RC_FAIL(std::string(way) + ": faster than can be");
}

TEST(BootDeaths, LeaveNobodyElseWithoutTheImage) {
  EXPECT_PROPERTY("who lives has the image, as flows and as packets, however it boots", [] {
    Machine machine = drawn_machine();
    machine.image_megabits = 40 * 1448 * 8 / 1e6;
    const auto cpus = drawn_cpus(machine);
    const Plan unicast = plan(machine, cpus, Algorithm::balanced);
    const Chains chains = plan_chains(machine, cpus, 1448 * 8 / 1e6);
    const Multicast multicast = plan_multicast(machine, cpus);
    Course course;
    Packets packets;
    const Death death = drawn_death(machine, cpus, bandwidth_of(machine, cpus, unicast.servers).boot_seconds);
    course.death = packets.death = death;
    const auto expect = [&](const Boots& boots, const char* way) {
      expect_all_served(machine, cpus, boots, death, way);
    };
    expect(simulate(machine, cpus, unicast, course), "one by one");
    expect(simulate_chains(machine, cpus, chains, course), "peers");
    expect(simulate_multicast(machine, cpus, multicast, unicast, course, {0.01}).boots, "multicast");
    expect(simulate_packets(machine, cpus, unicast, packets), "one by one, packets");
    expect(simulate_packets(machine, cpus, chains, packets), "peers, packets");
    expect(simulate_packets(machine, cpus, multicast, unicast, packets), "multicast, packets");
  });
}

TEST(BootDeaths, TakeAsLongByPacketsAsByFlows) {
  FourInAChain four;
  const double packet = 1448 * 8 / 1e6, on_links = 1538.0 / 1448;
  four.machine.image_megabits = 1000 * packet;
  four.chains.pieces = 1000;
  for (const Death& death : {Death{std::nullopt, 0.05, 0.02, {1}}, Death{std::nullopt, 0.05, 0.02, {0, 1}},
                             Death{0, 0.05, 0.02}, Death{0, 0.05, 0.02, {0}}}) {
    Course course;
    course.protocol = http(0);
    course.death = death;
    Packets packets;
    packets.death = death;
    const auto flows = simulate_chains(four.machine, {0, 1, 2, 3}, four.chains, course);
    const auto found = simulate_packets(four.machine, {0, 1, 2, 3}, four.chains, packets);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::isinf(found.seconds[i]), std::isinf(flows.seconds[i]));
      // a packet is stored in each switch on its way, a piece is not
      if (std::isinf(found.seconds[i])) continue;
      EXPECT_NEAR(found.seconds[i], flows.seconds[i], 30 * packet * on_links / 100) << i;
    }
    EXPECT_EQ(found.begun_again, flows.begun_again);
  }
}

/// Two servers send a half each; the second dies.
TEST(BootDeaths, OfASenderCostItsPart) {
  Machine machine;
  machine.cpus_per_board = machine.boards_per_supernode = 2;
  machine.supernodes = 1;
  machine.servers = machine.servers_per_edge = 2;
  machine.links = {{{100, 1}, {1000, 1}, {1000, 1}, {1000, 1}, {50, 1}}};
  machine.image_megabits = 1400 * 8 * 1000 / 1e6;
  const std::vector<uint32_t> cpus = {0, 1, 2, 3};
  const Multicast multicast = plan_multicast(machine, cpus);
  ASSERT_EQ(multicast.senders.size(), 2u);
  const Plan unicast{{0, 0, 1, 1}, {1, 1, 0, 0}};
  Course course;
  course.death = {1, 0.05, 0.01};
  auto found = simulate_multicast(machine, cpus, multicast, unicast, course, {}).boots;
  // half of the image from the one server that is left, for two nodes at once, later for all four
  const double half = machine.image_megabits / 2, noticed = 0.05 + 0.01;
  const double alone = 25 * 0.01;  // Mb of a node until those of the dead server have noticed that, too
  const double first = noticed + 0.01 + (half - alone) / 12.5;
  expect_near(found.seconds, {first, first, first + alone / 25, first + alone / 25});
  EXPECT_EQ(found.begun_again, 4u + 2);
  Packets packets{1400, 0};
  packets.death = course.death;
  const Boots packed = simulate_packets(machine, cpus, multicast, unicast, packets);
  // what is still sent by multicast, until 0.112, meets what is fetched
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(packed.seconds[i], found.seconds[i]);
    EXPECT_LE(packed.seconds[i], found.seconds[i] + 0.112 - noticed + 0.001);
  }
  EXPECT_EQ(packed.begun_again, found.begun_again);
  // after all is sent it costs nothing
  course.death = packets.death = {1, 1, 0};
  found = simulate_multicast(machine, cpus, multicast, unicast, course, {}).boots;
  EXPECT_EQ(found.begun_again, 0u);
  EXPECT_NEAR(last(simulate_packets(machine, cpus, multicast, unicast, packets)), last(found), 0.01);
}

TEST(BootMulticast, ReachesTheBoundAndNoLinkIsOverloaded) {
  EXPECT_PROPERTY("senders give what the bound says, within their links", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const Multicast multicast = plan_multicast(machine, cpus);
    double all = 0;
    std::vector<double> edges(machine.edges(), 0);
    std::set<uint32_t> servers;
    for (const Sender& sender : multicast.senders) {
      RC_ASSERT(servers.insert(sender.server).second);
      RC_ASSERT(!machine.failed_servers.contains(sender.server));
      RC_ASSERT(sender.mbps <= machine.server_mbps(sender.server));
      all += sender.mbps;
      edges[machine.edge_of(sender.server)] += sender.mbps;
    }
    for (uint32_t edge = 0; edge < edges.size(); ++edge)
      RC_ASSERT(edges[edge] <= machine.link_mbps(3, edge) * (1 + 1e-9));
    RC_ASSERT(std::abs(all - replication_bound(machine, cpus)) <= 1e-9 * all);
    RC_ASSERT(multicast.bandwidth.least_mbps == replication_bound(machine, cpus));
  });
}

/// What trees carry on each link of the machine's graph.
Trees trees_of_mr4lms(const Machine& machine, const std::vector<uint32_t>& cpus, const Multicast& multicast) {
  const topology::Graph graph = graph_of(machine, cpus, multicast.senders);
  const mcast::Hops hops(graph);
  mcast::Router router(hops, {});
  std::vector<uint32_t> hosts(cpus.size() + 1);
  std::iota(hosts.begin(), hosts.end(), 0);
  std::vector<double> mbps(graph.links(), 0);
  Trees found;
  for (uint32_t i = 0; i < multicast.senders.size(); ++i) {
    hosts.back() = static_cast<uint32_t>(cpus.size()) + i;
    const auto& tree = router.forest().tree(router.forest().tree_of(router.create(hosts)));
    for (const uint32_t link : tree.links) mbps[link] += multicast.senders[i].mbps;
    found.links += tree.links.size();
  }
  const mcast::Figures figures = mcast::figures_of(router.forest());
  found.trees = figures.trees;
  found.colours = figures.colours_used;
  found.height = figures.max_tree_height;
  found.fullest_mbps = *std::max_element(mbps.begin(), mbps.end());
  return found;
}

TEST(BootMulticast, TreesAreThoseOfMr4lms) {
  EXPECT_PROPERTY("trees that are written down are those that MR4LMS finds in the machine's graph", [] {
    const Machine machine = drawn_machine();
    const auto cpus = drawn_cpus(machine);
    const Multicast multicast = plan_multicast(machine, cpus);
    const Trees trees = trees_of(machine, cpus, multicast);
    const Trees wanted = trees_of_mr4lms(machine, cpus, multicast);
    RC_CLASSIFY(trees.trees > 1);
    RC_ASSERT(trees.trees == wanted.trees);
    RC_ASSERT(trees.colours == wanted.colours);
    RC_ASSERT(trees.height == wanted.height);
    RC_ASSERT(trees.links == wanted.links);
    RC_ASSERT(trees.fullest_mbps == wanted.fullest_mbps);
  });
}

TEST(BootMulticast, TreesHaveEachLinkOnce) {
  const Machine machine;
  const auto cpus = nodes_of("supernodes:2", machine).cpus;
  const Trees trees = trees_of(machine, cpus, plan_multicast(machine, cpus));
  EXPECT_EQ(trees.trees, 1u);
  // nodes, boards, supernodes, edge switch, server
  EXPECT_EQ(trees.links, 512u + 64 + 2 + 1 + 1);
  EXPECT_EQ(trees.fullest_mbps, 1000);
}

Machine paper_machine() {
  Machine machine;
  machine.image_megabits = 1400 * 8 * 1000 / 1e6;  // 1,000 packets
  return machine;
}

TEST(BootMulticast, TakesAsLongAsThePlanSaysWithoutLoss) {
  const Machine machine = paper_machine();
  const auto cpus = nodes_of("boards:3", machine).cpus;
  const Plan unicast = plan(machine, cpus, Algorithm::balanced);
  const auto found = simulate_multicast(machine, cpus, plan_multicast(machine, cpus), unicast, {}, {});
  EXPECT_EQ(found.rounds, std::vector<uint64_t>({1000}));
  EXPECT_EQ(found.late, 0u);
  for (const double seconds : found.boots.seconds) EXPECT_NEAR(seconds, 1000 * (1400 + 79) * 8 / 1e9, 1e-12);
}

/// Packets of the second round: those that one of n independent nodes or a link before them has lost.
TEST(BootMulticast, RepeatsWhatSomeoneHasLost) {
  Machine machine = paper_machine();
  machine.image_megabits *= 100;
  const double loss = 0.01;
  const std::vector<uint32_t> cpus = {0, 1, 8, 256};  // two on one board, one beside, one elsewhere
  const Plan unicast = plan(machine, cpus, Algorithm::balanced);
  const auto found =
      simulate_multicast(machine, cpus, plan_multicast(machine, cpus), unicast, {}, {loss, 0, 0.5, 3});
  ASSERT_GE(found.rounds.size(), 3u);
  EXPECT_EQ(found.rounds[0], 100000u);
  const double links = 2 + 2 + 3 + 4;  // servers' side, supernodes, boards, nodes: none may lose it
  const double wanted = 100000 * (1 - std::pow(1 - loss, links));
  EXPECT_NEAR(static_cast<double>(found.rounds[1]), wanted, 5 * std::sqrt(wanted));
  EXPECT_LT(found.rounds[2], found.rounds[1] / 10);
  const double packet = (1400 + 79) * 8 / 1e9;
  double all = 0;
  for (const uint64_t packets : found.rounds) all += static_cast<double>(packets) * packet;
  EXPECT_NEAR(last(found.boots), all + 0.5 * static_cast<double>(found.rounds.size() - 1), 1e-9);
  EXPECT_EQ(
      simulate_multicast(machine, cpus, plan_multicast(machine, cpus), unicast, {}, {loss, 0, 0.5, 3}).rounds,
      found.rounds);
}

TEST(BootMulticast, LeavesWhoIsLateToTheirServers) {
  const Machine machine = paper_machine();
  const std::vector<uint32_t> cpus = {0, 1, 2};
  const Plan unicast{{4, 5, 6}, {0, 0, 0}};
  Course course;
  course.begins = {0.5, 3, 0};
  const auto found =
      simulate_multicast(machine, cpus, plan_multicast(machine, cpus), unicast, course, {0, 1, 0, 1});
  EXPECT_EQ(found.late, 1u);
  const double multicast = 1 + 1000 * (1400 + 79) * 8 / 1e9;
  EXPECT_NEAR(found.boots.seconds[0], multicast, 1e-9);
  EXPECT_NEAR(found.boots.seconds[2], multicast, 1e-9);
  EXPECT_NEAR(found.boots.seconds[1], 3 + machine.image_megabits / 1000, 1e-9);
}

}  // namespace
}  // namespace weft::boot
