// SPDX-License-Identifier: Apache-2.0
// Trees and colours of all algorithms, through all that can happen to groups, by the independent checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "drawn_groups.hpp"
#include "expect_trees.hpp"
#include "mcast/figures.hpp"
#include "mcast/tables.hpp"
#include "property.hpp"

namespace weft::mcast {
namespace {

using test::expect_figures;
using test::expect_right;
using test::least_height;
using test::walked_height;
using topology::Graph;

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
  const std::map<std::string, Graph> fabrics{{"random", topology::random_fabric(100, 24, 6, 1)},
                                             {"torus", topology::torus({6, 6, 5}, 2)},
                                             {"dragonfly", topology::dragonfly(6, 3, 3)},
                                             {"fat tree", topology::fat_tree(12)}};
  for (const auto& [kind, graph] : fabrics) {
    const Hops hops(graph);
    const Groups groups = load_groups("grid:6x7x8", graph);
    for (const uint32_t colours : {no_limit, 12u}) {
      RouterOptions options;
      options.colours = colours;
      Router one(hops, options);
      one.create_all(groups);
      for (const uint32_t threads : {2u, 3u, 5u}) {
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

}  // namespace
}  // namespace weft::mcast
