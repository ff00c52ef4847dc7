// SPDX-License-Identifier: Apache-2.0
// Trees of groups that come, change and go: valid, spread, and forgotten when their group has gone.
#include "opensm/group_trees.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "mcast/baselines.hpp"
#include "mcast/checker.hpp"
#include "mcast/figures.hpp"
#include "mcast/groups.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

using opensm::GroupTrees;
using opensm::Members;
using topology::Graph;

Members members_of(const Graph& graph, std::span<const uint32_t> hosts) {
  Members members;
  for (const uint32_t host : hosts) members.host_links.push_back(graph.attachments(host).front().link);
  return members;
}

/// All groups, one after the other.
class Built {
 public:
  Built(const std::string& spec, const std::string& groups)
      : graph(topology::load(spec)), groups(mcast::load_groups(groups, graph)), trees(graph) {
    tables.switches.resize(graph.switches());
    for (uint32_t group = 0; group < this->groups.count(); ++group) add(group);
  }

  uint32_t largest_efi() const {
    std::map<uint32_t, uint32_t> efi;
    uint32_t largest = 0;
    for (uint32_t sw = 0; sw < graph.switches(); ++sw)
      for (const auto& entry : tables.switches[sw])
        for (const uint16_t port : entry.ports)
          if (const uint32_t link = graph.link_at(sw, port); !graph.is_host_link(link))
            largest = std::max(largest, ++efi[link]);
    return largest / 2;  // each link is in the tables of both ends
  }

  Graph graph;
  mcast::Groups groups;
  GroupTrees trees;
  mcast::FabricTables tables;

 private:
  void add(uint32_t group) {
    for (const auto& [sw, mask] : trees.build(group, members_of(graph, groups.members(group)))) {
      mcast::TableEntry entry{group, {}};
      mask.for_each([&entry](uint32_t port) { entry.ports.push_back(static_cast<uint16_t>(port)); });
      tables.switches[sw].push_back(entry);
    }
    const bool local = groups.is_local(group);
    tables.groups.push_back({local ? mcast::none : group, local ? mcast::none : group});
  }
};

uint32_t largest_efi(const Built& built, mcast::Baseline baseline) {
  const mcast::Hops hops(built.graph);
  mcast::Forest forest(built.graph, mcast::no_limit, mcast::Tables::of_switch);
  route_baseline(forest, hops, built.groups, baseline);
  return figures_of(forest).max_efi_switch;
}

void expect_spread(const std::string& spec, const std::string& groups, uint32_t efi) {
  const Built built(spec, groups);
  const auto findings = mcast::check(built.graph, built.groups, built.tables);
  EXPECT_TRUE(findings.empty()) << findings.front();
  EXPECT_LE(built.largest_efi(), efi) << spec << " " << groups;
  EXPECT_LE(built.largest_efi(), largest_efi(built, mcast::Baseline::minhop)) << spec << " " << groups;
  EXPECT_LE(built.largest_efi(), largest_efi(built, mcast::Baseline::sssp)) << spec << " " << groups;
}

TEST(GroupTrees, AreSpread) {
  expect_spread("fattree3:8", "grid:16x8", 2);
  expect_spread("torus3d:4x4x4:1", "grid:8x8", 2);
  expect_spread("torus3d:8x8x8:2", "grid:10x10x10", 9);
  expect_spread("dragonfly:4,2,2", "grid:9x8", 4);
  expect_spread("random:16,24,8,1", "grid:16x8", 8);
  expect_spread("random:128,24,8,1", "grid:16x16x4", 11);
}

TEST(GroupTrees, AreForgottenWithTheirGroup) {
  const Graph graph = topology::load("fattree3:4");
  GroupTrees trees(graph);
  const std::vector<uint32_t> hosts{0, 15};
  const auto first = trees.build(7, members_of(graph, hosts));
  EXPECT_EQ(trees.build(7, members_of(graph, hosts)), first) << "its own old tree does not count";
  EXPECT_EQ(trees.groups(), std::vector<uint32_t>{7});
  EXPECT_NE(trees.build(8, members_of(graph, hosts)), first) << "goes another way";
  trees.remove(7);
  trees.remove(8);
  EXPECT_EQ(trees.build(9, members_of(graph, hosts)), first);
  EXPECT_TRUE(trees.build(9, members_of(graph, std::span(hosts).first(1))).empty());
  EXPECT_TRUE(trees.groups().empty());
}

TEST(GroupTrees, SwitchesCanBeMembers) {
  const Graph graph = topology::load("fattree3:4");
  GroupTrees trees(graph);
  const std::vector<uint32_t> hosts{0};
  Members members = members_of(graph, hosts);
  members.switches = {19};  // a core switch
  const auto built = trees.build(1, members);
  ASSERT_EQ(built.size(), 3u);
  EXPECT_EQ(built.back().first, 19u);
  EXPECT_TRUE(built.back().second.test(0));
  EXPECT_EQ(built.back().second.count(), 2u);
}

}  // namespace
}  // namespace weft::test
