// SPDX-License-Identifier: Apache-2.0
// The network model as a whole: nothing lost, misdelivered or left over, every run can be repeated, faults do
// not depend on one another.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "network_traffic.hpp"

namespace weft::fabric::test {
namespace {

constexpr uint32_t nodes = 5;
constexpr uint64_t packets = 5000;

/// Every fault but corruption, so that labels stay readable.
Faults many_faults() {
  return {.loss = 0.05,
          .duplicate = 0.05,
          .reorder_degree = 10,
          .reorder = 0.2,
          .delay = 15,
          .jitter = 20,
          .duplicate_lag = 100,
          .hold_limit = 300};
}

Faults every_fault() {
  Faults faults = many_faults();
  faults.corrupt = 0.1;
  return faults;
}

std::vector<Arrival> run_mixed(const Faults& faults, uint64_t seed) {
  Network network(nodes, faults, seed);
  return run(many_flows(packets, nodes, nodes), nodes, faults, network);
}

TEST(Network, WithoutFaultsEverythingComesInOrderAfterTheDelay) {
  const Faults faults{.delay = 12};
  Network network(nodes, faults, 1);
  const auto labels = many_flows(packets, nodes, nodes);
  const auto arrivals = run(labels, nodes, faults, network);
  ASSERT_EQ(arrivals.size(), packets);
  for (uint64_t i = 0; i < packets; ++i) {
    EXPECT_EQ(arrivals[i], (Arrival{i + faults.delay, labels[i].to, to_packet(labels[i])}));
  }
  EXPECT_EQ(network.counters().sent, packets);
  EXPECT_EQ(network.counters().delivered, packets);
}

/// Whichever node of these was stepped first.
TEST(Network, PacketsOfOneCycleComeOutByNodeThenInTheOrderTheyWentIn) {
  Network network(2, {.delay = 3}, 1);
  for (uint8_t i = 0; i < 100; ++i) network.send(1 - i % 2, 1, i, {i});
  for (uint32_t i = 0; i < 3; ++i) network.tick();
  for (uint8_t i = 1; i < 100; i += 2) EXPECT_EQ(network.receive(1), Bytes{i});
  for (uint8_t i = 0; i < 100; i += 2) EXPECT_EQ(network.receive(1), Bytes{i});
}

TEST(Network, NeverDeliversToAnotherNode) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto arrivals = run_mixed(many_faults(), seed);
    EXPECT_GT(arrivals.size(), packets * 9 / 10) << "seed " << seed;
    for (const Arrival& arrival : arrivals) {
      ASSERT_EQ(arrival.node, arrival.label().to) << "seed " << seed;
      ASSERT_EQ(arrival.packet, to_packet(arrival.label())) << "seed " << seed;
    }
  }
}

TEST(Network, DropsWhatGoesToANodeThatDoesNotExist) {
  Network network(2, {.duplicate = 1}, 1);
  network.send(0, 2, 0, {1});
  network.send(0, 0xffffffff, 0, {2});
  EXPECT_TRUE(network.empty());
  EXPECT_EQ(network.counters().misrouted, 2u);
  EXPECT_EQ(network.counters().duplicated, 0u);
}

TEST(Network, EveryPacketHasOneFateAndNoneStays) {
  for (const uint64_t seed : {1, 2, 3}) {
    Network network(nodes, every_fault(), seed);
    const auto arrivals = run(many_flows(packets, nodes, nodes + 1), nodes, every_fault(), network);
    const NetworkCounters& counters = network.counters();
    EXPECT_EQ(counters.sent, packets);
    EXPECT_EQ(counters.delivered, arrivals.size());
    EXPECT_EQ(counters.sent + counters.duplicated, counters.lost + counters.misrouted + counters.delivered)
        << "seed " << seed;
    EXPECT_GT(counters.misrouted, 0u);
  }
}

TEST(Network, SameSeedSameRunOtherSeedOtherRun) {
  for (const Faults& faults : {many_faults(), Faults{.corrupt = 1}}) {
    const auto arrivals = run_mixed(faults, 99);
    EXPECT_EQ(run_mixed(faults, 99), arrivals);
    EXPECT_NE(run_mixed(faults, 100), arrivals);
  }
}

