// SPDX-License-Identifier: Apache-2.0
// libweftmcast.so in Debian's own opensm: trees for groups that hosts have joined, walked and checked, beside
// those of stock engines for the same groups.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ibsim.hpp"
#include "mcast/checker.hpp"
#include "opensm.hpp"
#include "read_back.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"
#include "walk.hpp"

namespace weft::test {
namespace {

using mcast::ForwardingTables;

OpenSm::Options with_plugin(const std::string& options = "") {
  return {"weft",
          "event_plugin_name weftmcast\n" + (options.empty() ? "" : "event_plugin_options " + options + "\n"),
          {{"LD_LIBRARY_PATH", WEFT_PLUGIN_FOLDER}}};
}

/// Tables as the checker of `weft mcast` takes them, a tree for each group.
mcast::FabricTables as_fabric_tables(const topology::Graph& graph, const ForwardingTables& tables,
                                     const std::vector<uint16_t>& mlids) {
  mcast::FabricTables result;
  result.switches.resize(graph.switches());
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const auto entries = tables.find(graph.switch_info(sw).guid);
    if (entries == tables.end()) continue;
    for (const auto& [mlid, mask] : entries->second) {
      mcast::TableEntry entry{static_cast<uint32_t>(mlid - mcast::first_mlid), {}};
      mask.for_each([&entry](uint32_t port) { entry.ports.push_back(static_cast<uint16_t>(port)); });
      result.switches[sw].push_back(entry);
    }
  }
  for (uint32_t group = 0; group < mlids.size(); ++group)
    result.groups.push_back({static_cast<uint32_t>(mlids[group] - mcast::first_mlid), group});
  return result;
}

/// Lines of a grid of hosts, each one a group: A x B hosts, in the order of hosts.
std::vector<Members> grid(uint32_t a, uint32_t b) {
  std::vector<Members> groups;
  for (uint32_t y = 0; y < b; ++y) {
    groups.emplace_back();
    for (uint32_t x = 0; x < a; ++x) groups.back().push_back(x + a * y);
  }
  for (uint32_t x = 0; x < a; ++x) {
    groups.emplace_back();
    for (uint32_t y = 0; y < b; ++y) groups.back().push_back(x + a * y);
  }
  return groups;
}

class Plugin : public TemporaryFolder {
 protected:
  void SetUp() override {
    if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
    for (const std::string& missing : {Ibsim::missing(), OpenSm::missing()})
      if (!missing.empty()) FAIL() << missing;
  }

  /// What an engine makes of these groups, checked.
  ForwardingTables tables_of(const topology::Graph& graph, const std::string& folder,
                             const OpenSm::Options& options, const std::vector<Members>& members) {
    Ibsim ibsim(graph, path(""));
    EXPECT_TRUE(ibsim.wait()) << ibsim.log();
    OpenSm opensm(ibsim, path(folder), options);
    EXPECT_TRUE(opensm.wait()) << opensm.log();
    EXPECT_TRUE(contains(opensm.log(), options.engine + " tables configured")) << opensm.log();
    const auto mlids = opensm.join(members);
    if (!mlids) {
      ADD_FAILURE() << opensm.log();
      return {};
    }
    ForwardingTables tables = opensm.dump();
    EXPECT_TRUE(wait_until(20, [&] { return read_back(ibsim) == tables; }));
    mcast::Groups groups;
    for (uint32_t group = 0; group < members.size(); ++group) {
      groups.add(members[group]);
      EXPECT_EQ(walk(graph, tables, (*mlids)[group], members[group]), "");
    }
    for (const std::string& finding : mcast::check(graph, groups, as_fabric_tables(graph, tables, *mlids)))
      ADD_FAILURE() << finding;
    return tables;
  }

  void compare(const std::string& spec, const std::vector<Members>& members) {
    const auto graph = topology::load(spec);
    std::map<std::string, LargestEfi> efi;
    for (const std::string engine : {"minhop", "sssp"})
      efi[engine] = largest_efi(graph, tables_of(graph, engine, {engine, "", {}}, members));
    efi["weft"] = largest_efi(graph, tables_of(graph, "weft", with_plugin(), members));
    for (const auto& [engine, largest] : efi) {
      fmt::print("{}, {} groups, {}: largest EFI {}, between switches {}\n", spec, members.size(), engine,
                 largest.all, largest.between_switches);
      RecordProperty(engine, static_cast<int>(largest.between_switches));
      EXPECT_LE(efi["weft"].between_switches, largest.between_switches) << engine;
    }
  }
};

TEST_F(Plugin, SpreadsTreesOnAFatTree) { compare("fattree3:8", grid(16, 8)); }
TEST_F(Plugin, SpreadsTreesOnATorus) { compare("torus3d:4x4x4:1", grid(8, 8)); }
TEST_F(Plugin, SpreadsTreesOnADragonfly) { compare("dragonfly:4,2,2", grid(9, 8)); }
TEST_F(Plugin, SpreadsTreesOnARandomFabric) { compare("random:16,24,8,1", grid(16, 8)); }

TEST_F(Plugin, FollowsGroupsThatChange) {
  const auto graph = topology::load("fattree3:4");
  Ibsim ibsim(graph, path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), with_plugin());
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  const auto mlids = opensm.join({{0, 5, 9}, {0, 5}, {3, 12}});
  ASSERT_TRUE(mlids) << opensm.log();
  const auto becomes = [&](uint32_t group, const Members& members) {
    return wait_until(20, [&] {
      const ForwardingTables tables = read_back(ibsim);
      if (members.size() > 1) return walk(graph, tables, (*mlids)[group], members).empty();
      return renamed(tables, {(*mlids)[group]}, {0xc000}).empty();
    });
  };
  EXPECT_EQ(opensm.change("leave", 0, {9}), "");
  EXPECT_TRUE(becomes(0, {0, 5}));
  EXPECT_EQ(opensm.change("join", 0, {14}), "");
  EXPECT_TRUE(becomes(0, {0, 5, 14}));
  EXPECT_EQ(opensm.change("leave", 1, {0, 5}), "");
  EXPECT_TRUE(becomes(1, {}));
  EXPECT_EQ(opensm.change("leave", 2, {3}), "");
  EXPECT_TRUE(becomes(2, {12}));
}

