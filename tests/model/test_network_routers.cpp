// SPDX-License-Identifier: Apache-2.0
// The network model with routers behind its faults: nothing lost, misdelivered or left over, to the clock
// what the page says, and the same result however many threads step it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "network_traffic.hpp"

namespace weft::fabric::test {
namespace {

constexpr uint32_t nodes = 12;

Routers small_torus(Algorithm algorithm = Algorithm::dimension_order, double link_loss = 0) {
  return {.torus = {.sizes = {3, 2, 2}, .algorithm = algorithm, .link_loss = link_loss}, .flit_bytes = 16};
}

Faults many_faults() {
  return {.loss = 0.05,
          .duplicate = 0.05,
          .reorder_degree = 10,
          .reorder = 0.2,
          .delay = 1,
          .jitter = 20,
          .duplicate_lag = 100,
          .hold_limit = 300};
}

void drain_routers(Network& network, std::vector<Arrival>& arrivals) {
  for (int clock = 0; clock < 100'000 && !network.empty(); ++clock)
    collect(network, network.nodes(), arrivals);
  EXPECT_TRUE(network.empty()) << "packets stay in the network";
}

std::vector<Arrival> run_routers(Network& network, const std::vector<Label>& labels) {
  std::vector<Arrival> arrivals;
  for (const Label& label : labels) {
    network.send(label.from, label.to, label.flow, to_packet(label));
    collect(network, nodes, arrivals);
  }
  drain_routers(network, arrivals);
  return arrivals;
}

/// What the ideal network takes, and what the routers take (docs/fabric.md) for a packet of three flits.
TEST(NetworkWithRouters, LonePacketTakesWhatThePageSays) {
  const Geometry geometry({3, 2, 2}, true);
  for (uint32_t to = 0; to < nodes; ++to) {
    Network network(small_torus(), {.delay = 9}, 1);
    const auto arrivals = run_routers(network, {{0, 1, 0, to}});
    ASSERT_EQ(arrivals.size(), 1u);
    EXPECT_EQ(arrivals[0].node, to);
    EXPECT_EQ(arrivals[0].packet, to_packet({0, 1, 0, to}));
    EXPECT_EQ(arrivals[0].cycle, 9u + 7 + 5 * geometry.hops(0, to) + 3);
  }
}

/// A copy along links of the tree comes when a packet of one flit would that goes the same way.
TEST(NetworkWithRouters, CopiesOfAMulticastComeAsLonePacketsDo) {
  constexpr uint32_t address = 100;
  Routers routers = small_torus();
  routers.flit_bytes = 1000;
  const Geometry geometry(routers.torus.sizes, true);
  MulticastClocks clocks(nodes, Distances(nodes));
  for (uint32_t from = 0; from < nodes; ++from)
    for (uint32_t to = 0; to < nodes; ++to)
      clocks[from][to] = copy_clocks(geometry.hops(from, to), routers.torus.link_clocks);
  for (uint32_t from = 0; from < nodes; ++from) {
    Network network(routers, {.delay = 9}, 1);
    network.set_multicast(address, clocks);
    const auto copies = run_routers(network, {{0, 1, from, address}});
    EXPECT_EQ(copies.size(), nodes - 1);
    for (const Arrival& copy : copies) {
      ASSERT_NE(copy.node, from);
      Network other(routers, {.delay = 9}, 1);
      const auto alone = run_routers(other, {{0, 1, from, copy.node}});
      EXPECT_EQ(alone.at(0).cycle, copy.cycle) << "from " << from << " to " << copy.node;
    }
    EXPECT_EQ(network.counters().sent, 1u);
    EXPECT_EQ(network.counters().copied, nodes - 2);
    EXPECT_EQ(network.counters().delivered, nodes - 1);
  }
}

class RoutedNetwork : public testing::TestWithParam<Algorithm> {};

TEST_P(RoutedNetwork, EveryPacketHasOneFateAndNoneStays) {
  constexpr uint64_t packets = 20'000;
  const auto labels = many_flows(packets, nodes, nodes + 2);
  Network network(small_torus(GetParam(), 0.01), many_faults(), 3);
  const auto arrivals = run_routers(network, labels);
  for (const Arrival& arrival : arrivals) {
    const Label label = arrival.label();
    EXPECT_EQ(arrival.packet, to_packet(label));
    EXPECT_EQ(arrival.node, label.to);
    EXPECT_EQ(label, labels[label.number]);
  }
  const NetworkCounters counters = network.counters();
  EXPECT_EQ(counters.sent, packets);
  EXPECT_EQ(counters.delivered, arrivals.size());
  EXPECT_EQ(counters.sent + counters.duplicated, counters.lost + counters.misrouted + counters.delivered);
  EXPECT_GT(counters.lost, packets / 20 + packets / 200) << "none is lost on links";
  EXPECT_GT(counters.duplicated, 0u);
}

/// Every node sends and receives on its own, by what it draws itself: the same for any threads.
TEST_P(RoutedNetwork, AnyThreadsSameResult) {
  using Seen = std::vector<std::vector<std::pair<uint64_t, Bytes>>>;
  const auto run = [&](uint32_t threads) {
    Network network(small_torus(GetParam(), 0.01), many_faults(), 3);
    std::vector<RandomStream> draw;
    for (uint32_t node = 0; node < nodes; ++node) draw.emplace_back(17, node);
    Seen seen(nodes);
    const auto step = [&](const Part& part) {
      for (uint32_t node = part.first; node < part.behind; ++node) {
        while (auto packet = network.receive(node))
          seen[node].emplace_back(network.now(), std::move(*packet));
        if (!draw[node].chance(0.3)) continue;
        const auto to = static_cast<uint32_t>(draw[node].below(nodes));
        network.send(node, to, draw[node].below(3), to_packet({network.now(), 0, node, to}));
      }
      network.step(part);
    };
    const auto between = [&] {
      network.advance();
      return network.now() < 3'000;
    };
    run_in_parts(nodes, threads, step, between);
    const NetworkCounters counters = network.counters();
    return std::tuple(seen, counters.lost, counters.delivered, counters.reordered);
  };
  const auto one = run(1);
  EXPECT_GT(std::get<2>(one), 8'000u);
  for (const uint32_t threads : {2u, 3u, 5u}) EXPECT_EQ(run(threads), one) << threads;
}

TEST_P(RoutedNetwork, FlushForgetsEverything) {
  Network network(small_torus(GetParam()), {.delay = 1}, 3);
  const auto labels = many_flows(500, nodes, nodes);
  for (const Label& label : labels) network.send(label.from, label.to, label.flow, to_packet(label));
  for (int clock = 0; clock < 30; ++clock) network.tick();
  EXPECT_FALSE(network.empty());
  network.flush();
  EXPECT_TRUE(network.empty());
  EXPECT_EQ(run_routers(network, labels).size(), labels.size());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RoutedNetwork,
                         testing::Values(Algorithm::dimension_order, Algorithm::minimal_adaptive),
                         [](const auto& info) {
                           return info.param == Algorithm::dimension_order ? "Order" : "Adaptive";
                         });

/// There is one way then, and nothing to overtake on.
TEST(NetworkWithRouters, FlowsKeepTheirOrderInAMeshOfOneChannel) {
  Network network({.torus = {.sizes = {3, 3, 1}, .joined = false, .channels = 1}}, {.delay = 1, .jitter = 50},
                  3);
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> last;
  std::vector<Arrival> arrivals;
  for (const Label& label : many_flows(5'000, 9, 9)) {
    network.send(label.from, label.to, label.flow, to_packet(label));
    collect(network, 9, arrivals);
  }
  drain_routers(network, arrivals);
  EXPECT_EQ(arrivals.size(), 5'000u);
  for (const Arrival& arrival : arrivals) {
    const Label label = arrival.label();
    uint64_t& before = last[{label.from, label.to, label.flow}];
    EXPECT_LE(before, label.number);
    before = label.number;
  }
}

TEST(NetworkWithRouters, CutLinkLosesWhatCrossesItAlsoAfterAFlush) {
  Network network({.torus = {.sizes = {4, 1, 1}, .joined = false}}, {.delay = 1}, 3);
  network.set_link_cut(1, 0, true);
  network.flush();
  const std::vector<Label> labels{{0, 0, 0, 3}, {1, 0, 0, 1}, {2, 0, 3, 0}};
  std::vector<Arrival> arrivals;
  for (const Label& label : labels) network.send(label.from, label.to, label.flow, to_packet(label));
  while (!network.empty() && network.now() < 1'000) collect(network, 4, arrivals);
  EXPECT_EQ(arrivals.size(), 2u);
  EXPECT_EQ(network.counters().lost, 1u);
  network.set_link_cut(1, 0, false);
  network.send(0, 3, 0, to_packet(labels[0]));
  while (!network.empty() && network.now() < 2'000) collect(network, 4, arrivals);
  EXPECT_EQ(arrivals.size(), 3u);
}

TEST(NetworkWithRouters, RefusesWhatThereIsNot) {
  Network ideal(4, {}, 1);
  EXPECT_THROW(ideal.set_link_cut(0, 0, true), std::invalid_argument);
  EXPECT_EQ(ideal.torus(), nullptr);
  EXPECT_THROW(Network({.torus = {.channels = 1}}, {}, 1), std::invalid_argument);
  EXPECT_THROW(Network({.torus = {}, .flit_bytes = 0}, {}, 1), std::invalid_argument);
}

/// Eight packets of each node, for the test to send on.
void fill(Network& network) {
  for (uint32_t node = 0; node < nodes; ++node) {
    for (uint64_t n = 0; n < 8; ++n) network.send(node, (node + 1) % nodes, n % 3, Bytes(packet_bytes));
  }
}

/// One clock, in which each node sends on what comes.
void send_on(Network& network) {
  network.tick();
  for (uint32_t node = 0; node < nodes; ++node) {
    while (auto packet = network.receive(node)) {
      network.send(node, (node + 5) % nodes, 0, std::move(*packet));
    }
  }
}

/// Packets that come out are sent on, always by the same ways: after a while nothing of the network's own
/// grows any more.
TEST(NetworkWithRouters, AllocatesNothingInTheSteadyState) {
  Network network(small_torus(Algorithm::minimal_adaptive), {.delay = 1, .jitter = 10}, 3);
  fill(network);
  for (int clock = 0; clock < 50'000; ++clock) send_on(network);
  const uint64_t before = model_test::allocations(), delivered = network.counters().delivered;
  for (int clock = 0; clock < 20'000; ++clock) send_on(network);
  EXPECT_EQ(model_test::allocations(), before);
  EXPECT_GT(network.counters().delivered, delivered + 10'000);
}

/// Nor when packets are lost, corrupted and held back: bytes of lost ones are given back, and others come in
/// their place, made before. A packet that is doubled takes memory of its own.
TEST(NetworkWithRouters, AllocatesNothingInABadNetworkEither) {
  Network network(small_torus(Algorithm::minimal_adaptive),
                  {.loss = 0.01, .corrupt = 0.01, .detour = 50, .delay = 1, .jitter = 10}, 3);
  std::vector<Bytes> spare(20'000, Bytes(packet_bytes));
  fill(network);
  uint64_t replaced = 0;
  const auto run = [&](int clocks) {
    for (int clock = 0; clock < clocks; ++clock) {
      send_on(network);
      for (; replaced < network.counters().lost && !spare.empty(); ++replaced) {
        network.send(replaced % nodes, (replaced + 3) % nodes, 0, std::move(spare.back()));
        spare.pop_back();
      }
    }
  };
  run(150'000);
  const uint64_t before = model_test::allocations(), delivered = network.counters().delivered;
  run(20'000);
  EXPECT_EQ(model_test::allocations(), before);
  EXPECT_GT(network.counters().delivered, delivered + 10'000);
  EXPECT_GT(network.counters().lost, 1'000u);
  EXPECT_FALSE(spare.empty());
}

/// Their bytes wait for them where they would have come out.
TEST(NetworkWithRouters, ForgetsPacketsThatLinksLose) {
  Network network(small_torus(Algorithm::minimal_adaptive, 0.5), {.delay = 1}, 3);
  const auto run = [&](uint32_t clocks) {
    for (uint32_t clock = 0; clock < clocks; ++clock) {
      network.send(clock % nodes, clock * 7 % nodes, 0, Bytes(packet_bytes));
      network.tick();
      for (uint32_t node = 0; node < nodes; ++node) {
        while (network.receive(node)) {
        }
      }
    }
  };
  run(1'000);
  const uint64_t before = model_test::allocated(), lost = network.counters().lost;
  run(10'000);
  EXPECT_GT(network.counters().lost, lost + 2'000);
  EXPECT_LT(model_test::allocated(), before + 500);
}

/// Transfers come and go; what the network has of one that is over does not stay.
TEST(NetworkWithRouters, ForgetsFlowsThatAreOver) {
  Network network(4, {.delay = 5, .jitter = 10}, 3);
  const auto run = [&](uint64_t first, uint64_t behind) {
    for (uint64_t flow = first; flow < behind; ++flow) {
      network.send(0, 1, flow, Bytes(packet_bytes));
      network.tick();
      while (network.receive(1)) {
      }
    }
  };
  run(0, 1'000);
  const uint64_t before = model_test::allocated();
  run(1'000, 50'000);
  EXPECT_LT(model_test::allocated(), before + 500);
}

}  // namespace
}  // namespace weft::fabric::test
