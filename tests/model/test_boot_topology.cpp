// SPDX-License-Identifier: Apache-2.0
// Machines that boot, from fabrics.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "boot/bandwidth.hpp"
#include "boot/from_topology.hpp"
#include "boot/multicast.hpp"
#include "boot/nodes.hpp"
#include "drawn_machine.hpp"
#include "property.hpp"
#include "topology/ibnet.hpp"
#include "topology/json.hpp"
#include "topology/spec.hpp"
#include "weft_command.hpp"

namespace weft::boot {
namespace {

/// The graph of a machine, read as a machine again.
TEST(BootTopology, OfAMachineIsThatMachine) {
  EXPECT_PROPERTY("sizes, names and bandwidths are the same", [] {
    Machine machine = drawn_machine();
    machine.failed_servers.clear();
    machine.unequal_servers.clear();
    for (Link& link : machine.links) link.count = 1;
    const bool known = *rc::gen::arbitrary<bool>();  // rates; else they are those that the machine has before
    if (!known)
      for (auto& own : machine.own_mbps) own.clear();
    std::vector<uint32_t> cpus(machine.nodes());
    std::iota(cpus.begin(), cpus.end(), 0);
    std::vector<Sender> senders;
    for (uint32_t server = 0; server < machine.servers; ++server) senders.push_back({server, 1});
    std::vector<uint32_t> hosts(machine.servers);
    std::iota(hosts.begin(), hosts.end(), static_cast<uint32_t>(cpus.size()));

    Machine found;
    std::array<std::optional<double>, segments> told;
    for (uint32_t segment = 0; segment < segments; ++segment) {
      if (known) continue;
      told[segment] = machine.links[segment].mbps;
    }
    take_topology(graph_of(machine, cpus, senders), "drawn", hosts, found, told);
    RC_ASSERT(found.cpus_per_board == machine.cpus_per_board);
    RC_ASSERT(found.boards_per_supernode == machine.boards_per_supernode);
    RC_ASSERT(found.supernodes == machine.supernodes);
    RC_ASSERT(found.edges() == machine.edges());
    RC_ASSERT(found.servers - found.failed_servers.size() == machine.servers);
    for (const uint32_t cpu : cpus) RC_ASSERT(found.node_names[cpu] == "node-" + std::to_string(cpu));
    for (uint32_t segment = 0; segment < 4; ++segment) RC_ASSERT(found.links[segment].count == 1u);
    const auto all = nodes_of("all", found).cpus;
    RC_ASSERT(all == cpus);
    RC_ASSERT(flow_bound(found, all) == flow_bound(machine, cpus));
    for (const uint32_t cpu : cpus) RC_ASSERT(found.link_mbps(0, cpu) == machine.link_mbps(0, cpu));
    for (uint32_t board = 0; board < machine.boards(); ++board)
      RC_ASSERT(found.link_mbps(1, board) == machine.link_mbps(1, board));
    for (uint32_t supernode = 0; supernode < machine.supernodes; ++supernode)
      RC_ASSERT(found.link_mbps(2, supernode) == machine.link_mbps(2, supernode));
    for (uint32_t edge = 0; edge < machine.edges(); ++edge)
      RC_ASSERT(found.link_mbps(3, edge) == machine.link_mbps(3, edge));
  });
}

TEST(BootTopology, PodsOfFatTreesAreSupernodes) {
  const auto graph = topology::load("fattree3:4");
  Machine machine;
  take_topology(graph, "fattree3:4", hosts_of("host-0,0x20000000f0", graph), machine);
  EXPECT_EQ(machine.supernodes, 4u);
  EXPECT_EQ(machine.boards_per_supernode, 2u);
  EXPECT_EQ(machine.cpus_per_board, 2u);
  EXPECT_EQ(machine.links[1].count, 2u);
  EXPECT_EQ(machine.links[2].count, 4u);
  EXPECT_EQ(machine.links[3].count, 2u);
  EXPECT_EQ(machine.server_names, std::vector<std::string>({"host-0", "host-15"}));
  EXPECT_EQ(nodes_of("all", machine).cpus.size(), 14u);
  EXPECT_EQ(machine.node_names[0], "host-1");
  EXPECT_FALSE(machine.has_node(1));
  EXPECT_THROW(nodes_of("1", machine), Fault);
}

/// Leaves and spines only: each leaf is a board and a supernode.
TEST(BootTopology, LeavesBelowOneLevelOfSwitchesAreSupernodes) {
  const auto graph = topology::load("kfat2d:1x3:2");
  Machine machine;
  take_topology(graph, "kfat2d", hosts_of("4,5", graph), machine);
  EXPECT_EQ(machine.supernodes, 2u);
  EXPECT_EQ(machine.boards_per_supernode, 1u);
  EXPECT_EQ(machine.cpus_per_board, 2u);
  EXPECT_EQ(machine.links[2].count, 2u);
  EXPECT_EQ(machine.servers, 2u);
  EXPECT_EQ(machine.servers_per_edge, 2u);
}

std::string refused(const std::function<void()>& work) {
  try {
    work();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

/// Two leaves, one with an old card and two cables up; a spine; a server of its own rate on another switch.
constexpr const char* uneven = R"(
Switch 8 "leaf-0"
[1] "node-0"[1] # 4xHDR
[2] "node-1"[1] # 4xEDR
[7] "spine"[1] # 4xHDR
[8] "spine"[2] # 4xHDR
Switch 8 "leaf-1"
[1] "node-2"[1] # 4xHDR
[8] "spine"[3] # 4xNDR
Switch 8 "spine"
[1] "leaf-0"[7] # 4xHDR
[2] "leaf-0"[8] # 4xHDR
[3] "leaf-1"[8] # 4xEDR
[7] "edge"[1]
Switch 8 "edge"
[1] "spine"[7]
[2] "server-0"[1] # 4xHDR
[3] "server-1"[1] # 4xQDR
Ca 1 "node-0"
[1] "leaf-0"[1]
Ca 1 "node-1"
[1] "leaf-0"[2]
Ca 1 "node-2"
[1] "leaf-1"[1]
Ca 1 "server-0"
[1] "edge"[2]
Ca 1 "server-1"
[1] "edge"[3]
)";

TEST(BootTopology, LinksThatDifferKeepTheirRates) {
  const auto graph = topology::read_ibnet(uneven, "uneven");
  Machine machine;
  machine.links[3].mbps = 10000;
  take_topology(graph, "uneven", {3, 4}, machine);
  EXPECT_EQ(machine.own_mbps[0], std::vector<double>({200000, 100000, 200000, 100000}));
  EXPECT_EQ(machine.own_mbps[1], std::vector<double>({400000, 100000})) << "of cables, of both ends";
  EXPECT_EQ(machine.own_mbps[2], std::vector<double>({400000, 100000}));
  EXPECT_TRUE(machine.own_mbps[3].empty());
  EXPECT_EQ(machine.links[3].total(), 10000) << "nobody has told";
  EXPECT_EQ(machine.server_mbps(0), 200000);
  EXPECT_EQ(machine.server_mbps(1), 32000);
  EXPECT_EQ(bandwidth_of(machine, {0, 1, 2}, {0, 0, 1}).mbps,
            (std::array<double, segments>{100000, 100000, 100000, 10000.0 / 3, 32000}));

  Machine told;
  take_topology(graph, "uneven", {3, 4}, told, {1000, 1000, std::nullopt, std::nullopt, 500});
  EXPECT_TRUE(told.own_mbps[0].empty());
  EXPECT_EQ(told.own_mbps[1], std::vector<double>({2000, 1000}));
  EXPECT_EQ(told.own_mbps[2], std::vector<double>({400000, 100000}));
  EXPECT_EQ(told.server_mbps(1), 500);
}

TEST(BootTopology, OneSwitchLimitsNothing) {
  const auto graph = topology::read_ibnet(
      "Switch 4 \"s\"\n[1] \"a\"[1] # 4xEDR\n[2] \"b\"[1] # 4xEDR\nCa 1 \"a\"\n[1] \"s\"[1]\nCa 1 "
      "\"b\"\n[1] \"s\"[2]\n",
      "one");
  Machine machine;
  take_topology(graph, "one", {1}, machine);
  for (uint32_t segment = 1; segment < 4; ++segment) EXPECT_EQ(machine.link_mbps(segment, 0), 400000);
}

TEST(BootTopology, OthersAreRefused) {
  const auto graph = topology::load("torus3d:3x3x1:1");
  Machine machine;
  EXPECT_TRUE(refused([&] { take_topology(graph, "torus", {0}, machine); })
                  .ends_with("which both have nodes, are joined: only trees of switches and fat trees can be "
                             "planned"));
  const std::string only = ": only trees of switches and fat trees can be planned";
  for (const char* spec : {"torus3d:4x4x4:1", "dragonfly:4,2,2", "random:40,12,6,5", "kfat2d:3x3:2"})
    EXPECT_TRUE(refused([&] { take_topology(topology::load(spec), spec, {0}, machine); }).ends_with(only))
        << spec;
  // a ring of six switches: every second one has nodes, the others have servers
  EXPECT_EQ(refused([&] {
              take_topology(topology::load("torus3d:6x1x1:1"), "ring", {0, 2, 4}, machine);
            }),
            "ring: from 'switch-3-0-0' to 'switch-0-0-0' all ways lead over switches that have nodes" + only);
  // a torus of which only every third switch has nodes
  const auto sparse = topology::load("torus3d:9x1x1:1");
  EXPECT_TRUE(refused([&] { take_topology(sparse, "sparse", {1, 2, 4, 5, 7, 8}, machine); }).ends_with(only));
  const auto small = topology::load("fattree3:2");
  EXPECT_EQ(refused([&] {
              take_topology(small, "tree", {0, 1}, machine);
            }),
            "tree: no host is left that could boot");
}

constexpr const char* good_json = R"({
"switches": [
{"guid": "0x1", "name": "s", "ports": 4}],
"hosts": [
{"guid": "0x10", "name": "a", "ports": 1},
{"guid": "0x20", "name": "b", "ports": 1}],
"switch_links": [],
"host_links": [
{"host": 0, "host_port": 1, "switch": 0, "switch_port": 1, "port_guid": "0x11", "mbps": 25000},
{"host": 1, "host_port": 1, "switch": 0, "switch_port": 2}]}
)";

TEST(TopologyJson, IsReadAndItsFaultsHaveLines) {
  const std::string good = good_json;
  EXPECT_EQ(topology::read_json(good, "net").hosts(), 2u);
  EXPECT_EQ(topology::read_json(good, "net").link(0).mbps, 25000u);
  EXPECT_EQ(topology::read_json(good, "net").link(1).mbps, 0u);
  const auto fault = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refused([&] { topology::read_json(text, "net"); });
  };
  EXPECT_EQ(fault("\"switch_port\": 2}]}", "\"switch_port\": 2}]"), "net:10: is no JSON");
  EXPECT_EQ(fault("\"0x20\"", "\"x\""), "net:6: guid: \"x\" is not 0x and a hexadecimal number");
  EXPECT_EQ(fault("\"host\": 1", "\"host\": 2"), "net:10: host: 2 is not a whole number below 2");
  EXPECT_EQ(fault("\"switch_port\": 1,", "\"switch_port\": -1,"),
            "net:9: switch_port: -1 is not a whole number below 65536");
  EXPECT_EQ(fault("25000", "-1"), "net:9: mbps: -1 is not a whole number below 4294967296");
  EXPECT_EQ(fault("\"host_links\"", "\"links\""), "net:1: no list 'host_links'");
  EXPECT_EQ(fault(",\n{\"host\": 1, \"host_port\": 1, \"switch\": 0, \"switch_port\": 2}", ""),
            "net:6: is not connected with the first switch");
  const auto lids = [&](const std::string& one, const std::string& other) {
    std::string text = good;
    text.replace(text.find("25000"), 5, "25000" + one);
    text.insert(text.rfind("}]}"), other);
    return text;
  };
  const auto read = topology::read_json(lids(R"(, "lid": 8, "lmc": 2)", R"(, "lid": 12)"), "net");
  EXPECT_EQ(read.lids(0), (topology::Lids{8, 2}));
  EXPECT_EQ(read.lids(1), (topology::Lids{12, 0}));
  const auto lid_fault = [&](const std::string& one, const std::string& other) {
    return refused([&] { topology::read_json(lids(one, other), "net"); });
  };
  EXPECT_EQ(lid_fault(R"(, "lid": 8, "lmc": 2)", R"(, "lid": 11)"),
            "net:10: LID 11 is also that of the port in line 9");
  EXPECT_EQ(lid_fault(R"(, "lid": 9, "lmc": 1)", ""), "net:9: LID 9 is no multiple of 2^1, its LMC");
  EXPECT_EQ(lid_fault(R"(, "lid": 49152)", ""), "net:9: lid: 49152 is not a whole number below 49152");
  EXPECT_EQ(lid_fault(R"(, "lid": 8, "lmc": 8)", ""), "net:9: lmc: 8 is not a whole number below 8");
  EXPECT_TRUE(fault("\"name\": \"b\", ", "").starts_with("net:6: ")) << fault("\"name\": \"b\", ", "");
}