TEST(Network, FaultsOfANodeDoNotDependOnTheTrafficOfOthers) {
  const auto from_zero = [](const std::vector<Arrival>& arrivals) {
    std::vector<Arrival> result;
    std::ranges::copy_if(arrivals, std::back_inserter(result),
                         [](const Arrival& arrival) { return arrival.label().from == 0; });
    return result;
  };
  const auto labels = many_flows(packets, nodes, nodes);
  Network together(nodes, many_faults(), 5);
  const auto expected = from_zero(run(labels, nodes, many_faults(), together));
  Network alone(nodes, many_faults(), 5);
  std::vector<Arrival> arrivals;
  for (const Label& label : labels) {
    if (label.from == 0) alone.send(0, label.to, label.flow, to_packet(label));
    collect(alone, nodes, arrivals);
  }
  drain(alone, nodes, many_faults(), arrivals);
  EXPECT_EQ(arrivals, expected);
}

// One packet a cycle, no jitter: the cycle of an arrival tells which packet it is, whatever its bits.
TEST(Network, AChangeOfOneFaultLeavesTheOthersWhereTheyWere) {
  const auto arrivals = [](const Faults& faults) {
    Network network(2, faults, 11);
    std::map<uint64_t, Bytes> by_cycle;
    for (Arrival& arrival : run(one_flow(packets), 2, faults, network)) {
      by_cycle.try_emplace(arrival.cycle, std::move(arrival.packet));
    }
    return by_cycle;
  };
  const auto clean = arrivals({.loss = 0.3});
  const auto corrupted = arrivals({.loss = 0.3, .corrupt = 0.5});
  EXPECT_TRUE(std::ranges::equal(clean, corrupted, {}, &std::pair<const uint64_t, Bytes>::first,
                                 &std::pair<const uint64_t, Bytes>::first))
      << "other packets were lost";
  const auto without_loss = arrivals({.corrupt = 0.5});
  for (const auto& [cycle, packet] : corrupted) {
    ASSERT_EQ(without_loss.at(cycle), packet) << "other bits were flipped";
  }
}

TEST(Network, FlushForgetsEverything) {
  Faults faults = many_faults();
  faults.reorder = 0.5;
  Network network(2, faults, 3);
  for (uint64_t i = 0; i < 200; ++i) {
    network.send(0, 1, i % 5, to_packet({i, i % 5, 0, 1}));
    if (i % 4 == 0) network.tick();  // some arrive and wait
  }
  EXPECT_FALSE(network.empty());
  network.flush();
  EXPECT_TRUE(network.empty());
  std::vector<Arrival> arrivals;
  for (uint64_t i = 0; i < longest_stay(faults); ++i) collect(network, 2, arrivals);
  EXPECT_TRUE(arrivals.empty());
  network.set_faults({});
  network.send(0, 1, 0, {42});
  drain(network, 2, {}, arrivals);
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].packet, Bytes{42});
}

TEST(Network, AFlowStaysInOrderWhenTheDelayShrinks) {
  const Faults faults{.delay = 50};
  Network network(2, faults, 1);
  network.send(0, 1, 7, {1});
  network.set_faults({.delay = 1});
  network.send(0, 1, 7, {2});
  network.send(0, 1, 8, {3});  // another flow may overtake
  std::vector<Arrival> arrivals;
  drain(network, 2, faults, arrivals);
  EXPECT_EQ(arrivals, (std::vector<Arrival>{{1, 1, {3}}, {50, 1, {1}}, {50, 1, {2}}}));
}

// Held packets of several flows that are let go in one cycle: their order is no accident of a hash table.
TEST(Network, OrderOfReleaseDoesNotDependOnTheOrderOfFlows) {
  const Faults faults{.reorder_degree = 9, .reorder = 1, .hold_limit = 10};
  std::vector<std::pair<uint32_t, uint64_t>> flows;  // sending node, flow
  for (uint32_t from = 0; from < 3; ++from) {
    for (const uint64_t flow : {0ull, 1ull, 4096ull, 8192ull, 1ull << 44}) flows.emplace_back(from, flow);
  }
  const auto release = [&] {
    Network network(4, faults, 1);
    std::vector<Arrival> arrivals;
    for (const auto& [from, flow] : flows) network.send(from, 3, flow, to_packet({0, flow, from, 3}));
    drain(network, 4, faults, arrivals);
    return arrivals;
  };
  const auto arrivals = release();
  EXPECT_EQ(arrivals.size(), flows.size());
  std::ranges::reverse(flows);
  EXPECT_EQ(release(), arrivals);
}

