// SPDX-License-Identifier: Apache-2.0
// Groups routed together with all that there is to it; baselines, bounds, hops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "drawn_groups.hpp"
#include "expect_trees.hpp"
#include "mcast/baselines.hpp"
#include "mcast/batch.hpp"
#include "mcast/bounds.hpp"
#include "mcast/conflicts.hpp"
#include "mcast/roots.hpp"
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
  const std::string first = fmt::format("improving, {} colors", routed.colours_used);
  options.progress = [&](std::string_view what, uint32_t, uint32_t) { told += what == first ? 1 : 0; };
  const Forest improved = route_together(hops, groups, options);
  EXPECT_LT(figures_of(improved).colours_used, routed.colours_used);
  EXPECT_LE(figures_of(improved).max_efi, routed.max_efi);
  EXPECT_TRUE(check(graph, groups, tables_of(improved)).empty());
  EXPECT_GT(told, 0u);
}

/// Close to a limit that cannot be met, beyond which the rest is merged; and far from it. With half of the
/// colors, what is merged after the seconds would often be worse than what is merged before them.
TEST(McastBatch, SecondsNeverMakeAMergedResultWorse) {
  const Graph graph = topology::random_fabric(60, 12, 6, 1);
  const Hops hops(graph);
  const Groups groups = load_groups("grid:6x7x8", graph);
  BatchOptions options;
  const uint32_t least = figures_of(route_together(hops, groups, options)).colours_used;
  const uint32_t bound = colour_bounds(hops, groups, Tables::of_switch).value();
  for (const uint32_t limit : {least - 5, least / 2, bound - 1, 3u})
    for (options.seed = 15; options.seed <= 20; ++options.seed) {
      options.router.colours = limit;
      options.seconds = 0;
      const Figures before = figures_of(route_together(hops, groups, options));
      options.seconds = 0.02;
      const Forest forest = route_together(hops, groups, options);
      const Figures after = figures_of(forest);
      EXPECT_LE(after.colours_used, limit);
      EXPECT_LE(after.merged_groups, before.merged_groups) << limit;
      EXPECT_LE(after.max_efi, before.max_efi) << limit;
      EXPECT_LE(after.max_tfi, before.max_tfi) << limit;
      EXPECT_LE(after.max_tree_height, before.max_tree_height) << limit;
      EXPECT_TRUE(check(graph, groups, tables_of(forest)).empty());
    }
}

