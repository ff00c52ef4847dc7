// SPDX-License-Identifier: Apache-2.0
// Faults that strike while packets are under way: what is lost, nothing doubled, deadlock found where there
// is one.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "route/checker.hpp"
#include "switchfabric/run.hpp"
#include "switchfabric/seen.hpp"

namespace weft::switchfabric {
namespace {

using route::Dimension;
using route::First;
using route::Grid;
using route::Health;
using route::Leaf;
using route::Masks;
using route::RuleSet;
using route::Tables;

constexpr Config short_links{
    .planes = 4, .switch_clocks = 3, .end_clocks = 2, .buffer = 8, .credit_clocks = 2};

RunConfig config_of(double load, uint32_t clocks) {
  RunConfig config;
  config.fabric = short_links;
  config.load = load;
  config.clocks = clocks;
  config.strike_clock = clocks / 4;
  config.manager = {.notice_clocks = 200, .rewrite_clocks = 5, .seed = 1};
  return config;
}

RunConfig struck(RunConfig config, const Grid& grid, std::initializer_list<Leaf> dead) {
  Health alive(grid);
  for (const Leaf leaf : dead) {
    alive.fail_leaf(leaf);
    config.strikes.push_back(alive);
  }
  return config;
}

RunReport run_whole(const Grid& grid, const RunConfig& config, const route::Options& options = {}) {
  return run(make_tables(Health(grid), options), Health(grid), config);
}

uint64_t dropped(const LiveReport& live) {
  return std::accumulate(live.dropped.begin(), live.dropped.end(), uint64_t{0});
}

void expect_each_once(const LiveReport& live) {
  EXPECT_EQ(live.twice, 0u);
  EXPECT_EQ(live.left, 0u);
  EXPECT_EQ(live.sent, live.arrived + live.struck + live.to_dead + dropped(live));
}

// The fabric never delivers a packet twice; whoever counts would notice.
TEST(LiveFaults, ASecondArrivalIsSeen) {
  Seen seen(3, 5);
  for (uint32_t from = 0; from < 3; ++from)
    for (uint64_t sent = 0; sent < 5; ++sent) {
      EXPECT_FALSE(seen.again({from, 0, sent}));
      EXPECT_TRUE(seen.again({from, 1, sent}));
    }
  EXPECT_THROW(seen.again({3, 0, 0}), std::out_of_range);
}

TEST(LiveFaults, OneIsDetouredAroundAndLosesOnlyWhatItHeld) {
  const Grid grid{4, 4, 4};
  const LiveReport live = run_whole(grid, struck(config_of(0.3, 4000), grid, {{1, 2}})).live;
  expect_each_once(live);
  EXPECT_EQ(dropped(live), 0u);
  EXPECT_GT(live.struck, 0u);
  EXPECT_GT(live.to_dead, 0u);
  EXPECT_GT(live.detoured, 0u);
  EXPECT_EQ(live.rewritten, 15u + 8 * 4);
  EXPECT_EQ(live.tables_done, 1000u + 200 + 5 * (live.rewritten - 1));
  EXPECT_GE(live.last_loss_to_dead, live.tables_done - 100);
  EXPECT_LT(live.last_loss_to_dead, live.tables_done + 200);
}

TEST(LiveFaults, WithoutRewritingDetoursGoOn) {
  const Grid grid{4, 4, 4};
  RunConfig config = struck(config_of(0.2, 4000), grid, {{1, 2}});
  const uint64_t soon = run_whole(grid, config).live.detoured;
  config.manager.notice_clocks = 2500;
  EXPECT_GT(run_whole(grid, config).live.detoured, 2 * soon);
}

TEST(LiveFaults, SeveralOneAfterTheOther) {
  const Grid grid{4, 5, 3};
  RunConfig config = struck(config_of(0.4, 6000), grid, {{1, 2}, {3, 0}, {4, 3}});
  config.strike_gap = 100;
  for (const uint8_t channels : {uint8_t{2}, uint8_t{3}}) {
    const LiveReport live = run_whole(grid, config, {.channels = channels}).live;
    expect_each_once(live);
    EXPECT_TRUE(live.deadlock.empty());
  }
}

/// Whatever dies: leaves, links, row and column switches.
TEST(LiveFaults, EachPacketArrivesOrIsLostOnce) {
  EXPECT_TRUE(rc::check("packets are accounted for", [] {
    const Grid grid{*rc::gen::inRange(1u, 5u), *rc::gen::inRange(2u, 5u), *rc::gen::inRange(1u, 4u)};
    RunConfig config = config_of(*rc::gen::inRange(1, 10) * 0.1, 1200);
    config.fabric.planes = *rc::gen::inRange(1u, 3u);
    config.fabric.buffer = *rc::gen::inRange(1u, 6u);
    config.strike_gap = *rc::gen::inRange(0u, 100u);
    config.seed = *rc::gen::inRange(1u, 1000u);
    Health alive(grid);
    for (uint32_t count = *rc::gen::inRange(1u, 4u); count > 0; --count) {
      const Leaf leaf{*rc::gen::inRange(0u, grid.columns), *rc::gen::inRange(0u, grid.rows)};
      const Dimension dimension = *rc::gen::element(Dimension::row, Dimension::column);
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          alive.fail_leaf(leaf);
          break;
        case 1:
          alive.fail_link(leaf, dimension);
          break;
        default:
          alive.fail_switch({dimension, leaf.line(dimension)});
      }
      config.strikes.push_back(alive);
    }
    RC_PRE(alive.live_leaves() > 0u);
    const LiveReport live = run_whole(grid, config).live;
    RC_ASSERT(live.twice == 0u);
    RC_ASSERT(live.left == 0u);
    RC_ASSERT(live.deadlock.empty());
    RC_ASSERT(live.sent == live.arrived + live.struck + live.to_dead + dropped(live));
  }));
}

/// As printed, packets to a leaf that has just died go round and round until nothing moves.
TEST(LiveFaults, RulesAsPrintedDeadlock) {
  const Grid grid{4, 4, 4};
  const RunConfig config = struck(config_of(0.4, 8000), grid, {{1, 1}});
  const LiveReport literal = run_whole(grid, config, {RuleSet::literal, Masks::line, 2}).live;
  EXPECT_GE(literal.deadlock.size(), 2u);
  EXPECT_GT(literal.left + literal.sent - literal.arrived, 0u);
  const LiveReport ours = run_whole(grid, config).live;
  EXPECT_TRUE(ours.deadlock.empty());
  expect_each_once(ours);
}

/// Of two shortest ways the one by the row or by the column, as it comes; past the dead leaf the other.
Tables shortest_paths(const Health& known) {
  const Grid& grid = known.grid();
  Tables tables = make_tables(known, {RuleSet::literal, Masks::line, 1});
  for (uint32_t at = 0; at < grid.leaves(); ++at)
    for (uint32_t to = 0; to < grid.leaves(); ++to) {
      const Leaf from = grid.leaf(at), end = grid.leaf(to);
      const bool both =
          from.x != end.x && from.y != end.y && known.alive({end.x, from.y}) && known.alive({from.x, end.y});
      if (both && (at + to) % 2 == 0) tables.first(from, end) = First::column;
    }
  return tables;
}

TEST(LiveFaults, ShortestPathsDeadlockOnOneChannel) {
  const Grid grid{4, 4, 4};
  Health known(grid);
  known.fail_leaf({1, 1});
  const Tables tables = shortest_paths(known);
  SwitchFabric fabric(tables, known, short_links);
  Traffic traffic(Pattern::uniform, 1, known, 1);
  std::vector<route::Channel> ring;
  for (uint64_t clock = 0; clock < 20000 && ring.empty(); ++clock) {
    traffic.draw(clock, [&](uint32_t from, uint32_t to) { fabric.send(from, to); });
    fabric.step();
    if (clock % 100 == 0) ring = fabric.deadlock();
  }
  ASSERT_GE(ring.size(), 4u);
  // Each of its channels can follow the one before it.
  const route::Walker walker(tables, known);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const route::Channel next = ring[(i + 1) % ring.size()];
    bool follows = false;
    for (uint32_t to = 0; to < grid.leaves(); ++to)
      walker.step(ring[i], grid.leaf(to),
                  [&](const route::Channel& channel) { follows = follows || channel == next; });
    EXPECT_TRUE(follows) << name_of(grid, ring[i]) << " then " << name_of(grid, next);
  }
  // It stays: nobody sends any more, and packets are left.
  uint64_t left = 0;
  for (uint32_t clock = 0; clock < 50000; ++clock) fabric.step();
  left = fabric.under_way();
  for (uint32_t clock = 0; clock < 1000; ++clock) fabric.step();
  EXPECT_GT(left, 0u);
  EXPECT_EQ(fabric.under_way(), left);
}