void expect_refused(uint32_t node_count, const Faults& faults, const std::string& message) {
  try {
    const Network network(node_count, faults, 1);
    ADD_FAILURE() << "not refused: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

/// To those that have a distance, from whom it has one; struck by loss and corruption once, before it is
/// copied.
TEST(Network, MulticastGoesToItsGroup) {
  constexpr uint32_t address = 0xc000;
  MulticastClocks clocks(nodes, Distances(nodes));
  clocks[0] = {std::nullopt, 3u, std::nullopt, 1u, 2u};
  Network network(nodes, {.delay = 4}, 1);
  network.set_multicast(address, clocks);
  network.send(0, address, 0, {7});
  std::map<uint32_t, uint64_t> came;
  for (int clock = 0; clock < 20; ++clock) {
    network.tick();
    for (uint32_t node = 0; node < nodes; ++node)
      while (network.receive(node)) EXPECT_TRUE(came.emplace(node, network.now()).second) << "twice";
  }
  EXPECT_EQ(came, (std::map<uint32_t, uint64_t>{{1, 7}, {3, 5}, {4, 6}}));
  network.send(1, address, 0, {7});
  network.send(1, address + 1, 0, {7});
  EXPECT_EQ(network.counters().misrouted, 2u) << "a sender of no group, and an address of none";
  EXPECT_TRUE(network.empty());

  network.set_faults({.loss = 1});
  EXPECT_TRUE(network.send(0, address, 0, {7}).lost);
  EXPECT_EQ(network.counters().lost, 1u);
  EXPECT_TRUE(network.empty());
  network.set_faults({.corrupt = 1});
  EXPECT_TRUE(network.send(0, address, 0, {7}).corrupted);
  EXPECT_EQ(network.counters().corrupted, 1u);
  Bytes first;
  for (int clock = 0; clock < 40; ++clock) {
    network.tick();
    for (uint32_t node = 0; node < nodes; ++node)
      while (const auto packet = network.receive(node)) {
        if (first.empty()) first = *packet;
        EXPECT_EQ(*packet, first);
        EXPECT_NE(*packet, Bytes{7});
      }
  }
  EXPECT_FALSE(first.empty());
}

TEST(NetworkParameters, MulticastOfNodesOrOfAnotherNetworkIsRefused) {
  Network network(2, {}, 1);
  EXPECT_THROW(network.set_multicast(1, MulticastClocks(2, Distances(2))), std::invalid_argument);
  EXPECT_THROW(network.set_multicast(2, MulticastClocks(3, Distances(2))), std::invalid_argument);
  EXPECT_THROW(network.set_multicast(2, MulticastClocks(2, Distances(3))), std::invalid_argument);
}

TEST(NetworkParameters, IllegalOnesAreRefusedWithTheirName) {
  expect_refused(0, {}, "nodes is 0, must be at least 1");
  expect_refused(1, {.delay = 0}, "delay is 0, must be at least 1");
  expect_refused(1, {.duplicate_lag = 0}, "duplicate_lag is 0, must be at least 1");
  for (const auto& [wrong, text] : {std::pair{-0.1, "-0.100000"}, std::pair{1.5, "1.500000"},
                                    std::pair{std::numeric_limits<double>::quiet_NaN(), "nan"}}) {
    const std::string rest = std::string(" is ") + text + ", must be a probability from 0 to 1";
    expect_refused(1, {.loss = wrong}, "loss" + rest);
    expect_refused(1, {.duplicate = wrong}, "duplicate" + rest);
    expect_refused(1, {.corrupt = wrong}, "corrupt" + rest);
    expect_refused(1, {.reorder = wrong}, "reorder" + rest);
  }
  expect_refused(1, {.reorder_degree = 1, .detour = 1},
                 "packets are held back for a degree or for a detour, not for both");
}

TEST(NetworkParameters, IllegalChangeIsRefusedAndChangesNothing) {
  Network network(1, {.delay = 1}, 1);
  EXPECT_THROW(network.set_faults({.loss = 2}), std::invalid_argument);
  network.send(0, 0, 0, {1});
  network.tick();
  EXPECT_EQ(network.receive(0), Bytes{1});
}

TEST(NetworkParameters, NodesThatDoNotExistNeitherSendNorReceive) {
  Network network(2, {}, 1);
  EXPECT_THROW(network.send(2, 0, 0, {1}), std::out_of_range);
  EXPECT_THROW(network.receive(2), std::out_of_range);
  EXPECT_EQ(network.counters().sent, 0u);
  EXPECT_TRUE(network.empty());
}

}  // namespace
}  // namespace weft::fabric::test