TEST(TopologyJson, WhatIsThereTwiceOrNotAtAllHasALine) {
  const auto fault = [](const std::string& from, const std::string& to) {
    std::string text = good_json;
    text.replace(text.find(from), from.size(), to);
    return refused([&] { topology::read_json(text, "net"); });
  };
  EXPECT_EQ(fault("\"0x20\"", "\"0x10\""), "net:6: GUID 0x10 is also that of the node in line 5");
  EXPECT_EQ(fault("\"0x20\"", "\"0x1\""), "net:6: GUID 0x1 is also that of the node in line 3");
  EXPECT_EQ(fault("\"0x20\"", "\"0x0\""), "net:6: \"b\" has GUID 0");
  EXPECT_EQ(fault("\"b\"", R"("b\t")"), "net:6: the name of GUID 0x20 has control characters");
  EXPECT_EQ(fault("\"switch_port\": 2", "\"switch_port\": 1"),
            "net:10: port 1 of \"s\" has a link already, in line 9");
  EXPECT_EQ(fault("\"host\": 1", "\"host\": 0"), "net:10: port 1 of \"a\" has a link already, in line 9");
  EXPECT_EQ(fault("\"switch_port\": 2", "\"switch_port\": 5"), "net:10: port 5 of \"s\", which has 4");
  EXPECT_EQ(fault("\"switch_port\": 2", "\"switch_port\": 0"), "net:10: port 0 of \"s\", which has 4");
  EXPECT_EQ(fault("\"0x11\"", "\"0x21\""), "net:10: port GUID 0x21 is also that of the port in line 9");
  EXPECT_EQ(fault("_links\": []", "_links\": [\n{\"a\": 0, \"a_port\": 3, \"b\": 0, \"b_port\": 4}]"),
            "net:8: a link from \"s\" to itself");
  EXPECT_EQ(fault("_links\": []", "_links\": [7]"), "net:1: switch_links: not all are objects");
}