/// One color less than there must be: only what had that color, and what is in its way, is merged.
TEST(McastBatch, MergesNoMoreThanItMust) {
  const Graph graph = topology::fat_tree(12);
  const Hops hops(graph);
  const Groups groups = load_groups("grid:12x36", graph);
  BatchOptions options;
  options.router.colours = colour_bounds(hops, groups, Tables::of_switch).value() - 1;
  const Forest forest = route_together(hops, groups, options);
  EXPECT_GT(figures_of(forest).merged_groups, 0u);
  EXPECT_LT(figures_of(forest).merged_groups, groups.count() / 2);
  EXPECT_TRUE(check(graph, groups, tables_of(forest)).empty());
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

/// The most items that are neighbours pairwise, by trying all sets.
uint32_t largest_clique(const Conflicts& conflicts) {
  uint32_t most = 0;
  for (uint32_t set = 0; set < 1u << conflicts.items(); ++set) {
    bool is_clique = true;
    for (uint32_t a = 0; a < conflicts.items(); ++a)
      for (uint32_t b = 0; b < a; ++b)
        is_clique &= (set >> a & set >> b & 1) == 0 || conflicts.are_neighbours(a, b);
    if (is_clique) most = std::max(most, static_cast<uint32_t>(std::popcount(set)));
  }
  return most;
}

TEST(McastBounds, CliquesAreCliquesAndNeverTooLarge) {
  EXPECT_PROPERTY("greedy beside all sets", [] {
    std::vector<std::vector<uint32_t>> places(test::number(1, 13));
    for (auto& own : places)
      for (uint32_t left = test::number(1, 4); left > 0; --left) own.push_back(test::number(0, 8));
    const Conflicts conflicts(std::vector<std::span<const uint32_t>>(places.begin(), places.end()));
    for (uint32_t a = 0; a < places.size(); ++a)
      for (uint32_t b = 0; b < places.size(); ++b)
        RC_ASSERT(conflicts.are_neighbours(a, b) ==
                  (a != b && std::find_first_of(places[a].begin(), places[a].end(), places[b].begin(),
                                                places[b].end()) != places[a].end()));
    Work work(test::number(0, 2) == 0 ? 0 : 100000);
    const auto clique = heavy_clique(conflicts, std::vector<uint32_t>(places.size(), 1), {}, work);
    for (const uint32_t a : clique)
      for (const uint32_t b : clique) RC_ASSERT(a == b || conflicts.are_neighbours(a, b));
    RC_ASSERT(clique.size() <= largest_clique(conflicts));
  });
}

TEST(McastBounds, GroupsInEachOthersWayNeedMoreThanMembersSay) {
  // Three groups, each pair at another switch: two at a switch, but three colours.
  const Graph graph = topology::torus({9, 1, 1}, 1);
  Groups groups;
  groups.add({0, 1});
  groups.add({1, 2});
  groups.add({2, 0});
  for (const Tables tables : {Tables::of_switch, Tables::of_port}) {
    const ColourBounds bounds = colour_bounds(Hops(graph), groups, tables);
    EXPECT_EQ(bounds.members, 2u);
    EXPECT_EQ(bounds.clique, 3u);
    EXPECT_EQ(bounds.value(), 3u);
  }
}

/// Whether the groups from this one on fit into so many colours, by trying all ways. In a fat tree the
/// switches of a tree of the least height follow from its root.
bool fit(const std::vector<std::vector<uint64_t>>& trees, std::vector<uint64_t>& colours, std::size_t group) {
  if (group == trees.size()) return true;
  for (uint64_t& taken : colours) {
    for (const uint64_t tree : trees[group]) {
      if ((taken & tree) != 0) continue;
      taken |= tree;
      if (fit(trees, colours, group + 1)) return true;
      taken &= ~tree;
    }
    if (taken == 0) break;  // all empty ones are alike
  }
  return false;
}

/// Switches of all trees of the least height for these members, as bits.
std::vector<uint64_t> least_trees(const Hops& hops, std::span<const uint32_t> members) {
  const Ends ends = ends_of(members, hops.graph());
  Hops::Room room;
  std::vector<uint64_t> trees;
  for (const Roots::Root& root : RootSearch(hops).find(ends.switches).roots) {
    uint64_t tree = uint64_t{1} << root.sw;
    for (const uint32_t end : ends.switches)
      for (uint32_t at = end; at != root.sw;) {
        tree |= uint64_t{1} << at;
        const uint8_t* row = hops.from(root.sw, room);
        for (const topology::Arc& arc : hops.graph().neighbours(at))
          if (row[arc.node] < row[at]) at = arc.node;
      }
    trees.push_back(tree);
  }
  return trees;
}

/// The fewest colours, by trying.
uint32_t fewest_colours(const Hops& hops, const Groups& groups) {
  std::vector<std::vector<uint64_t>> trees;
  for (uint32_t group = 0; group < groups.count(); ++group)
    if (!groups.is_local(group)) trees.push_back(least_trees(hops, groups.members(group)));
  std::vector<uint64_t> colours;
  while (!fit(trees, colours, 0)) colours.assign(colours.size() + 1, 0);
  return static_cast<uint32_t>(colours.size());
}

TEST(McastBounds, AreNotAboveWhatAllTreesOfAFatTreeAllow) {
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  EXPECT_PROPERTY("bounds beside all trees in all colours", [&] {
    Groups groups;
    for (uint32_t left = test::number(4, 7); left > 0; --left) {
      const uint32_t pod = test::number(0, 3), other = test::number(0, 3);
      groups.add({4 * pod + test::number(0, 4), 4 * other + test::number(0, 4)});
    }
    RC_ASSERT(colour_bounds(hops, groups, Tables::of_switch).value() <= fewest_colours(hops, groups));
  });
}

TEST(McastBounds, OfHeightCountsKindsOfRoots) {
  // No three share a leaf pairwise, but any two a pod, and a pod has two switches above its leaves.
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  Groups groups;
  for (const std::pair<uint32_t, uint32_t> pair : {std::pair{0, 4}, {2, 6}, {5, 8}, {7, 10}, {1, 11}, {3, 9}})
    groups.add({pair.first, pair.second});
  const ColourBounds bounds = colour_bounds(hops, groups, Tables::of_switch);
  EXPECT_EQ(bounds.members, 2u);
  EXPECT_EQ(bounds.clique, 2u);
  EXPECT_EQ(bounds.height, 3u);
  EXPECT_EQ(fewest_colours(hops, groups), 3u);
}

TEST(McastBounds, OfHeightIsWhatTheCoreOfAFatTreeNeeds) {
  const Graph graph = topology::fat_tree(40);
  const ColourBounds bounds =
      colour_bounds(Hops(graph), load_groups("grid:25x25x25", graph), Tables::of_switch);
  EXPECT_EQ(bounds.members, 42u);
  EXPECT_EQ(bounds.height, 48u);  // docs/mcast.md, by hand
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
