// SPDX-License-Identifier: Apache-2.0
// ibsim (Debian: ibsim-utils) loads what is written, and ibnetdiscover (infiniband-diags) finds the same
// fabric in it: same GUIDs, names, ports, links.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ibsim.hpp"
#include "run_weft.hpp"
#include "temporary_folder.hpp"
#include "topology/ibnet.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

using topology::Graph;

Graph dump(const std::string& name) {
  return topology::read_ibnet_file(std::filesystem::path(WEFT_TEST_DATA) / "topology" / name);
}

/// Without rates of links: ibsim's have one of its own.
topology::Parts parts_of(const Graph& graph) {
  topology::Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) parts.switches.push_back(graph.switch_info(sw));
  for (uint32_t host = 0; host < graph.hosts(); ++host) parts.hosts.push_back(graph.host_info(host));
  for (uint32_t id = 0; id < graph.links(); ++id) {
    const topology::Link& link = graph.link(id);
    if (graph.is_host_link(id))
      parts.host_links.push_back({link.a, link.b, link.a_port, link.b_port, graph.port_guid(id)});
    else
      parts.switch_links.push_back({link.a, link.b, link.a_port, link.b_port});
  }
  return parts;
}

Graph without_rates(const Graph& graph) { return Graph(parts_of(graph)); }

/// ibsim counts GUIDs of ports from that of their host, lets routers say that they are hosts, and takes a
/// name to end at its first quotation mark.
Graph as_ibsim_sees(const Graph& graph) {
  topology::Parts parts = parts_of(graph);
  for (topology::Node& host : parts.hosts) {
    host.name = host.name.substr(0, host.name.find('"'));
    host.router = false;
  }
  for (auto& link : parts.host_links) link.port_guid = 0;
  return Graph(std::move(parts));
}

class IbsimLoads : public TemporaryFolder {
 protected:
  void SetUp() override {
    if (const std::string missing = Ibsim::missing(); !missing.empty()) FAIL() << missing;
  }

  void expect_same(const Graph& graph) {
    Ibsim ibsim(graph, path(""));
    ASSERT_TRUE(ibsim.wait()) << ibsim.log();
    const auto run = ibsim.run_inside("ibnetdiscover found");
    ASSERT_EQ(run.exit_code, 0) << run.output << ibsim.log();
    const Graph found = topology::read_ibnet_file(path("found"));
    EXPECT_TRUE(by_guid(without_rates(found)) == by_guid(without_rates(graph))) << read(path("found"));
  }
};

TEST_F(IbsimLoads, FatTree) { expect_same(topology::load("fattree3:4")); }
TEST_F(IbsimLoads, Torus) { expect_same(topology::load("torus3d:3x2x4:2")); }
TEST_F(IbsimLoads, Dragonfly) { expect_same(topology::load("dragonfly:4,2,2")); }
TEST_F(IbsimLoads, Random) { expect_same(topology::load("random:16,9,3,11")); }
TEST_F(IbsimLoads, TwoDimensionalFatTree) { expect_same(topology::load("kfat2d:3x4:2")); }

TEST_F(IbsimLoads, NetlistByHand) { expect_same(dump("by_hand.ibsim")); }
TEST_F(IbsimLoads, DumpOfTwoLeaves) { expect_same(as_ibsim_sees(dump("two_leaves.ibnetdiscover"))); }
TEST_F(IbsimLoads, DumpGroupedByChassis) { expect_same(as_ibsim_sees(dump("chassis.ibnetdiscover"))); }

}  // namespace
}  // namespace weft::test
