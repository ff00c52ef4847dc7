// SPDX-License-Identifier: Apache-2.0
// Groups routed together with all that there is to it; baselines, bounds, hops.
#include <gtest/gtest.h>

#include <algorithm>

#include "drawn_groups.hpp"
#include "expect_trees.hpp"
#include "mcast/baselines.hpp"
#include "mcast/batch.hpp"
#include "mcast/bounds.hpp"
#include "property.hpp"

namespace weft::mcast {
namespace {

using test::expect_figures;
using test::expect_right;
using test::walked_height;
using topology::Graph;

TEST(McastBatch, ServesItsGroupsAndIsNeverWorse) {
  EXPECT_PROPERTY("improved or merged", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Groups groups = test::drawn_groups(graph);
    BatchOptions options;
    options.router = test::drawn_options();
    options.seed = test::number(0, 9);
    const Forest forest = route_together(hops, groups, options);
    expect_right(forest, groups);
    expect_figures(forest);
    const Figures found = figures_of(forest);
    RC_ASSERT(found.colours_used <= options.router.colours);
    RouterOptions free = options.router;
    free.colours = no_limit;
    Router router(hops, free);
    router.create_all(groups);
    if (found.merged_groups > 0) return;
    RC_ASSERT(found.colours_used <= figures_of(router.forest()).colours_used);
    if (free.algorithm == Algorithm::weft) RC_ASSERT(found.max_efi <= figures_of(router.forest()).max_efi);
  });
}

TEST(McastBatch, FewerColoursBeforeAnythingIsMerged) {
  const Graph graph = topology::random_fabric(60, 12, 6, 1);
  const Hops hops(graph);
  const Groups groups = load_groups("grid:6x7x8", graph);
  BatchOptions options;
  const Forest routed = route_together(hops, groups, options);
  options.router.colours = figures_of(routed).colours_used - 5;
  const Forest fewer = route_together(hops, groups, options);
  EXPECT_EQ(figures_of(fewer).merged_groups, 0u);
  EXPECT_LE(figures_of(fewer).colours_used, options.router.colours);
  EXPECT_LE(figures_of(fewer).max_efi, figures_of(routed).max_efi);
  EXPECT_EQ(figures_of(fewer).max_tree_height, figures_of(routed).max_tree_height);
  EXPECT_TRUE(check(graph, groups, tables_of(fewer)).empty());
  EXPECT_TRUE(tables_of(route_together(hops, groups, options)) == tables_of(fewer));
}

TEST(McastBatch, SecondsAreSpentOnFewerColours) {
  const Graph graph = topology::random_fabric(60, 12, 6, 1);
  const Hops hops(graph);
  const Groups groups = load_groups("grid:6x7x8", graph);
  BatchOptions options;
  const Figures routed = figures_of(route_together(hops, groups, options));
  options.seconds = 0.3;
  uint32_t told = 0;
  options.progress = [&told](std::string_view what, uint32_t, uint32_t) {
    told += what == "improving" ? 1 : 0;
  };
  const Forest improved = route_together(hops, groups, options);
  EXPECT_LT(figures_of(improved).colours_used, routed.colours_used);
  EXPECT_LE(figures_of(improved).max_efi, routed.max_efi);
  EXPECT_TRUE(check(graph, groups, tables_of(improved)).empty());
  EXPECT_GT(told, 0u);
}

TEST(McastBaselines, ServeTheirGroups) {
  EXPECT_PROPERTY("all baselines", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Groups groups = test::drawn_groups(graph);
    Forest forest(graph, no_limit, Tables::of_switch);
    const auto baseline = *rc::gen::element(Baseline::minhop, Baseline::sssp, Baseline::sssp_load);
    route_baseline(forest, hops, groups, baseline);
    expect_right(forest, groups);
    RC_ASSERT(figures_of(forest).colours_used == groups.count() - groups.local());
    for (uint32_t tree = 0; tree < forest.trees(); ++tree)
      RC_ASSERT(walked_height(graph, forest.tree(tree)) == forest.tree(tree).height);
  });
}

TEST(McastBounds, NoTreesAreBelow) {
  EXPECT_PROPERTY("lower bounds", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    RouterOptions options = test::drawn_options();
    options.colours = no_limit;
    Router router(hops, options);
    const Groups groups = test::drawn_groups(graph);
    router.create_all(groups);
    RC_ASSERT(colour_bounds(hops, groups, options.tables).value() <=
              figures_of(router.forest()).colours_used);
  });
}

TEST(McastBounds, AreWhatMembersAndRoomNeed) {
  // A ring of 6: opposite members need 4 switches each, so 3 groups need 12 of 6.
  const Graph graph = topology::torus({6, 1, 1}, 1);
  const Hops hops(graph);
  Groups groups;
  for (uint32_t i = 0; i < 3; ++i) groups.add({i, i + 3});
  const ColourBounds bounds = colour_bounds(hops, groups, Tables::of_switch);
  EXPECT_EQ(bounds.members, 1u);
  EXPECT_EQ(bounds.room, 2u);
  // Four members of one star need its middle.
  const Graph tree = topology::fat_tree(4);
  Groups pods;
  pods.add({0, 4, 8, 12});
  EXPECT_EQ(colour_bounds(Hops(tree), pods, Tables::of_switch).value(), 1u);
}

TEST(McastHops, AreThoseOfPlainSearches) {
  EXPECT_PROPERTY("table and searches on demand", [] {
    const Graph graph = test::drawn_fabric();
    const Hops table(graph, test::number(1, 4)), none_there(graph, 1, 0);
    Hops::Room room, other;
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      const auto plain = topology::hops_from(graph, sw);
      RC_ASSERT(std::equal(plain.begin(), plain.end(), table.from(sw, room)));
      RC_ASSERT(std::equal(plain.begin(), plain.end(), none_there.from(sw, other)));
    }
  });
}

TEST(McastHops, FabricsThatAreTooLongAreRefused) {
  EXPECT_NO_THROW(Hops(topology::torus({509, 1, 1}, 1)));
  try {
    const Hops hops(topology::torus({510, 1, 1}, 1));
    ADD_FAILURE() << "is taken";
  } catch (const Fault& fault) {
    EXPECT_STREQ(fault.what(), "switches are up to 255 links apart, must be at most 254");
  }
}

}  // namespace
}  // namespace weft::mcast