TEST(LiveFaults, TwoChannelsOfTheSameLoadDoNot) {
  const Grid grid{4, 4, 4};
  Health known(grid);
  known.fail_leaf({1, 1});
  const Tables tables = make_tables(known, {});
  SwitchFabric fabric(tables, known, short_links);
  Traffic traffic(Pattern::uniform, 1, known, 1);
  for (uint64_t clock = 0; clock < 5000; ++clock) {
    traffic.draw(clock, [&](uint32_t from, uint32_t to) { fabric.send(from, to); });
    fabric.step();
  }
  for (uint32_t clock = 0; clock < 20000 && fabric.under_way() > 0; ++clock) fabric.step();
  EXPECT_EQ(fabric.under_way() + fabric.waiting(), 0u);
}

TEST(Traffic, TransposeGoesToTheMirror) {
  const Grid grid{3, 3, 2};
  Health alive(grid);
  alive.fail_leaf({2, 0});
  Traffic traffic(Pattern::transpose, 1, alive, 1);
  EXPECT_EQ(traffic.senders(), 7u * 2);  // neither the dead leaf nor its mirror
  traffic.draw(0, [&](uint32_t from, uint32_t to) {
    const Leaf a = grid.leaf(from / 2), b = grid.leaf(to / 2);
    EXPECT_EQ(a, (Leaf{b.y, b.x}));
    EXPECT_EQ(from % 2, to % 2);
  });
  EXPECT_THROW(Traffic(Pattern::transpose, 1, Health(Grid{3, 4, 1}), 1), Fault);
}

