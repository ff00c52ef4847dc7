// SPDX-License-Identifier: Apache-2.0
// Plain tables of `weft route` through OpenSM's `file` engine: the switches of a simulated subnet hold just
// these, and packets by them alone reach every host that is alive.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "ibsim.hpp"
#include "opensm.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

/// Of each switch, the port to each host, by GUIDs.
using PlainTables = std::map<uint64_t, std::map<uint64_t, uint32_t>>;

/// Files of OpenSM's `file` engine; what dump_lfts prints.
PlainTables parse(const std::string& text) {
  static const std::regex head("Unicast lids .* guid (0x[0-9a-f]+)"),
      entry("0x[0-9a-f]+ +([0-9]+) *: *\\(Channel Adapter portguid (0x[0-9a-f]+)");
  PlainTables tables;
  uint64_t sw = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, head))
      tables[sw = std::stoull(found[1], nullptr, 16)];
    else if (std::regex_search(line, found, entry))
      tables[sw][std::stoull(found[2], nullptr, 16)] = static_cast<uint32_t>(std::stoul(found[1]));
  }
  return tables;
}

class RouteTables : public TemporaryFolder {
 protected:
  static constexpr uint32_t columns = 4, hosts = 2;
  static constexpr const char* switches = "kfat2d:4x4:2";
  static constexpr const char* trees = "kfat2d:4x4:2:2x2";  // in rows and columns

  void SetUp() override {
    if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
    for (const std::string& missing : {Ibsim::missing(), OpenSm::missing()})
      if (!missing.empty()) FAIL() << missing;
  }

  /// "" if a packet of each live host reaches each other by these tables; else what is wrong.
  std::string walk(const PlainTables& tables, const std::vector<uint32_t>& dead) const {
    const auto alive = [&](uint32_t host) {
      return std::find(dead.begin(), dead.end(), host / hosts) == dead.end();
    };
    for (uint32_t from = 0; from < graph_.hosts(); ++from)
      for (uint32_t to = 0; to < graph_.hosts(); ++to)
        if (alive(from) && alive(to))
          if (std::string wrong = way(tables, from, to); !wrong.empty()) return wrong;
    return "";
  }

  std::string way(const PlainTables& tables, uint32_t from, uint32_t to) const {
    const uint32_t home = graph_.attachments(to)[0].link;
    uint32_t at = from / hosts;
    for (uint32_t hops = 0; hops < 16; ++hops) {
      const auto& table = tables.at(graph_.switch_info(at).guid);
      const auto found = table.find(graph_.port_guid(home));
      if (found == table.end()) return fmt::format("{} to {}: no entry in switch {}", from, to, at);
      const uint32_t link = graph_.link_at(at, found->second);
      if (link == home) return "";
      if (link == topology::no_link || graph_.is_host_link(link))
        return fmt::format("{} to {}: leaves switch {} by port {}", from, to, at, found->second);
      at = graph_.link(link).a == at ? graph_.link(link).b : graph_.link(link).a;
    }
    return fmt::format("{} to {}: goes round", from, to);
  }

  /// Dead leaves by number.
  void expect_loaded(const std::vector<uint32_t>& dead, const std::string& spec = switches) {
    graph_ = topology::load(spec);
    std::string command = "route --topology " + spec + " --tables " + path("tables").string();
    if (!dead.empty()) command += " --fail";
    for (const uint32_t leaf : dead) command += fmt::format(" {},{}", leaf / columns, leaf % columns);
    ASSERT_EQ(weft(command).exit_code, 0);
    const auto file = path("tables") / "opensm.lfts";
    const PlainTables wanted = parse(read(file));
    EXPECT_EQ(walk(wanted, dead), "");

    Ibsim ibsim(graph_, path(""));
    ASSERT_TRUE(ibsim.wait()) << ibsim.log();
    for (const uint32_t leaf : dead)
      for (const topology::Arc& arc : graph_.neighbours(leaf)) ibsim.cut(arc.link);
    OpenSm opensm(ibsim, path("opensm"), {"file", "lfts_file " + file.string() + "\n", {}});
    ASSERT_TRUE(opensm.wait()) << opensm.log();
    EXPECT_TRUE(contains(opensm.log(), "file tables configured")) << opensm.log();
    const auto dumped = ibsim.run_inside("dump_lfts");
    ASSERT_EQ(dumped.exit_code, 0) << dumped.output;
    PlainTables held = parse(dumped.output);
    EXPECT_EQ(held.size(), graph_.switches() - dead.size());
    EXPECT_EQ(walk(held, dead), "") << dumped.output;
    for (const auto& [sw, entries] : held) EXPECT_EQ(entries, wanted.at(sw)) << fmt::format("{:x}", sw);
  }

  topology::Graph graph_ = topology::load(switches);
};

TEST_F(RouteTables, WithoutFaults) { expect_loaded({}); }
TEST_F(RouteTables, OneDeadLeaf) { expect_loaded({5}); }
TEST_F(RouteTables, ThreeDeadLeaves) { expect_loaded({6, 9, 15}); }
TEST_F(RouteTables, FatTreesInRowsAndColumns) { expect_loaded({}, trees); }
TEST_F(RouteTables, FatTreesAndADeadLeaf) { expect_loaded({5}, trees); }

}  // namespace
}  // namespace weft::test
