// SPDX-License-Identifier: Apache-2.0
// Tables where rows and columns are fat trees of two levels: their proof, their images, their latencies.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "image_walk.hpp"
#include "property.hpp"
#include "route/checker.hpp"
#include "switchfabric/run.hpp"
#include "topology/generate.hpp"

namespace weft::route {
namespace {

Report checked(std::initializer_list<const Tables*> mixture, const Health& alive) {
  return check(std::span(mixture.begin(), mixture.size()), alive, true);
}

Report stable(const Health& health, const Options& options = {}) {
  const Tables tables = make_tables(health, options);
  return checked({&tables}, health);
}

/// Tables for what was known before, while more is dead.
Report news(const Health& before, const Health& after) {
  const Tables old = make_tables(before, {});
  return checked({&old}, after);
}

/// Of everything that can be dead.
void fail_any(Health& health) {
  const Grid& grid = health.grid();
  const Leaf leaf{*rc::gen::inRange(0u, grid.columns), *rc::gen::inRange(0u, grid.rows)};
  const Dimension dimension = *rc::gen::element(Dimension::row, Dimension::column);
  const Root edge = grid.edge_of(leaf, dimension);
  const auto number = *rc::gen::inRange(0u, grid.roots_of_line());
  switch (*rc::gen::weightedElement<int>({{4, 0}, {3, 1}, {2, 2}, {4, 3}})) {
    case 0:
      return health.fail_leaf(leaf);
    case 1:
      return health.fail_link(leaf, dimension);
    case 2:
      return health.fail_switch({dimension, edge.line, number});
    default:
      return health.fail_link(edge, *rc::gen::inRange(0u, grid.spines));
  }
}

Health drawn(const Grid& grid, uint32_t most) {
  Health health(grid);
  for (uint32_t count = *rc::gen::inRange(0u, most + 1); count > 0; --count) fail_any(health);
  return health;
}

Grid drawn_grid() {
  const auto edges = *rc::gen::inRange(1u, 4u);
  return {edges * *rc::gen::inRange(1u, 3u), edges * *rc::gen::inRange(1u, 3u), 2, edges,
          *rc::gen::inRange(1u, 4u)};
}

TEST(RouteTrees, NumbersAndChannelsGoBackAndForth) {
  for (const Grid& grid : {Grid{4, 6, 1, 2, 3}, Grid{3, 3, 1, 3, 1}, Grid{2, 5, 1}}) {
    for (uint32_t number = 0; number < grid.roots(); ++number) {
      const Root root = grid.root(number);
      EXPECT_EQ(grid.number(root), number);
      for (uint32_t port = 0; port < grid.root_ports(root); ++port) {
        const Channel out = channel_out(grid, {root, port}, 1), in = channel_in(grid, {root, port}, 1);
        Channel back = out;
        back.down = !out.down;
        EXPECT_EQ(back, in);
        EXPECT_EQ(end_of(grid, in).root, root);
        EXPECT_EQ(end_of(grid, in).port, port);
      }
    }
  }
}

TEST(RouteTrees, HangAsTheTopologyHasThem) {
  const Grid grid{4, 6, 2, 2, 3};
  const auto graph = topology::kfat2d(4, 6, 2, 2, 3);
  ASSERT_EQ(graph.switches(), grid.leaves() + grid.roots());
  for (uint32_t number = 0; number < grid.roots(); ++number) {
    const Root root = grid.root(number);
    for (uint32_t port = 0; port < grid.root_ports(root); ++port) {
      const Channel out = channel_out(grid, {root, port}, 0);
      const uint32_t sw = grid.leaves() + number;
      const auto& link = graph.link(graph.link_at(sw, port + 1));
      const uint32_t peer = link.a == sw ? link.b : link.a,
                     peer_port = link.a == sw ? link.b_port : link.a_port;
      if (out.at_leaf()) {
        EXPECT_EQ(peer, grid.number(out.leaf));
        EXPECT_EQ(peer_port, grid.hosts + (root.dimension == Dimension::row ? 1 : 2));
      } else {
        EXPECT_EQ(peer, grid.leaves() + grid.number(end_of(grid, out).root));
        EXPECT_EQ(peer_port, end_of(grid, out).port + 1);
      }
    }
  }
}

/// Three leaves an edge switch: one is left to go aside at.
TEST(RouteTrees, EverySetOfUpToTwoDeadLeavesCutsNobodyOff) {
  const Grid grid{6, 6, 1, 2, 2};
  for (uint32_t one = 0; one <= 36; ++one)  // 36: none
    for (uint32_t two = one; two <= 36; ++two) {
      Health health(grid);
      for (const uint32_t leaf : {one, two})
        if (leaf < 36) health.fail_leaf(grid.leaf(leaf));
      const Report report = stable(health);
      ASSERT_TRUE(report.cycle.empty()) << one << ' ' << two;
      ASSERT_EQ(report.lossy.size(), 0u) << one << ' ' << two;
      ASSERT_LE(report.max_steps, 3u);
    }
}

/// At one edge switch in the row, and at one in the column, two leaves may be all there are.
TEST(RouteTrees, ADiagonalOfTwoByTwoIsCut) {
  Health health(Grid{4, 4, 1, 2, 2});
  health.fail_leaf({0, 0});
  EXPECT_TRUE(stable(health).lossy.empty());
  health.fail_leaf({1, 1});
  const Report report = stable(health);
  EXPECT_EQ(report.lossy, (std::vector<Pair>{{{0, 1}, {1, 0}}, {{1, 0}, {0, 1}}}));
  EXPECT_EQ(prove_unreachable(report.lossy[0], health, {}).obstacle, Obstacle::rules);
}

/// Another spine switch, or another leaf at the same edge switch, takes what comes.
TEST(RouteTrees, ANewDeadLeafOrSpineSwitchLosesNothing) {
  const Grid grid{6, 6, 1, 2, 2};
  const Health whole(grid);
  for (uint32_t leaf = 0; leaf < grid.leaves(); ++leaf) {
    Health after = whole;
    after.fail_leaf(grid.leaf(leaf));
    EXPECT_EQ(news(whole, after).lossy.size(), 0u) << leaf;
  }
  for (uint32_t number = 0; number < grid.roots(); ++number) {
    if (!grid.is_spine(grid.root(number))) continue;
    Health after = whole;
    after.fail_switch(grid.root(number));
    EXPECT_EQ(news(whole, after).lossy.size(), 0u) << number;
  }
}

/// While tables do not know it, packets that have gone up can only come down by that link.
TEST(RouteTrees, ADeadLinkOfASpineSwitchIsRoutedRound) {
  const Grid grid{6, 6, 1, 2, 2};
  Health after(grid);
  after.fail_link({Dimension::row, 2, 1}, 0);
  EXPECT_GT(news(Health(grid), after).lossy.size(), 0u);
  EXPECT_EQ(stable(after).lossy.size(), 0u);
  after.fail_link({Dimension::row, 2, 1}, 1);  // the edge switch has no other
  const Report report = stable(after);
  EXPECT_EQ(report.lossy.size(), 0u);
  EXPECT_EQ(report.max_steps, 3u);
  after.fail_switch({Dimension::column, 4, 0});
  EXPECT_TRUE(stable(after).cycle.empty());
}

TEST(RouteTrees, NeverDeadlockWhateverFails) {
  EXPECT_PROPERTY("stable, old, mixed tables; any faults and channels", [] {
    const Grid grid = drawn_grid();
    const Options options{RuleSet::vtftr, Masks::destination, *rc::gen::inRange<uint8_t>(1, 5)};
    const Health before = drawn(grid, 8), after = drawn(grid, 8);
    RC_PRE(before.live_leaves() > 0 && after.live_leaves() > 0);
    const Tables old = make_tables(before, options), fresh = make_tables(after, options);
    RC_ASSERT(checked({&old}, before).cycle.empty());
    RC_ASSERT(checked({&old}, after).cycle.empty());
    RC_ASSERT(checked({&old, &fresh}, after).cycle.empty());
  });
}

TEST(RouteTrees, UpdatesAreTablesMadeFromScratch) {
  EXPECT_PROPERTY("update_tables and make_tables agree", [] {
    const Grid grid = drawn_grid();
    const Health before = drawn(grid, 6);
    Health after = before;
    for (uint32_t count = *rc::gen::inRange(0u, 3u); count > 0; --count) fail_any(after);
    RC_PRE(after.live_leaves() > 0u);
    const Tables old = make_tables(before, {}), made = make_tables(after, {});
    RC_ASSERT(update_tables(old, before, after).tables == made);
    RC_ASSERT(update_tables(made, after, before).tables == old);
  });
}

/// Whether steps of which each ends at the edge switch where it began, or at the destination's, lead there:
/// counted without any search.
bool leads(const Health& health, Leaf at, Leaf to, Dimension dimension, uint32_t steps, uint32_t turns) {
  if (at == to) return true;
  if (steps == 0 || !health.attached(at, dimension)) return false;
  const Grid& grid = health.grid();
  for (uint32_t port = 0; port < grid.ports(dimension); ++port) {
    const Leaf next = leaf_at(dimension, at.line(dimension), port);
    const Root edge = grid.edge_of(next, dimension);
    const bool near = edge == grid.edge_of(at, dimension) ||
                      edge.number == to.port(dimension) / grid.leaves_at_edge(dimension);
    if (next == at || !near || !health.attached(next, dimension) || !health.joined(at, next, dimension))
      continue;
    if (next == to) return true;
    const uint32_t turn = dimension == Dimension::column ? 1 : 0;
    if (turns >= turn && leads(health, next, to, other(dimension), steps - 1, turns - turn)) return true;
  }
  return false;
}

/// Tables that know what is dead lose a packet only if they say that its pair is cut off, and say why.
TEST(RouteTrees, EveryCutPairHasItsProof) {
  EXPECT_PROPERTY("no way in the graph, or one that is there", [] {
    const Grid grid = drawn_grid();
    const Health health = drawn(grid, 6);
    RC_PRE(health.live_leaves() > 0u);
    for (const Pair& pair : stable(health).lossy) {
      const Proof proof = prove_unreachable(pair, health, {});
      const bool short_way = leads(health, pair.from, pair.to, Dimension::row, 3, 1) ||
                             leads(health, pair.from, pair.to, Dimension::column, 3, 1);
      RC_ASSERT((proof.obstacle == Obstacle::tables) == short_way);
      RC_ASSERT((proof.obstacle == Obstacle::graph) == proof.way.empty() ||
                proof.obstacle == Obstacle::channels);
      for (std::size_t i = 1; i < proof.way.size(); ++i) {
        const Leaf a = proof.way[i - 1], b = proof.way[i];
        const Dimension dimension = a.y == b.y ? Dimension::row : Dimension::column;
        RC_ASSERT(health.attached(a, dimension) && health.attached(b, dimension));
        RC_ASSERT(health.joined(a, b, dimension));
      }
    }
  });
}

TEST(RouteTrees, LookupBlocksDoAsTheRules) {
  EXPECT_PROPERTY("images of the tables join what the tables join, in no more links", [] {
    const Grid grid = drawn_grid();
    const Health known = drawn(grid, 4);
    RC_PRE(known.live_leaves() > 0u);
    const Tables tables = make_tables(known, {});
    ImageWalk blocks(tables, known);
    uint64_t joined = 0;
    const std::array<const Tables*, 1> mixture{&tables};
    const Report report = check(mixture, known, false, [&](const Pair& pair, uint32_t most) {
      const auto links = blocks.links(pair.from, pair.to);
      RC_ASSERT(links.has_value());
      RC_ASSERT(*links <= most);
      ++joined;
    });
    RC_ASSERT(joined + report.lossy.size() == report.pairs);
  });
}

/// 62 ns + 35 ns a switch: a step over a spine switch has two more.
TEST(RouteTrees, LatencyGrowsWithEachSwitch) {
  using switchfabric::SwitchFabric;
  const Grid grid{8, 8, 2, 2, 4};
  const Health alive(grid);
  const Tables tables = make_tables(alive, {});
  const auto latency = [&](Leaf from, Leaf to) -> uint64_t {
    SwitchFabric fabric(tables, alive, {});
    fabric.send(grid.number(from) * 2, grid.number(to) * 2 + 1);
    for (uint32_t clock = 0; clock < 1000; ++clock) {
      fabric.step();
      if (!fabric.delivered().empty()) {
        EXPECT_EQ(fabric.delivered()[0].switches, grid.fewest_switches(from, to));
        return fabric.delivered()[0].arrived - fabric.delivered()[0].packet.sent;
      }
    }
    return 0;
  };
  EXPECT_EQ(latency({1, 1}, {1, 1}), 97u);
  EXPECT_EQ(latency({1, 1}, {2, 1}), 97u + 70);        // the same edge switch
  EXPECT_EQ(latency({1, 1}, {6, 1}), 97u + 140);       // over a spine switch
  EXPECT_EQ(latency({1, 1}, {2, 6}), 97u + 70 + 140);  // and a column
  EXPECT_EQ(latency({1, 1}, {6, 6}), 97u + 140 + 140);
}

/// Whatever dies in the middle of traffic, of trees too.
TEST(RouteTrees, EachPacketArrivesOrIsLostOnce) {
  EXPECT_PROPERTY("packets are accounted for", [] {
    const Grid grid = drawn_grid();
    switchfabric::RunConfig config;
    config.fabric = {
        .switch_clocks = 4, .end_clocks = 3, .buffer = *rc::gen::inRange(1u, 6u), .credit_clocks = 2};
    config.load = *rc::gen::inRange(1, 10) * 0.1;
    config.clocks = 500;
    config.strike_clock = 200;
    config.strike_gap = *rc::gen::inRange(0u, 100u);
    config.manager = {.notice_clocks = 60, .rewrite_clocks = 3};
    config.seed = *rc::gen::inRange(1u, 1000u);
    Health alive(grid);
    for (uint32_t count = *rc::gen::inRange(1u, 4u); count > 0; --count) {
      fail_any(alive);
      config.strikes.push_back(alive);
    }
    RC_PRE(alive.live_leaves() > 0u);
    const Health whole(grid);
    const auto live = run(make_tables(whole, {}), whole, config).live;
    uint64_t dropped = 0;
    for (const uint64_t packets : live.dropped) dropped += packets;
    RC_ASSERT(live.twice == 0u && live.left == 0u && live.deadlock.empty());
    RC_ASSERT(live.sent == live.arrived + live.struck + live.to_dead + dropped);
  });
}

TEST(RouteTrees, BadInput) {
  const Grid grid = grid_of("kfat2d:4x8:2:2x3");
  EXPECT_EQ(grid, (Grid{4, 8, 2, 2, 3}));
  EXPECT_EQ(spec_of(grid), "kfat2d:4x8:2:2x3");
  for (const char* spec :
       {"kfat2d:4x8:2:3x3", "kfat2d:4x8:2:0x3", "kfat2d:4x8:2:2x0", "kfat2d:4x8:2:2", "kfat2d:4x8:2:8x1",
        "kfat2d:64x64:1:1x1", "kfat2d:4x8:2:2x61", "kfat2d:4x8:2:2x3x1"})
    EXPECT_THROW(grid_of(spec), Fault) << spec;
  Health health(grid);
  for (const char* where : {"1", "4,0", "0,5", "0,0,0", "a,b"})
    EXPECT_THROW(fail(health, What::row_switch, where), Fault) << where;
  for (const char* where : {"4,0,0", "0,2,0", "0,0,3", "4,0", "1"})
    EXPECT_THROW(fail(health, What::row_link, where), Fault) << where;
  EXPECT_EQ(health, Health(grid));
  fail(health, What::column_link, "7,1,2");
  EXPECT_FALSE(health.attached(Root{Dimension::column, 7, 1}, 2));
  fail(health, What::row_switch, "3,4");
  EXPECT_FALSE(health.alive(Root{Dimension::row, 3, 4}));
  Health single(Grid{4, 4, 1});
  for (const char* where : {"1,1", "1,0,0"}) EXPECT_THROW(fail(single, What::row_switch, where), Fault);
  EXPECT_THROW(fail(single, What::row_link, "1,0,0"), Fault);
  EXPECT_THROW(make_tables(Health(grid), {RuleSet::vtftr, Masks::line, 2}), Fault);
  EXPECT_THROW(make_tables(Health(grid), {RuleSet::detour, Masks::destination, 2}), Fault);
  const Tables tables = make_tables(Health(grid), {});
  EXPECT_THROW(switchfabric::SwitchFabric(tables, Health(grid), {.planes = 2}), Fault);
}

}  // namespace
}  // namespace weft::route
