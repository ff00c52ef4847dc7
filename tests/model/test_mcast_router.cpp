// SPDX-License-Identifier: Apache-2.0
// Trees and colours of all algorithms, through all that can happen to groups, by the independent checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "drawn_groups.hpp"
#include "mcast/baselines.hpp"
#include "mcast/batch.hpp"
#include "mcast/bounds.hpp"
#include "mcast/checker.hpp"
#include "mcast/figures.hpp"
#include "mcast/tables.hpp"
#include "property.hpp"
#include "topology/distances.hpp"

namespace weft::mcast {
namespace {

using topology::Graph;

void expect_right(const Forest& forest, const Groups& groups) {
  const auto findings = check(forest.graph(), groups, tables_of(forest));
  for (const auto& finding : findings) RC_LOG(finding + "\n");
  RC_ASSERT(findings.empty());
}

/// The least distance within which a switch has all of these, by plain searches.
uint32_t least_height(const Graph& graph, const std::vector<uint32_t>& switches) {
  std::vector<uint32_t> farthest(graph.switches());
  for (const uint32_t sw : switches) {
    const auto hops = topology::hops_from(graph, sw);
    for (uint32_t i = 0; i < graph.switches(); ++i) farthest[i] = std::max(farthest[i], hops[i]);
  }
  return *std::min_element(farthest.begin(), farthest.end());
}

/// Hops along the tree from its root to the farthest of its ends.
uint32_t walked_height(const Graph& graph, const Tree& tree) {
  std::map<uint32_t, uint32_t> depth{{tree.root, 0}};
  uint32_t deepest = 0;
  for (bool grew = true; grew;) {
    grew = false;
    for (const uint32_t id : tree.links) {
      if (graph.is_host_link(id)) continue;
      const topology::Link& link = graph.link(id);
      const bool has_a = depth.contains(link.a), has_b = depth.contains(link.b);
      if (has_a == has_b) continue;
      const uint32_t far = has_a ? link.b : link.a;
      depth[far] = depth[has_a ? link.a : link.b] + 1;
      grew = true;
    }
  }
  for (const uint32_t id : tree.links)
    if (graph.is_host_link(id)) deepest = std::max(deepest, depth.at(graph.link(id).b));
  return deepest;
}

/// Figures by plain counting.
void expect_figures(const Forest& forest) {
  std::map<uint32_t, uint32_t> efi;
  std::set<uint32_t> colours, shared;
  for (uint32_t group = 0; group < forest.groups(); ++group) {
    if (forest.tree_of(group) == none) continue;
    const Tree& tree = forest.tree(forest.tree_of(group));
    colours.insert(tree.colour);
    for (const uint32_t link : tree.links) efi[link]++;
    if (forest.groups_on(forest.tree_of(group)).size() > 1) shared.insert(group);
  }
  uint32_t most = 0, most_between = 0;
  for (const auto& [link, groups] : efi) {
    most = std::max(most, groups);
    if (!forest.graph().is_host_link(link)) most_between = std::max(most_between, groups);
  }
  const Figures figures = figures_of(forest);
  RC_ASSERT(figures.max_efi == most);
  RC_ASSERT(figures.max_efi_switch == most_between);
  RC_ASSERT(figures.colours_used == colours.size());
  RC_ASSERT(figures.merged_groups == shared.size());
}

TEST(McastRouter, TreesServeTheirGroups) {
  EXPECT_PROPERTY("all groups at once", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const RouterOptions options = test::drawn_options();
    Router router(hops, options);
    const Groups groups = test::drawn_groups(graph);
    router.create_all(groups);
    const Forest& forest = router.forest();
    expect_right(forest, groups);
    expect_figures(forest);
    RC_ASSERT(router.merges() == 0 || options.colours != no_limit);
    for (uint32_t group = 0; group < groups.count(); ++group) {
      RC_ASSERT((forest.tree_of(group) == none) == groups.is_local(group));
      if (forest.tree_of(group) == none) continue;
      const Tree& tree = forest.tree(forest.tree_of(group));
      RC_ASSERT(walked_height(graph, tree) == tree.height);
      if (forest.groups_on(forest.tree_of(group)).size() > 1) continue;
      RC_ASSERT(tree.height == least_height(graph, ends_of(groups.members(group), graph).switches));
    }
  });
}

TEST(McastRouter, AnyOrderOfChanges) {
  EXPECT_PROPERTY("create, join, leave, remove", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    Router router(hops, test::drawn_options());
    std::vector<std::set<uint32_t>> wanted;
    for (uint32_t left = test::number(1, 40); left > 0; --left) {
      const uint32_t host = test::number(0, graph.hosts());
      const uint32_t what = wanted.empty() ? 0 : test::number(0, 8);
      const auto group = wanted.empty() ? 0 : test::number(0, static_cast<uint32_t>(wanted.size()));
      if (what < 2) {
        const auto hosts = test::drawn_hosts(graph);
        RC_ASSERT(router.create(hosts) == wanted.size());
        wanted.emplace_back(hosts.begin(), hosts.end());
      } else if (what < 5) {
        router.join(group, host);
        wanted[group].insert(host);
      } else if (what < 7) {
        router.leave(group, host);
        wanted[group].erase(host);
      } else {
        router.remove(group);
        wanted[group].clear();
      }
      const Groups groups = test::groups_of(router.forest());
      for (uint32_t i = 0; i < wanted.size(); ++i)
        RC_ASSERT((std::vector<uint32_t>(wanted[i].begin(), wanted[i].end()) == router.forest().hosts(i)));
      expect_right(router.forest(), groups);
      expect_figures(router.forest());
    }
  });
}