TEST_F(Plugin, BuildsAnewAfterASweep) {
  const auto graph = topology::load("torus3d:4x3x1:2");
  Ibsim ibsim(graph, path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), with_plugin());
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  const std::vector<Members> groups{{0, 5, 9}, {0, 5}, {3, 12, 20}};
  const auto mlids = opensm.join(groups);
  ASSERT_TRUE(mlids) << opensm.log();
  opensm.sweep();
  ASSERT_TRUE(wait_until(20, [&] {
    return count(opensm.log(), "weftmcast: multicast trees on 12 switches") == 2;
  })) << opensm.log();
  EXPECT_TRUE(wait_until(20, [&] {
    const ForwardingTables tables = read_back(ibsim);
    for (uint32_t group = 0; group < groups.size(); ++group)
      if (!walk(graph, tables, (*mlids)[group], groups[group]).empty()) return false;
    return true;
  }));
}

/// Without one of its links between switches.
topology::Graph without(const topology::Graph& graph, uint32_t link) {
  topology::Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) parts.switches.push_back(graph.switch_info(sw));
  for (uint32_t id = 0; id < graph.switch_links(); ++id)
    if (id != link) parts.switch_links.push_back(graph.link(id));
  for (uint32_t host = 0; host < graph.hosts(); ++host) {
    const topology::Link& cable = graph.link(graph.attachments(host).front().link);
    parts.hosts.push_back(graph.host_info(host));
    parts.host_links.push_back({host, cable.b, cable.a_port, cable.b_port, 0});
  }
  return topology::Graph(std::move(parts));
}

uint32_t most_used_link(const topology::Graph& graph, const ForwardingTables& tables) {
  std::vector<uint32_t> trees(graph.switch_links());
  for (uint32_t id = 0; id < graph.switch_links(); ++id)
    for (const auto& [mlid, mask] : tables.at(graph.switch_info(graph.link(id).a).guid))
      trees[id] += mask.test(graph.link(id).a_port) ? 1 : 0;
  return static_cast<uint32_t>(std::max_element(trees.begin(), trees.end()) - trees.begin());
}

TEST_F(Plugin, LeadsTreesAroundALinkThatDies) {
  const auto graph = topology::load("torus3d:4x4x1:2");
  Ibsim ibsim(graph, path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), with_plugin());
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  const auto members = grid(8, 4);
  const auto mlids = opensm.join(members);
  ASSERT_TRUE(mlids) << opensm.log();
  mcast::Groups groups;
  for (const Members& group : members) groups.add(group);
  const auto findings = [&](const topology::Graph& fabric) {
    return mcast::check(fabric, groups, as_fabric_tables(fabric, read_back(ibsim), *mlids));
  };
  ASSERT_TRUE(wait_until(20, [&] { return findings(graph).empty(); }));

  const uint32_t dead = most_used_link(graph, opensm.dump());
  const auto rest = without(graph, dead);
  EXPECT_FALSE(findings(rest).empty()) << "trees use this link";
  ibsim.cut(dead);
  opensm.sweep();
  EXPECT_TRUE(wait_until(20, [&] { return findings(rest).empty(); })) << findings(rest).front();
}

TEST_F(Plugin, LeavesUnicastToAStockEngine) {
  const auto graph = topology::load("fattree3:4");
  Ibsim ibsim(graph, path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  std::map<std::string, std::string> unicast;
  for (const std::string engine : {"minhop", "sssp", "updn"}) {
    OpenSm stock(ibsim, path("stock-" + engine), {engine, "", {}});
    ASSERT_TRUE(stock.wait()) << stock.log();
    stock.stop();
    OpenSm plugin(ibsim, path("plugin-" + engine), with_plugin("unicast=" + engine));
    ASSERT_TRUE(plugin.wait()) << plugin.log();
    EXPECT_TRUE(contains(plugin.log(), "weft tables configured")) << plugin.log();
    unicast[engine] = read(path("plugin-" + engine) / "opensm-lfts.dump");
    EXPECT_EQ(unicast[engine], read(path("stock-" + engine) / "opensm-lfts.dump")) << engine;
  }
  EXPECT_NE(unicast["minhop"], unicast["sssp"]);
}

TEST_F(Plugin, OtherUnicastEnginesLeaveMinHop) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  const std::map<std::string, std::string> complaints{
      {"nonsense", "there is no unicast engine 'nonsense'"},
      {"dfsssp", "unicast engine 'dfsssp' needs service levels of its own, which weft has not"}};
  for (const auto& [engine, complaint] : complaints) {
    OpenSm opensm(ibsim, path(engine), with_plugin("unicast=" + engine));
    ASSERT_TRUE(opensm.wait()) << opensm.log();
    EXPECT_TRUE(contains(opensm.log(), "weftmcast: " + complaint)) << opensm.log();
    EXPECT_TRUE(contains(opensm.log(), "minhop tables configured")) << opensm.log();
  }
}

}  // namespace
}  // namespace weft::test
