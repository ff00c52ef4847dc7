// SPDX-License-Identifier: Apache-2.0
// Tables that are there, read back as trees, and groups that have changed since.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "drawn_groups.hpp"
#include "expect_trees.hpp"
#include "mcast/changes.hpp"
#include "property.hpp"

namespace weft::mcast {
namespace {

using test::expect_figures;
using test::expect_right;
using test::number;
using topology::Graph;

Forest routed(const Hops& hops, const RouterOptions& options, const Groups& groups) {
  Router router(hops, options);
  router.create_all(groups);
  return std::move(router).forest();
}

std::vector<uint32_t> members(const Groups& groups, uint32_t group) {
  return {groups.members(group).begin(), groups.members(group).end()};
}

/// Some as before, some with other members, some gone, some new, in another order.
Groups drawn_change(const Groups& old, const Graph& graph) {
  Groups now;
  for (uint32_t group = old.count(); group-- > 0;) {
    auto hosts = members(old, group);
    const uint32_t what = number(0, 6);
    if (what == 0) continue;
    if (what == 1) hosts.pop_back();
    if (what == 2) hosts.push_back(number(0, graph.hosts()));
    if (hosts.empty()) continue;
    now.add(hosts);
    if (what == 3) now.add(test::drawn_hosts(graph));
  }
  if (now.count() == 0) now.add(test::drawn_hosts(graph));
  return now;
}

std::set<uint32_t> links_of(const Forest& forest, uint32_t group) {
  const auto& links = forest.tree(forest.tree_of(group)).links;
  return {links.begin(), links.end()};
}

TEST(McastChanges, TablesAreTreesAgain) {
  EXPECT_PROPERTY("tables of trees of tables", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Groups groups = test::drawn_groups(graph);
    const Forest forest = routed(hops, test::drawn_options(), groups);
    const FabricTables tables = tables_of(forest);
    const Forest again = forest_of(graph, groups, tables);
    const FabricTables same = tables_of(again);
    expect_figures(again);
    RC_ASSERT(same.switches == tables.switches);
    RC_ASSERT(same.kind == tables.kind && same.limit == tables.limit);
    for (uint32_t group = 0; group < groups.count(); ++group) {
      RC_ASSERT(same.groups[group].colour == tables.groups[group].colour);
      if (again.tree_of(group) == none) continue;
      RC_ASSERT(links_of(again, group) == links_of(forest, group));
      auto shared = forest.groups_on(forest.tree_of(group));
      std::sort(shared.begin(), shared.end());
      RC_ASSERT(again.groups_on(again.tree_of(group)) == shared);
    }
  });
}

TEST(McastChanges, ServeTheGroupsThereAreNow) {
  EXPECT_PROPERTY("some join, leave, come and go", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Groups old = test::drawn_groups(graph);
    const RouterOptions options = test::drawn_options();
    const Forest before = routed(hops, options, old);
    const Groups now = drawn_change(old, graph);
    Changes changes;
    const Forest after = with_changes(hops, options, before, old, now, changes);
    expect_right(after, now);
    expect_figures(after);
    RC_ASSERT(changes.same + changes.changed + changes.gone == old.count());
    RC_ASSERT(changes.same + changes.changed + changes.fresh == now.count());
  });
}

/// With as many colors as anyone wants nothing is merged, so nothing is in the way of a tree. Those that
/// are there may have been made in another way.
TEST(McastChanges, LeaveTreesWhereTheyAre) {
  EXPECT_PROPERTY("groups that are the same keep tree and color", [] {
    const Graph graph = test::drawn_fabric();
    const Hops hops(graph);
    const Groups old = test::drawn_groups(graph);
    RouterOptions options = test::drawn_options(), other = test::drawn_options();
    options.colours = other.colours = no_limit;
    other.tables = options.tables;
    const Forest before = routed(hops, other, old);
    const Groups now = drawn_change(old, graph);
    Changes changes;
    const Forest after = with_changes(hops, options, before, old, now, changes);
    std::map<std::vector<uint32_t>, std::multiset<std::pair<uint32_t, std::set<uint32_t>>>> there;
    for (uint32_t group = 0; group < old.count(); ++group)
      if (!old.is_local(group))
        there[members(old, group)].insert(
            {before.tree(before.tree_of(group)).colour, links_of(before, group)});
    std::map<std::vector<uint32_t>, uint32_t> left;
    for (uint32_t group = 0; group < old.count(); ++group) left[members(old, group)]++;
    uint32_t same = 0;
    for (uint32_t group = 0; group < now.count(); ++group) {
      uint32_t& count = left[members(now, group)];
      if (count == 0) continue;
      count--;
      same++;
      if (now.is_local(group)) continue;
      RC_ASSERT(there[members(now, group)].contains(
          {after.tree(after.tree_of(group)).colour, links_of(after, group)}));
    }
    RC_ASSERT(changes.same == same);
  });
}

/// Groups that were removed have no hosts.
TEST(McastChanges, AForestWithGroupsThatAreGoneIsTakenOver) {
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  Router first(hops, {});
  for (uint32_t i = 0; i < 3; ++i) first.create({i, i + 4, i + 8});
  first.remove(1);
  Router second(hops, {});
  second.adopt(first.forest());
  EXPECT_EQ(second.forest().tree_of(1), none);
  EXPECT_TRUE(tables_of(second.forest()).switches == tables_of(first.forest()).switches);
}

TEST(McastChanges, HalfTheMembersMakeAGroupTheSame) {
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  Groups old, now;
  old.add({0, 4, 8, 12});
  old.add({1, 5});
  old.add({3, 7, 11});
  now.add({1, 5, 9, 13, 15});    // two of five: new
  now.add({0, 4, 8, 12, 2, 6});  // four of six: changed
  now.add({3, 7, 14});           // two of four: changed
  const Forest before = routed(hops, {}, old);
  Changes changes;
  const Forest after = with_changes(hops, {}, before, old, now, changes);
  EXPECT_EQ(changes.same, 0u);
  EXPECT_EQ(changes.changed, 2u);
  EXPECT_EQ(changes.gone, 1u);
  EXPECT_EQ(changes.fresh, 1u);
  const auto links = links_of(before, 0), more = links_of(after, 1);
  EXPECT_TRUE(std::includes(more.begin(), more.end(), links.begin(), links.end()));
}

TEST(McastChanges, OfSeveralTheMostSimilarIsTheSame) {
  const Graph graph = topology::fat_tree(4);
  const Hops hops(graph);
  Groups old, now;
  old.add({0, 4, 5, 6});   // three of six
  old.add({0, 4, 8, 12});  // four of five
  now.add({0, 4, 5, 8, 12});
  const Forest before = routed(hops, {}, old);
  ASSERT_NE(before.tree(before.tree_of(0)).colour, before.tree(before.tree_of(1)).colour);
  Changes changes;
  const Forest after = with_changes(hops, {}, before, old, now, changes);
  EXPECT_EQ(changes.changed, 1u);
  EXPECT_EQ(changes.gone, 1u);
  EXPECT_EQ(after.tree(after.tree_of(0)).colour, before.tree(before.tree_of(1)).colour);
}

}  // namespace
}  // namespace weft::mcast