TEST(McastRouter, GroupsThatComeDoNotMoveOthers) {
  EXPECT_PROPERTY("links of a group's tree stay, with grafts also in a merge", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    RouterOptions options = test::drawn_options();
    options.tables = Tables::of_switch;
    options.merging.how = Merging::How::graft;
    Router router(hops, options);
    for (uint32_t left = test::number(1, 15); left > 0; --left) {
      std::map<uint32_t, std::set<uint32_t>> before;
      for (uint32_t group = 0; group < router.forest().groups(); ++group)
        if (const uint32_t tree = router.forest().tree_of(group); tree != none)
          before[group] = {router.forest().tree(tree).links.begin(), router.forest().tree(tree).links.end()};
      router.create(test::drawn_hosts(graph));
      for (const auto& [group, links] : before) {
        const auto& now = router.forest().tree(router.forest().tree_of(group)).links;
        const std::set<uint32_t> after(now.begin(), now.end());
        RC_ASSERT(std::includes(after.begin(), after.end(), links.begin(), links.end()));
      }
    }
  });
}

TEST(McastRouter, ThreadsChangeNothing) {
  for (const char* kind : {"random", "torus"}) {
    const Graph graph = kind == std::string("random") ? topology::random_fabric(100, 12, 6, 1)
                                                      : topology::torus({6, 6, 5}, 2);
    const Hops hops(graph);
    const Groups groups = load_groups("grid:7x7x7", graph);
    for (const uint32_t colours : {no_limit, 12u}) {
      RouterOptions options;
      options.colours = colours;
      Router one(hops, options);
      one.create_all(groups);
      for (const uint32_t threads : {2u, 3u, 7u}) {
        options.threads = threads;
        const Hops same(graph, threads);
        Router several(same, options);
        several.create_all(groups);
        EXPECT_TRUE(tables_of(several.forest()) == tables_of(one.forest())) << kind << ' ' << threads;
      }
    }
  }
}

TEST(McastRouter, AllGoneLeavesNothing) {
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  Router router(hops, {});
  for (uint32_t i = 0; i < 9; ++i) router.create({i, i + 3, i + 6});
  for (uint32_t i = 0; i < 9; ++i) router.remove(i);
  const Figures figures = figures_of(router.forest());
  EXPECT_EQ(figures.trees, 0u);
  EXPECT_EQ(figures.max_efi, 0u);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    EXPECT_EQ(router.forest().occupancy().switch_load(sw), 0u);
    EXPECT_EQ(*router.forest().occupancy().free_in_switch(sw), ~uint64_t{0});
  }
}

TEST(McastRouter, OneColourIsOneTree) {
  const Graph graph = topology::torus({4, 4, 1}, 1);
  const Hops hops(graph);
  for (const auto how : {Merging::How::rebuild, Merging::How::graft}) {
    RouterOptions options;
    options.colours = 1;
    options.merging.how = how;
    Router router(hops, options);
    for (uint32_t i = 0; i < 4; ++i) router.create({i, i + 12, (i + 1) % 4});
    EXPECT_EQ(figures_of(router.forest()).trees, 1u);
    EXPECT_EQ(figures_of(router.forest()).max_tfi, 4u);
    EXPECT_GT(router.merges(), 0u);
  }
}

TEST(McastRouter, SimilarGroupsAreMerged) {
  // A path: groups at its ends, a third one near the second takes that one's tree.
  const Graph graph = topology::torus({40, 1, 1}, 2);
  const Hops hops(graph);
  RouterOptions options;
  options.colours = 1;
  Router router(hops, options);
  router.create({0, 4});
  router.create({40, 44});
  router.create({41, 45});
  EXPECT_EQ(router.forest().tree_of(2), router.forest().tree_of(1));
  EXPECT_NE(router.forest().tree_of(2), router.forest().tree_of(0));
}

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
    Hops(topology::torus({510, 1, 1}, 1));
    ADD_FAILURE() << "is taken";
  } catch (const Fault& fault) {
    EXPECT_STREQ(fault.what(), "switches are up to 255 links apart, must be at most 254");
  }
}

}  // namespace
}  // namespace weft::mcast
