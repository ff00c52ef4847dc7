// SPDX-License-Identifier: Apache-2.0
// Switches with input buffers, virtual channels and credits: latencies of the paper, nothing lost or doubled.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "switchfabric/switch_fabric.hpp"

namespace weft::switchfabric {
namespace {

using route::Grid;
using route::Health;
using route::Leaf;

/// Clocks that one packet takes through an empty fabric; nothing if it does not arrive.
std::optional<uint64_t> latency(const route::Tables& tables, const Health& alive, Leaf from, Leaf to) {
  const Grid& grid = alive.grid();
  SwitchFabric fabric(tables, alive, {});
  fabric.send(grid.number(from) * grid.hosts, grid.number(to) * grid.hosts + 1);
  for (uint32_t clock = 0; clock < 1000; ++clock) {
    fabric.step();
    if (!fabric.delivered().empty()) return fabric.delivered()[0].arrived - fabric.delivered()[0].packet.sent;
  }
  return {};
}

TEST(SwitchFabric, LatenciesOfThePaper) {
  const Grid grid{8, 8, 8};
  Health fault(grid);
  fault.fail_leaf({4, 3});
  const route::Tables whole = make_tables(Health(grid), {}), known = make_tables(fault, {});
  const route::Tables detour = make_tables(fault, {route::RuleSet::detour, route::Masks::line, 2});
  EXPECT_EQ(latency(known, fault, {1, 1}, {1, 1}), 97u);
  EXPECT_EQ(latency(known, fault, {1, 1}, {6, 1}), 167u);
  EXPECT_EQ(latency(known, fault, {1, 1}, {6, 5}), 237u);
  EXPECT_EQ(latency(known, fault, {1, 3}, {4, 6}), 237u);   // column first
  EXPECT_EQ(latency(whole, fault, {1, 3}, {4, 6}), 307u);   // the fault is news: aside in the row
  EXPECT_EQ(latency(detour, fault, {1, 3}, {4, 6}), 377u);  // algorithm A
}

TEST(SwitchFabric, AllArriveOnce) {
  const Grid grid{4, 4, 4};
  Health fault(grid);
  for (const Leaf leaf : {Leaf{1, 0}, Leaf{0, 1}, Leaf{2, 2}}) fault.fail_leaf(leaf);
  const route::Tables tables = make_tables(fault, {});
  for (const uint32_t planes : {1u, 4u}) {
    SwitchFabric fabric(tables, fault, {.planes = planes, .buffer = 2});
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> sent, got;
    for (uint32_t from = 0; from < 64; ++from)
      for (uint32_t to = 0; to < 64; ++to)
        if (from != to && fault.alive(grid.leaf(from / 4)) && fault.alive(grid.leaf(to / 4))) {
          fabric.send(from, to);
          ++sent[{from, to}];
        }
    for (uint32_t clock = 0; clock < 60000; ++clock) {
      fabric.step();
      for (const Delivered& packet : fabric.delivered()) ++got[{packet.packet.from, packet.packet.to}];
    }
    EXPECT_EQ(sent, got);
    EXPECT_EQ(fabric.under_way(), 0u);
  }
}

}  // namespace
}  // namespace weft::switchfabric
