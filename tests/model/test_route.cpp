// SPDX-License-Identifier: Apache-2.0
// Tables of two-dimensional fat trees with faults, and their proof.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "every_set.hpp"
#include "fabric/random.hpp"
#include "property.hpp"
#include "route/checker.hpp"

namespace weft::route {
namespace {

using test::every_set;

Health with_dead(const Grid& grid, const std::vector<uint32_t>& leaves) {
  Health health(grid);
  for (const uint32_t leaf : leaves) health.fail_leaf(grid.leaf(leaf));
  return health;
}

Report stable(const Health& health, const Options& options, bool dead_too = true) {
  const Tables tables = make_tables(health, options);
  const std::array<const Tables*, 1> mixture{&tables};
  return check(mixture, health, dead_too);
}

Report mixed(const Health& before, const Health& after, const Options& options) {
  const Tables old = make_tables(before, options), fresh = make_tables(after, options);
  const std::array<const Tables*, 2> mixture{&old, &fresh};
  return check(mixture, after, true);
}

Report news(const Health& before, const Health& after, const Options& options) {
  const Tables old = make_tables(before, options);
  const std::array<const Tables*, 1> mixture{&old};
  return check(mixture, after, true);
}

/// By a row or a column, or staying.
bool joined_in_one_step(const Health& health, Leaf from, Leaf to, Dimension dimension) {
  return from == to || (from.line(dimension) == to.line(dimension) && health.attached(from, dimension) &&
                        health.attached(to, dimension));
}

/// By counting all ways, not by rules.
bool joined_in_three_steps(const Health& health, Leaf from, Leaf to) {
  for (const Dimension first : {Dimension::row, Dimension::column})
    for (uint32_t port = 0; port < health.grid().ports(first); ++port) {
      const Leaf one = leaf_at(first, from.line(first), port), two = leaf_at(first, to.line(first), port);
      if (joined_in_one_step(health, from, one, first) &&
          joined_in_one_step(health, one, two, other(first)) && joined_in_one_step(health, two, to, first))
        return true;
    }
  return false;
}

uint64_t cut_pairs(const Health& health) {
  const Grid& grid = health.grid();
  uint64_t cut = 0;
  for (uint32_t a = 0; a < grid.leaves(); ++a)
    for (uint32_t b = 0; b < grid.leaves(); ++b)
      if (a != b && health.alive(grid.leaf(a)) && health.alive(grid.leaf(b)))
        cut += joined_in_three_steps(health, grid.leaf(a), grid.leaf(b)) ? 0 : 1;
  return cut;
}

/// Row switch 1 of a fabric with 4 columns.
RootView row_switch(RuleSet rules = RuleSet::vtftr) {
  return {Dimension::row, 1, false, PortSet("1111"), rules};
}

TEST(RouteRules, RowSwitch) {
  const RootEntry entry{1, PortSet("1101")};
  RootView view = row_switch();
  EXPECT_EQ(root_rule(view, 0, 0, {1, 3}, entry).ports, PortSet("0010"));
  view.alive.reset(1);
  EXPECT_EQ(root_rule(view, 0, 0, {1, 3}, entry).ports, PortSet("1100"));  // not the input
  EXPECT_EQ(root_rule(view, 2, 1, {1, 3}, entry).vc, 1);
  EXPECT_EQ(root_rule(view, 0, 0, {1, 1}, entry).outcome, Outcome::dead);
  EXPECT_EQ(root_rule(view, 0, 0, {1, 3}, {1, PortSet("0010")}).outcome, Outcome::no_backup);
  EXPECT_EQ(root_rule(view, 0, 0, {2, 3}, {3, PortSet("1001")}).ports, PortSet("1000"));
  EXPECT_EQ(root_rule(view, 0, 0, {2, 3}, {}).outcome, Outcome::no_entry);
  view.dimension = Dimension::column;
  EXPECT_EQ(root_rule(view, 0, 0, {3, 1}, entry).ports, PortSet("1100"));  // not the input
  RootView printed = row_switch(RuleSet::literal);
  printed.alive.reset(1);
  EXPECT_EQ(root_rule(printed, 0, 0, {1, 1}, entry).ports, PortSet("1100"));
  printed.dimension = Dimension::column;
  EXPECT_EQ(root_rule(printed, 0, 0, {3, 1}, entry).ports, PortSet("1100"));
  EXPECT_EQ(detour_rule(view, 2, 0, {3, 1}, PortSet("1101"), true).ports, PortSet("1000"));
}

TEST(RouteRules, Leaf) {
  LeafView view{{1, 1}, 2, true, true, RuleSet::vtftr};
  EXPECT_TRUE(leaf_rule(view, Dimension::row, 1, {1, 1}, First::none).deliver);
  EXPECT_EQ(leaf_rule(view, {}, 0, {2, 2}, First::column).up, Dimension::column);
  EXPECT_EQ(leaf_rule(view, {}, 0, {2, 2}, First::none).outcome, Outcome::no_entry);
  EXPECT_EQ(leaf_rule(view, Dimension::row, 1, {2, 2}, First::none).up, Dimension::column);
  EXPECT_EQ(leaf_rule(view, Dimension::column, 0, {2, 2}, First::none).vc, 1);
  EXPECT_EQ(leaf_rule(view, Dimension::column, 1, {2, 2}, First::none).outcome, Outcome::second_turn);
  view.column_alive = false;
  EXPECT_EQ(leaf_rule(view, Dimension::row, 0, {2, 2}, First::none).outcome, Outcome::dead);
  view.rules = RuleSet::literal;
  EXPECT_EQ(leaf_rule(view, Dimension::column, 1, {2, 2}, First::none).vc, 1);
}

TEST(Route, EveryConfigurationOfFourWithUpToThreeFaults) {
  const Grid grid{4, 4, 1};
  uint32_t configurations = 0;
  every_set(16, 3, [&](const std::vector<uint32_t>& dead) {
    ++configurations;
    const Health health = with_dead(grid, dead);
    for (const Masks masks : {Masks::destination, Masks::line}) {
      const Options options{RuleSet::vtftr, masks, 2};
      const Report report = stable(health, options);
      ASSERT_TRUE(report.cycle.empty());
      ASSERT_EQ(report.lossy.size(), 0u);
      ASSERT_LE(report.max_steps, 3u);
      ASSERT_EQ(report.pairs, uint64_t{health.live_leaves()} * (health.live_leaves() - 1));
      ASSERT_TRUE(mixed(Health(grid), health, options).cycle.empty());
    }
  });
  EXPECT_EQ(configurations, 1u + 16 + 120 + 560);
}

/// One of all that can die in 4x4: leaves, row and column switches, links.
void fail_one_of(Health& health, uint32_t thing) {
  const Grid& grid = health.grid();
  const auto dimension = thing % 2 == 0 ? Dimension::row : Dimension::column;
  if (thing < 16) return health.fail_leaf(grid.leaf(thing));
  if (thing < 48) return health.fail_link(grid.leaf((thing - 16) / 2), dimension);
  health.fail_switch({dimension, (thing - 48) / 2});
}

TEST(Route, EverySetOfUpToThreeFaultsOfAnyKind) {
  uint32_t sets = 0;
  every_set(56, 3, [&](const std::vector<uint32_t>& dead) {
    Health health(Grid{4, 4, 1});
    for (const uint32_t thing : dead) fail_one_of(health, thing);
    const Report report = stable(health, {});
    ASSERT_TRUE(report.cycle.empty());
    ASSERT_EQ(report.lossy.size(), cut_pairs(health)) << ::testing::PrintToString(dead);
    ASSERT_LE(report.max_steps, 3u);
    ++sets;
  });
  EXPECT_EQ(sets, 1u + 56 + 1540 + 27720);
}

TEST(Route, OneNewFaultLosesNothing) {
  const Grid grid{4, 4, 1};
  const Options options;
  every_set(16, 2, [&](const std::vector<uint32_t>& dead) {
    const Health before = with_dead(grid, dead);
    for (uint32_t leaf = 0; leaf < 16; ++leaf) {
      Health after = before;
      after.fail_leaf(grid.leaf(leaf));
      const Report report = mixed(before, after, options);
      ASSERT_TRUE(report.cycle.empty());
      if (dead.empty()) {
        ASSERT_EQ(report.lossy.size(), 0u);
      }
    }
  });
}

TEST(Route, AsPrintedCanDeadlock) {
  const Grid grid{4, 4, 1};
  const Options printed{RuleSet::literal, Masks::line, 2}, one_channel{RuleSet::literal, Masks::line, 1};
  const Health fault = with_dead(grid, {5});
  EXPECT_TRUE(stable(fault, printed, false).cycle.empty());
  EXPECT_EQ(stable(fault, printed, false).lossy.size(), 0u);
  const Report report = news(Health(grid), fault, printed);
  ASSERT_FALSE(report.cycle.empty());
  EXPECT_FALSE(stable(fault, one_channel, false).cycle.empty());
  EXPECT_TRUE(news(Health(grid), fault, {}).cycle.empty());
}

void fail_any(Health& health) {
  const Grid& grid = health.grid();
  const Leaf leaf{*rc::gen::inRange(0u, grid.columns), *rc::gen::inRange(0u, grid.rows)};
  const Dimension dimension = *rc::gen::element(Dimension::row, Dimension::column);
  switch (*rc::gen::weightedElement<int>({{6, 0}, {3, 1}, {1, 2}})) {
    case 0:
      return health.fail_leaf(leaf);
    case 1:
      return health.fail_link(leaf, dimension);
    default:
      return health.fail_switch({dimension, leaf.line(dimension)});
  }
}

TEST(Route, UpdatesAreTablesMadeFromScratch) {
  EXPECT_PROPERTY("update_tables and make_tables agree", [] {
    const Grid grid{*rc::gen::inRange(1u, 8u), *rc::gen::inRange(1u, 8u), 1};
    const Options options{*rc::gen::weightedElement<RuleSet>(
                              {{6, RuleSet::vtftr}, {1, RuleSet::literal}, {1, RuleSet::detour}}),
                          *rc::gen::weightedElement<Masks>({{3, Masks::destination}, {1, Masks::line}}),
                          *rc::gen::inRange<uint8_t>(1, 5)};
    Health before(grid);
    for (uint32_t count = *rc::gen::inRange(0u, 10u); count > 0; --count) fail_any(before);
    Health after = before;
    for (uint32_t count = *rc::gen::inRange(0u, 3u); count > 0; --count) fail_any(after);
    RC_PRE(after.live_leaves() > 0u);
    const Tables old = make_tables(before, options), made = make_tables(after, options);
    RC_ASSERT(update_tables(old, before, after).tables == made);
    RC_ASSERT(update_tables(made, after, before).tables == old);
  });
}

TEST(Route, UpdatesLookAtWhatMatters) {
  const Grid grid{16, 16, 1};
  const Health before = with_dead(grid, {3, 77}), after = with_dead(grid, {3, 77, 150});
  const Update update = update_tables(make_tables(before, {}), before, after);
  const uint64_t all = uint64_t{256} * 255 + 2 * 16 * 256;
  EXPECT_LT(update.looked_at, all / 3);
  EXPECT_EQ(update_tables(update.tables, after, after).looked_at, 0u);
}

TEST(Route, TheCycleIsOne) {
  const Grid grid{4, 4, 1};
  const Options printed{RuleSet::literal, Masks::line, 2};
  const Health fault = with_dead(grid, {5});
  const Tables old = make_tables(Health(grid), printed);
  const auto cycle = news(Health(grid), fault, printed).cycle;
  const Walker walker(old, fault);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    bool follows = false;
    for (uint32_t to = 0; to < grid.leaves(); ++to)
      walker.step(cycle[i], grid.leaf(to),
                  [&](const Channel& next) { follows = follows || next == cycle[(i + 1) % cycle.size()]; });
    EXPECT_TRUE(follows) << name_of(grid, cycle[i]);
  }
}

TEST(Route, FixedDetourTakesFourSteps) {
  const Grid grid{8, 8, 1};
  const Health fault = with_dead(grid, {27});
  const Report detour = stable(fault, {RuleSet::detour, Masks::line, 2}, false);
  EXPECT_EQ(detour.max_steps, 4u);
  EXPECT_EQ(detour.lossy.size(), 0u);
  EXPECT_TRUE(detour.cycle.empty());
  EXPECT_EQ(stable(fault, {}, false).max_steps, 2u);
  const Options one_channel{RuleSet::detour, Masks::line, 1};
  EXPECT_TRUE(stable(fault, one_channel, false).cycle.empty());
  uint32_t rings = 0;  // of two faults, one channel
  every_set(16, 2, [&](const std::vector<uint32_t>& dead) {
    rings += stable(with_dead({4, 4, 1}, dead), one_channel, false).cycle.empty() ? 0 : 1;
  });
  EXPECT_GT(rings, 0u);
}

Health drawn(const Grid& grid, bool links) {
  Health health(grid);
  const auto times = *rc::gen::inRange<uint32_t>(0, grid.leaves());
  for (uint32_t i = 0; i < times; ++i) {
    const Leaf leaf = grid.leaf(*rc::gen::inRange<uint32_t>(0, grid.leaves()));
    const auto what = links ? *rc::gen::inRange<uint32_t>(0, 5) : 0;
    if (what == 0) health.fail_leaf(leaf);
    if (what == 1) health.fail_link(leaf, Dimension::row);
    if (what == 2) health.fail_link(leaf, Dimension::column);
    if (what == 3) health.fail_switch({Dimension::row, leaf.y});
    if (what == 4) health.fail_switch({Dimension::column, leaf.x});
  }
  return health;
}

Grid drawn_grid() { return {*rc::gen::inRange<uint32_t>(1, 7), *rc::gen::inRange<uint32_t>(1, 7), 1}; }

TEST(Route, CutsOnlyWhatThreeStepsDoNotJoin) {
  EXPECT_PROPERTY("pairs cut by the tables are those that a count finds", [] {
    const Grid grid = drawn_grid();
    const Health health = drawn(grid, false);
    RC_PRE(health.live_leaves() > 0);
    const Report report = stable(health, {});
    RC_ASSERT(report.lossy.size() == cut_pairs(health));
    RC_ASSERT(report.max_steps <= 3);
  });
}

TEST(Route, NeverDeadlocksWhateverFails) {
  EXPECT_PROPERTY("stable, old, mixed tables; any faults, masks, channels", [] {
    const Grid grid = drawn_grid();
    const Options options{RuleSet::vtftr, *rc::gen::element(Masks::line, Masks::destination),
                          static_cast<uint8_t>(*rc::gen::inRange<int>(1, 5))};
    const Health before = drawn(grid, true), after = drawn(grid, true);
    RC_PRE(before.live_leaves() > 0 && after.live_leaves() > 0);
    RC_ASSERT(stable(before, options).cycle.empty());
    RC_ASSERT(news(before, after, options).cycle.empty());
    RC_ASSERT(mixed(before, after, options).cycle.empty());
  });
}

/// Up in a row, down in it, up in a column, down in it, for each virtual channel.
uint32_t rank(const Channel& channel) {
  return 4u * channel.vc + (channel.dimension == Dimension::column ? 2u : 0u) + (channel.down ? 1u : 0u);
}

/// Why no ring can close: each hop goes up in these numbers, whatever tables say and whatever is dead.
TEST(Route, HopsGoUpWithAnyTables) {
  EXPECT_PROPERTY("tables and faults at random", [] {
    const Grid grid = drawn_grid();
    const Options options{RuleSet::vtftr, Masks::destination,
                          static_cast<uint8_t>(*rc::gen::inRange<int>(1, 5))};
    RandomStream random(*rc::gen::arbitrary<uint64_t>());
    Tables tables(grid, options);
    for (uint32_t to = 0; to < grid.leaves(); ++to) {
      for (uint32_t at = 0; at < grid.leaves(); ++at)
        tables.first(grid.leaf(at), grid.leaf(to)) = static_cast<First>(random.below(3));
      for (uint32_t root = 0; root < grid.roots(); ++root) {
        const uint32_t ports = grid.root_ports(grid.root(root));
        const uint64_t primary = random.below(ports + 1);
        tables.entry(grid.root(root), grid.leaf(to)) = {
            primary == ports ? RootEntry::none : static_cast<uint8_t>(primary),
            PortSet(random.next() & ((uint64_t{1} << ports) - 1))};
      }
    }
    const Health health = drawn(grid, true);
    const Walker walker(tables, health);
    uint64_t hops = 0;
    for (uint32_t leaf = 0; leaf < grid.leaves(); ++leaf)
      for (const Dimension dimension : {Dimension::row, Dimension::column})
        for (const bool down : {false, true})
          for (uint8_t vc = 0; vc < options.channels; ++vc)
            for (uint32_t to = 0; to < grid.leaves(); ++to) {
              const Channel at{grid.leaf(leaf), dimension, down, vc};
              walker.step(at, grid.leaf(to), [&](const Channel& next) {
                RC_ASSERT(rank(next) > rank(at));
                ++hops;
              });
            }
    RC_CLASSIFY(hops > 0);
  });
}

TEST(Route, EveryCutPairHasItsProof) {
  EXPECT_PROPERTY("a set that holds the source only, or a way that is there", [] {
    const Grid grid = drawn_grid();
    const Health health = drawn(grid, true);
    RC_PRE(health.live_leaves() > 0);
    for (const Pair& pair : stable(health, {}).lossy) {
      const Proof proof = prove_unreachable(pair, health, {});
      RC_ASSERT(proof.obstacle != Obstacle::tables);
      if (proof.obstacle != Obstacle::rules) {
        RC_ASSERT(proof.way.empty() || proof.obstacle == Obstacle::channels);
        RC_ASSERT(proof.reached < grid.leaves());
        continue;
      }
      RC_ASSERT(!proof.way.empty());
      RC_ASSERT(proof.way.front() == pair.from && proof.way.back() == pair.to);
      for (std::size_t i = 1; i < proof.way.size(); ++i) {
        const Leaf a = proof.way[i - 1], b = proof.way[i];
        const Dimension dimension = a.y == b.y ? Dimension::row : Dimension::column;
        RC_ASSERT(a.line(dimension) == b.line(dimension));
        RC_ASSERT(health.attached(a, dimension) && health.attached(b, dimension));
      }
      RC_ASSERT(proof.way.size() > 4u);  // three steps would have been taken
    }
  });
}

/// Leaves are alive on a staircase only.
Health staircase(uint32_t n) {
  Health health(Grid{n, n, 1});
  for (uint32_t x = 0; x < n; ++x)
    for (uint32_t y = 0; y < n; ++y)
      if (x != y && x != y + 1) health.fail_leaf({x, y});
  return health;
}

/// It turns from column to row twice.
TEST(Route, TellsChannelsFromRules) {
  const Health health = staircase(4);
  const Pair ends{{0, 0}, {3, 3}};
  const Proof two = prove_unreachable(ends, health, {}),
              three = prove_unreachable(ends, health, {.channels = 3});
  EXPECT_EQ(two.obstacle, Obstacle::channels);
  EXPECT_EQ(two.reached, 5u);
  EXPECT_EQ(three.obstacle, Obstacle::rules);
  EXPECT_EQ(three.way.size(), 7u);
}

/// A staircase of four steps: algorithm A takes as many, the rules do not.
TEST(Route, CountsStepsOfTheRulesInUse) {
  const Health health = staircase(3);
  const Pair ends{{0, 0}, {2, 2}};
  EXPECT_EQ(prove_unreachable(ends, health, {}).way.size(), 5u);
  EXPECT_EQ(prove_unreachable(ends, health, {}).obstacle, Obstacle::rules);
  EXPECT_EQ(prove_unreachable(ends, health, {RuleSet::detour, Masks::line, 2}).obstacle, Obstacle::tables);
}

/// Three new faults that two virtual channels cannot get all packets around, and three can.
TEST(Route, AThirdChannelLosesLessWhileFaultsAreNews) {
  const Grid grid{4, 4, 1};
  Health after(grid);
  for (const Leaf leaf : {Leaf{0, 0}, Leaf{0, 1}, Leaf{2, 3}}) after.fail_leaf(leaf);
  EXPECT_EQ(news(Health(grid), after, {}).lossy.size(), 4u);
  EXPECT_EQ(news(Health(grid), after, {.channels = 3}).lossy.size(), 0u);
}

TEST(Route, MoreChannelsAndMasksLoseLess) {
  EXPECT_PROPERTY("gain of a third channel and of masks of destinations", [] {
    const Grid grid = drawn_grid();
    const Health before = drawn(grid, false), after = drawn(grid, false);
    RC_PRE(before.live_leaves() > 0 && after.live_leaves() > 0);
    const auto lost = [&](Masks masks, uint8_t channels) {
      return stable(after, {RuleSet::vtftr, masks, channels}).lossy.size();
    };
    RC_ASSERT(lost(Masks::destination, 2) <= lost(Masks::line, 2));
    RC_ASSERT(lost(Masks::destination, 3) <= lost(Masks::destination, 2));
  });
}

TEST(Route, OneFaultChangesFewSwitches) {
  const Grid grid{8, 8, 1};
  const Tables before = make_tables(Health(grid), {}), after = make_tables(with_dead(grid, {27}), {});
  EXPECT_EQ(after.changed_from(before).size(), 80u);
  EXPECT_TRUE(before.changed_from(before).empty());
  const Options line{RuleSet::vtftr, Masks::line, 2};
  EXPECT_EQ(make_tables(with_dead(grid, {27}), line).changed_from(make_tables(Health(grid), line)).size(),
            80u);
}

TEST(Route, BadInput) {
  const Grid grid{4, 4, 1};
  std::vector<uint32_t> all(16);
  for (uint32_t leaf = 0; leaf < 16; ++leaf) all[leaf] = leaf;
  EXPECT_THROW(make_tables(with_dead(grid, all), {}), Fault);
  Health health(grid);
  for (const char* where : {"4,0", "0,4", "1", "a,b", "1,2,3", "-1,0", ""})
    EXPECT_THROW(fail(health, What::leaf, where), Fault) << where;
  for (const char* spec : {"kfat2d:4x4", "kfat2d:0x4:1", "kfat2d:4x129:1", "fattree3:4", "kfat2d:4x4:0"})
    EXPECT_THROW(grid_of(spec), Fault) << spec;
  const Tables tables = make_tables(health, {});
  const std::array<const Tables*, 1> mixture{&tables};
  EXPECT_THROW(check(mixture, Health(Grid{4, 5, 1}), false), Fault);
}

}  // namespace
}  // namespace weft::route
