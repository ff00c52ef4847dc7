// SPDX-License-Identifier: Apache-2.0
// Switches with input buffers, virtual channels and credits: latencies of the paper, nothing lost or doubled.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "common/fault.hpp"
#include "switchfabric/run.hpp"

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

// Two hosts send to a third in one clock: one gets its channel two turns after the other, and the link a
// clock later. Its next packet, for an idle link, is two turns late as well, which is within the same clock.
TEST(SwitchFabric, TurnsAreNoClocks) {
  const Grid grid{2, 2, 4};
  const Health whole(grid);
  const route::Tables tables = make_tables(whole, {});
  SwitchFabric fabric(tables, whole, {.speedup = 3});
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> clocks;  // by sender and receiver
  fabric.send(0, 2);
  fabric.send(1, 2);
  for (uint32_t clock = 0; clock < 200; ++clock) {
    fabric.step();
    if (clock == 0) fabric.send(1, 3);
    for (const auto& [packet, arrived, switches] : fabric.delivered())
      clocks[{packet.from, packet.to}] = arrived - packet.sent;
  }
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{{{0, 2}, 97}, {{1, 2}, 98}, {{1, 3}, 97}};
  EXPECT_EQ(clocks, expected);
}

/// A lookup block by itself; counts what it is asked.
class GoldenUnit : public LookupUnit {
 public:
  GoldenUnit(const switch_lookup::Sizes& sizes, uint64_t& lookups) : lookup_(sizes), lookups_(lookups) {}
  void load(const switch_lookup::Image& image) override { lookup_.set_tables(image); }
  void set_alive(switch_lookup::Ports alive) override { alive_ = alive; }
  switch_lookup::Result look(const switch_lookup::formats::Request& request) override {
    ++lookups_;
    return lookup_.look(request, alive_);
  }

 private:
  switch_lookup::Lookup lookup_;
  switch_lookup::Ports alive_ = 0;
  uint64_t& lookups_;
};

/// Where nothing is drawn among backups, units and rules do the same; whatever dies, neither loses more.
TEST(SwitchFabric, LookupBlocksDoAsTheRules) {
  const Grid grid{4, 4, 3};
  const Health whole(grid);
  const route::Tables tables = make_tables(whole, {});
  for (const uint32_t strikes : {0u, 2u}) {
    RunConfig config;
    config.fabric = {.planes = 2, .switch_clocks = 4, .end_clocks = 3, .buffer = 8, .credit_clocks = 2};
    config.load = 0.4;
    config.clocks = 600;
    config.strike_clock = 200;
    config.strike_gap = 150;
    config.manager = {.notice_clocks = 30, .rewrite_clocks = 2};
    Health alive(grid);
    for (uint32_t leaf = 0; leaf < strikes; ++leaf) {
      alive.fail_leaf({leaf, 2 - leaf});
      config.strikes.push_back(alive);
    }
    const RunReport rules = run(tables, whole, config);
    uint64_t lookups = 0;
    config.unit = [&lookups](uint32_t sw, const switch_lookup::Sizes& sizes) {
      return sw % 5 == 4 ? nullptr : std::make_unique<GoldenUnit>(sizes, lookups);
    };
    const RunReport units = run(tables, whole, config);
    EXPECT_EQ(units.flow.lookups, lookups);
    EXPECT_GT(lookups, units.flow.arrived);
    EXPECT_EQ(units.live.sent, rules.live.sent);
    EXPECT_EQ(units.live.twice + units.live.left, 0u);
    if (strikes == 0) {
      EXPECT_EQ(units.flow.arrived, rules.flow.arrived);
      EXPECT_EQ(units.flow.latency, rules.flow.latency);
      continue;
    }
    EXPECT_EQ(units.live.rewritten, rules.live.rewritten);
    const auto nearly = [](uint64_t got, uint64_t expected) { EXPECT_NEAR(got, expected, 0.1 * expected); };
    nearly(units.live.to_dead, rules.live.to_dead);
    nearly(units.live.struck, rules.live.struck);
    nearly(units.live.detoured, rules.live.detoured);
    EXPECT_GT(units.live.detoured, 50u);
    EXPECT_EQ(units.live.sent,
              units.live.arrived + units.live.struck + units.live.to_dead +
                  std::accumulate(units.live.dropped.begin(), units.live.dropped.end(), uint64_t{0}));
  }
}

TEST(SwitchFabric, LookupBlocksHoldTablesOfTheirRulesOnly) {
  const Health whole(Grid{2, 2, 1});
  const route::Tables detour = make_tables(whole, {route::RuleSet::detour, route::Masks::line, 2});
  uint64_t lookups = 0;
  const MakeUnit unit = [&lookups](uint32_t /*sw*/, const switch_lookup::Sizes& sizes) {
    return std::make_unique<GoldenUnit>(sizes, lookups);
  };
  EXPECT_THROW(SwitchFabric(detour, whole, {}, unit), Fault);
}

}  // namespace
}  // namespace weft::switchfabric