TEST(Traffic, HotspotGivesAnEighthOfLeavesThreeTimesAsMuch) {
  const Grid grid{4, 4, 2};
  Traffic traffic(Pattern::hotspot, 1, Health(grid), 7);
  std::vector<double> got(grid.leaves());
  for (uint64_t clock = 0; clock < 3000; ++clock)
    traffic.draw(clock, [&](uint32_t, uint32_t to) { got[to / 2] += 1.0 / (3000 * 2); });
  std::sort(got.begin(), got.end());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], i < 14 ? 0.75 : 0.75 + 0.25 * 8, 0.1);
}

TEST(Traffic, PhasesAreShiftsOfAllHosts) {
  const Grid grid{2, 3, 2};
  Traffic traffic(Pattern::all_to_all, 1, Health(grid), 3);
  std::vector<uint32_t> distances;
  for (uint64_t clock = 0; clock < 40 * phase_clocks; ++clock) {
    std::vector<bool> got(12);
    uint32_t distance = 0;
    traffic.draw(clock, [&](uint32_t from, uint32_t to) {
      got[to] = true;
      const uint32_t gone = (to + 12 - from) % 12;
      EXPECT_TRUE(from == 0 || gone == distance);
      distance = gone;
    });
    EXPECT_EQ(std::count(got.begin(), got.end(), true), 12);
    if (clock % phase_clocks == 0) distances.push_back(distance);
    EXPECT_EQ(distances.back(), distance);
  }
  EXPECT_GT(std::set(distances.begin(), distances.end()).size(), 5u);
  EXPECT_FALSE(std::find(distances.begin(), distances.end(), 0u) != distances.end());
}

}  // namespace
}  // namespace weft::switchfabric