TEST(TopologyJson, ALinkBetweenSwitchesThatIsThereTwiceHasItsLine) {
  const auto link = [](const std::string& a_port) {
    return "{\"a\": 0, \"a_port\": " + a_port + ", \"b\": 1, \"b_port\": 1}";
  };
  const auto fault = [&](const std::string& second) {
    return refused([&] {
      topology::read_json(
          "{\"switches\": [{\"guid\": \"0x1\", \"name\": \"s\", \"ports\": 4}, "
          "{\"guid\": \"0x2\", \"name\": \"t\", \"ports\": 4}],\n\"hosts\": [],\n"
          "\"switch_links\": [\n" +
              link("1") + ",\n" + second + "], \"host_links\": []}",
          "net");
    });
  };
  EXPECT_EQ(fault(link("1")), "net:5: port 1 of \"s\" has a link already, in line 4");
  EXPECT_EQ(fault(link("2")), "net:5: port 1 of \"t\" has a link already, in line 4");
}

class WeftBootTopology : public test::WeftCommand {
 protected:
  WeftBootTopology() : WeftCommand("boot") {}
};

TEST_F(WeftBootTopology, TakesBothFormats) {
  const auto net = path("net").string(), json = path("net.json").string();
  ASSERT_EQ(test::weft("topology fattree3:4 --format ibnet -o " + net).exit_code, 0);
  ASSERT_EQ(test::weft("topology fattree3:4 --format json -o " + json).exit_code, 0);
  const std::string servers = " --boot-servers host-3,host-12 --mapping";
  const auto from_net = results("--topology file:" + net + servers);
  EXPECT_EQ(from_net["nodes"], 14);
  EXPECT_EQ(from_net["mapping"]["node_names"][0], "host-0");
  EXPECT_EQ(from_net["mapping"]["server_names"], nlohmann::json({"host-3", "host-12"}));
  EXPECT_EQ(results("--topology file:" + json + servers), from_net);
  auto text = read(net);
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1))
    text.insert(text.find('\n', at), " # 4xHDR");  // hosts' links
  const auto fast = write("fast", text).string();
  const auto mbps = [&](const std::string& more) {
    return results("--topology file:" + fast + servers + more)["segment_mbps_per_cpu"];
  };
  EXPECT_EQ(mbps("")[0], 200000);
  EXPECT_EQ(mbps("")[4], 200000.0 / 7);
  EXPECT_EQ(mbps(" --n1-mbps 500")[0], 500);
  EXPECT_EQ(mbps(" --n5-mbps 700 --n5-count 2")[4], 200);
  EXPECT_EQ(mbps("")[1], 1000) << "two links that nobody has told about";
  expect_bad(
      "--topology torus3d:3x3x1:1 --boot-servers 0",
      "torus3d:3x3x1:1: 'switch-1-0-0' and 'switch-2-0-0', which both have nodes, are joined: only trees "
      "of switches and fat trees can be planned");
  const auto nodes = write("nodes", "host-1\nhost-5\n");
  EXPECT_EQ(results("--topology fattree3:4 --nodes file:" + nodes.string() + servers)["nodes"], 2);
}

