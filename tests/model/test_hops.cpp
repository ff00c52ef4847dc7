// SPDX-License-Identifier: Apache-2.0
// What the switches of a fabric remember of the rules is what the rules say.
#include <gtest/gtest.h>

#include <algorithm>

#include "switchfabric/hops.hpp"

namespace weft::switchfabric {
namespace {

using route::Decision;
using route::Dimension;
using route::Grid;
using route::Health;
using route::Outcome;

void expect_same(const Hop& hop, const Decision& decision) {
  ASSERT_EQ(static_cast<Outcome>(hop.outcome), decision.outcome);
  ASSERT_EQ(hop.way == Hop::Way::dropped, decision.outcome != Outcome::forward);
  if (hop.way == Hop::Way::dropped) return;
  ASSERT_EQ(hop.vc, decision.vc);
  ASSERT_EQ(hop.way == Hop::Way::host, decision.deliver);
  ASSERT_EQ(hop.way == Hop::Way::row, decision.up == Dimension::row);
  ASSERT_EQ(hop.way == Hop::Way::column, decision.up == Dimension::column);
  ASSERT_EQ(hop.way == Hop::Way::several, decision.ports.count() > 1);
  ASSERT_TRUE(hop.way != Hop::Way::port || decision.ports == route::PortSet().set(hop.port));
}

/// Each question twice: the second answer is remembered, if all can be.
void expect_rules(const route::Tables& tables, const Health& alive, uint32_t every) {
  const Grid& grid = alive.grid();
  Hops hops(tables, alive);
  const route::Walker rules(tables, alive);
  for (uint32_t question = 0; question < 2; ++question)
    for (uint32_t to = 0; to < grid.leaves(); to += every)
      for (uint8_t vc = 0; vc < tables.options().channels; ++vc) {
        for (uint32_t at = 0; at < grid.leaves(); ++at)
          for (const route::From from :
               {route::From(), route::From(Dimension::row), route::From(Dimension::column)})
            ASSERT_NO_FATAL_FAILURE(expect_same(hops.at_leaf(grid.leaf(at), from, vc, to),
                                                rules.at_leaf(grid.leaf(at), from, vc, grid.leaf(to))));
        for (uint32_t root = 0; root < grid.roots(); ++root)
          for (uint32_t port = 0; port < grid.root_ports(grid.root(root)); ++port)
            ASSERT_NO_FATAL_FAILURE(expect_same(hops.at_root({grid.root(root), port}, vc, to),
                                                rules.at_root({grid.root(root), port}, vc, grid.leaf(to))));
      }
}

/// Some leaves and links are dead; tables know of some of these only.
void expect_rules_of(const Grid& grid, const route::Options& options, uint32_t every = 1) {
  Health known(grid);
  known.fail_leaf({grid.columns - 1, 0});
  known.fail_link({0, grid.rows - 1}, Dimension::row);
  Health alive = known;
  alive.fail_leaf({1, grid.rows - 1});
  alive.fail_link({0, 0}, Dimension::column);
  expect_rules(make_tables(known, options), alive, every);
}

TEST(Hops, AreThoseOfTheRules) {
  for (const uint8_t channels : {1, 2, 3}) {
    expect_rules_of({4, 5, 2}, {route::RuleSet::vtftr, route::Masks::destination, channels});
    expect_rules_of({5, 4, 1}, {route::RuleSet::vtftr, route::Masks::line, channels});
    expect_rules_of({4, 4, 1}, {route::RuleSet::literal, route::Masks::line, channels});
    expect_rules_of({4, 4, 1}, {route::RuleSet::detour, route::Masks::line, channels});
    expect_rules_of({4, 6, 2, 2, 3}, {route::RuleSet::vtftr, route::Masks::destination, channels});
  }
}

TEST(Hops, OfLargeFabricsAreAskedAnew) { expect_rules_of({40, 40, 1}, {}, 131); }

}  // namespace
}  // namespace weft::switchfabric
