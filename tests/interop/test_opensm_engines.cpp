// SPDX-License-Identifier: Apache-2.0
// The baselines minhop and sssp beside stock OpenSM: equal tables, entry by entry, on the same netlist for
// the same groups.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ibsim.hpp"
#include "mcast/baselines.hpp"
#include "mcast/checker.hpp"
#include "mcast/mcfdbs.hpp"
#include "mcast/tables.hpp"
#include "opensm.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"
#include "walk.hpp"

namespace weft::test {
namespace {

struct Case {
  const char* name;
  std::string spec, engine;
  uint32_t groups, seed;
  uint32_t thinned = 1;  ///< of most hosts only one in this many is left
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.spec << " " << one.engine; }

/// With fewer hosts: those of the first switches are all left, of the others one in `one_in`.
topology::Graph thinned(const topology::Graph& graph, uint32_t one_in) {
  topology::Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) parts.switches.push_back(graph.switch_info(sw));
  for (uint32_t id = 0; id < graph.switch_links(); ++id) parts.switch_links.push_back(graph.link(id));
  for (uint32_t host = 0; host < graph.hosts(); ++host) {
    if (host % one_in != 0 && host >= graph.hosts() / 8) continue;
    const topology::Link& link = graph.link(graph.attachments(host).front().link);
    parts.host_links.push_back(
        {static_cast<uint32_t>(parts.hosts.size()), link.b, link.a_port, link.b_port, 0});
    parts.hosts.push_back(graph.host_info(host));
  }
  return topology::Graph(std::move(parts));
}

/// Groups of two to many hosts.
std::vector<Members> drawn_groups(const topology::Graph& graph, uint32_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Members> groups;
  for (uint32_t group = 0; group < count; ++group) {
    const uint32_t most = std::min(graph.hosts(), group % 4 == 0 ? 40u : 8u);
    const uint32_t size = 2 + random() % (most - 1);
    std::vector<bool> taken(graph.hosts(), false);
    Members members;
    while (members.size() < size) {
      const auto host = static_cast<uint32_t>(random() % graph.hosts());
      if (taken[host]) continue;
      taken[host] = true;
      members.push_back(host);
    }
    groups.push_back(members);
  }
  return groups;
}

mcast::ForwardingTables baseline(const topology::Graph& graph, const std::vector<Members>& members,
                                 const std::vector<uint16_t>& mlids, const std::string& engine) {
  mcast::Groups groups;
  for (const Members& group : members) groups.add(group);
  const mcast::Hops hops(graph);
  mcast::Forest forest(graph, mcast::no_limit, mcast::Tables::of_switch);
  route_baseline(forest, hops, groups, engine == "minhop" ? mcast::Baseline::minhop : mcast::Baseline::sssp);
  const mcast::FabricTables tables = mcast::tables_of(forest);
  EXPECT_TRUE(mcast::check(graph, groups, tables).empty());
  std::vector<uint16_t> colours;
  for (const auto& use : tables.groups) colours.push_back(static_cast<uint16_t>(0xc000 + use.colour));
  return renamed(mcast::read_mcfdbs(write_mcfdbs(tables, graph), "tables"), colours, mlids);
}

class OpenSmEngines : public TemporaryFolder, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
    for (const std::string& missing : {Ibsim::missing(), OpenSm::missing()})
      if (!missing.empty()) FAIL() << missing;
  }
};

TEST_P(OpenSmEngines, EqualStockOpenSm) {
  const Case& one = GetParam();
  const auto graph = thinned(topology::load(one.spec), one.thinned);
  const std::vector<Members> groups = drawn_groups(graph, one.groups, one.seed);
  Ibsim ibsim(graph, path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), {one.engine, "", {}});
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  ASSERT_TRUE(contains(opensm.log(), one.engine + " tables configured")) << opensm.log();
  const auto mlids = opensm.join(groups);
  ASSERT_TRUE(mlids) << opensm.log();

  const mcast::ForwardingTables expected = baseline(graph, groups, *mlids, one.engine);
  const mcast::ForwardingTables dump = opensm.dump();
  uint32_t different = 0;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    EXPECT_EQ(walk(graph, dump, (*mlids)[group], groups[group]), "");
    different += renamed(dump, {(*mlids)[group]}, {0xc000}) != renamed(expected, {(*mlids)[group]}, {0xc000});
  }
  EXPECT_EQ(different, 0u) << "of " << groups.size() << " groups";
  EXPECT_TRUE(dump == expected);
}

INSTANTIATE_TEST_SUITE_P(All, OpenSmEngines,
                         ::testing::Values(Case{"FatTreeMinHop", "fattree3:8", "minhop", 60, 1},
                                           Case{"FatTreeSssp", "fattree3:8", "sssp", 60, 2},
                                           Case{"TorusMinHop", "torus3d:4x4x4:1", "minhop", 60, 3},
                                           Case{"TorusSssp", "torus3d:4x4x4:1", "sssp", 60, 4},
                                           Case{"OddTorusMinHop", "torus3d:5x3x2:2", "minhop", 60, 5},
                                           Case{"OddTorusSssp", "torus3d:5x3x2:2", "sssp", 60, 6},
                                           Case{"RandomMinHop", "random:40,12,5,1", "minhop", 60, 7},
                                           Case{"RandomSssp", "random:40,12,5,1", "sssp", 60, 8},
                                           Case{"RandomManyLinksSssp", "random:6,30,8,3", "sssp", 60, 9},
                                           Case{"DragonflyMinHop", "dragonfly:4,2,2", "minhop", 60, 10},
                                           Case{"DragonflySssp", "dragonfly:4,2,2", "sssp", 60, 11},
                                           Case{"TwoDimensionalSssp", "kfat2d:5x4:3", "sssp", 60, 12},
                                           Case{"UnevenTorusSssp", "torus3d:4x4x4:1", "sssp", 40, 15, 9},
                                           Case{"RingSssp", "torus3d:9x1x1:1", "sssp", 10, 20, 4},
                                           Case{"UnevenRandomSssp", "random:40,12,5,1", "sssp", 60, 16, 5},
                                           Case{"UnevenRandomMinHop", "random:40,12,5,1", "minhop", 60, 17,
                                                5},
                                           Case{"UnevenDragonflySssp", "dragonfly:4,2,2", "sssp", 60, 18, 7},
                                           Case{"UnevenFatTreeSssp", "fattree3:8", "sssp", 60, 19, 6},
                                           Case{"ManySwitchesMinHop", "torus3d:7x7x6:1", "minhop", 40, 13},
                                           Case{"ManySwitchesSssp", "torus3d:7x7x6:1", "sssp", 40, 14}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace weft::test