TEST_F(WeftBootTopology, NamesFileAndLineOfWhatIsWrong) {
  const auto servers = write("servers", "# two\nhost-0\nhost-99\n").string();
  expect_bad("--topology fattree3:4 --boot-servers file:" + servers,
             servers + ":3: there is no host 'host-99'");
  const auto twice = write("twice", "host-0\nhost-1, host-0\n").string();
  expect_bad("--topology fattree3:4 --boot-servers file:" + twice,
             twice + ":2: host 'host-0' is there twice");
  expect_bad("--topology fattree3:4 --boot-servers 77",
             "--boot-servers 77: there is no host 77, only 0 to 15");
  const auto net = write("net", "Switch 4 \"S-1\"\n[1] \"H-1\"[1]\n[9] \"H-2\"[1]\n").string();
  const auto finished = run("--topology file:" + net + " --boot-servers 0");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(finished.output.starts_with("weft: " + net + ":3: ")) << finished.output;
  const auto nodes = write("nodes", "host-1\nhost-0\n").string();
  expect_bad("--topology fattree3:4 --boot-servers host-0 --nodes file:" + nodes,
             nodes + ":2: there is no node 'host-0'");
  EXPECT_EQ(run("--topology fattree3:4").exit_code, 2);
  EXPECT_EQ(run("--topology fattree3:4 --boot-servers 0 --cpus 4").exit_code, 2);
}

}  // namespace
}  // namespace weft::boot
