// SPDX-License-Identifier: Apache-2.0
// Nodes and switches that pass the image on: chains of peers, multicast with losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "boot/multicast.hpp"
#include "boot/nodes.hpp"
#include "boot/peers.hpp"
#include "drawn_machine.hpp"
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
    for (const double mbps : edges) RC_ASSERT(mbps <= machine.links[3].total() * (1 + 1e-9));
    RC_ASSERT(std::abs(all - replication_bound(machine, cpus)) <= 1e-9 * all);
    RC_ASSERT(multicast.bandwidth.least_mbps == replication_bound(machine, cpus));
    const Trees trees = trees_of(machine, cpus, multicast);
    RC_ASSERT(trees.trees >= 1u);
    RC_ASSERT(trees.fullest_mbps <= all * (1 + 1e-9));
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
