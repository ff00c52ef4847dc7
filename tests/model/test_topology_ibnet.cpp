// SPDX-License-Identifier: Apache-2.0
// Fabrics in the format of ibnetdiscover and ibsim: what is written is read again as it was, dumps as real
// fabrics give them are understood.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "drawn_graph.hpp"
#include "property.hpp"
#include "topology/generate.hpp"
#include "topology/ibnet.hpp"
#include "topology/spec.hpp"

namespace weft::topology {
namespace {

// --- there and back

TEST(Ibnet, WhatIsWrittenIsReadAgain) {
  EXPECT_PROPERTY("there and back", [] {
    const Graph graph = test::drawn_graph();
    RC_ASSERT(read_ibnet(write_ibnet(graph), "text") == graph);
  });
}

TEST(Ibnet, GeneratedFabricsThereAndBack) {
  for (const char* spec : {"fattree3:8", "torus3d:4x2x1:3", "dragonfly:4,2,2", "random:40,12,6,5",
                           "bluelight", "kfat2d:3x5:2", "kfat2d:4x2:2:2x3"}) {
    const Graph graph = load(spec);
    EXPECT_TRUE(read_ibnet(write_ibnet(graph), "text") == graph) << spec;
  }
}

TEST(Ibnet, WrittenAsIbnetdiscoverWould) {
  EXPECT_EQ(write_ibnet(kfat2d(1, 1, 1)),
            "#\n# Topology file: written by weft\n#\n"
            "\nswitchguid=0x1000000000(1000000000)\n"
            "Switch\t3 \"S-0000001000000000\"\t\t# \"leaf-0-0\" base port 0 lid 0 lmc 0\n"
            "[1]\t\"H-0000002000000000\"[1](2000000001)\n"
            "[2]\t\"S-0000001000000001\"[1]\n"
            "[3]\t\"S-0000001000000002\"[1]\n"
            "\nswitchguid=0x1000000001(1000000001)\n"
            "Switch\t1 \"S-0000001000000001\"\t\t# \"row-0\" base port 0 lid 0 lmc 0\n"
            "[1]\t\"S-0000001000000000\"[2]\n"
            "\nswitchguid=0x1000000002(1000000002)\n"
            "Switch\t1 \"S-0000001000000002\"\t\t# \"column-0\" base port 0 lid 0 lmc 0\n"
            "[1]\t\"S-0000001000000000\"[3]\n"
            "\ncaguid=0x2000000000\n"
            "Ca\t1 \"H-0000002000000000\"\t\t# \"host-0\"\n"
            "[1](2000000001)\t\"S-0000001000000000\"[1]\n");
}

std::string write_refused(const Graph& graph) {
  try {
    write_ibnet(graph);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Ibnet, WhatTheFormatCannotHoldIsRefused) {
  EXPECT_EQ(write_refused(torus({1, 1, 1}, 248)), "accepted");
  EXPECT_EQ(write_refused(torus({1, 1, 1}, 249)),
            "\"switch-0-0-0\" has 255 ports, more than the 254 of InfiniBand");
  Parts parts;
  parts.switches = {{1, std::string(201, 'x'), 1}};
  parts.hosts = {{2, "h", 1}};
  parts.host_links = {{0, 0, 1, 1}};
  EXPECT_EQ(write_refused(Graph(std::move(parts))),
            "the name \"" + std::string(40, 'x') + "...\" is longer than 200 bytes");
}

// --- dumps

Graph dump(const std::string& name) {
  return read_ibnet_file(std::filesystem::path(WEFT_TEST_DATA) / "topology" / name);
}

Arc only(std::span<const Arc> arcs, std::size_t at) { return arcs.size() > at ? arcs[at] : Arc{}; }

TEST(IbnetDump, TwoLeavesWithARouterAndAHostOfTwoPorts) {
  const Graph graph = dump("two_leaves.ibnetdiscover");
  ASSERT_EQ(graph.switches(), 2u);
  ASSERT_EQ(graph.hosts(), 5u);
  EXPECT_EQ(graph.links(), 9u);
  EXPECT_EQ(graph.switch_info(0), (Node{0x248a070300f1aa00, "MF0;sw-leaf01:MSB7700/U1", 37}));
  EXPECT_EQ(graph.link(0), (Link{0, 1, 17, 35, 100000}));
  EXPECT_EQ(graph.link(1), (Link{0, 1, 19, 36, 100000}));
  EXPECT_EQ(graph.link(2), (Link{0, 1, 20, 12}));
  EXPECT_EQ(graph.host_info(0).name, "Mellanox Technologies Aggregation Node");
  EXPECT_EQ(graph.port_guid(only(graph.attachments(0), 0).link), 0x248a070300f1aa08u) << "that of the node";
  EXPECT_EQ(graph.host_info(2), (Node{0x2c9030012a4f0, "login mlx4_0", 2}));
  EXPECT_EQ(only(graph.attachments(2), 1), (Arc{1, graph.link_at(1, 1), 2, 1}));
  EXPECT_EQ(graph.host_info(4), (Node{0x66a00d8000123, "the \"old\" router", 2, true}));
  EXPECT_EQ(graph.port_guid(graph.link_at(1, 2)), 0x66a00e8000123u);
  EXPECT_EQ(graph.link(graph.link_at(1, 2)).mbps, 32000u);
  EXPECT_TRUE(read_ibnet(write_ibnet(graph), "text") == graph);
}

TEST(IbnetDump, GroupedByChassisWithFullInformation) {
  const Graph graph = dump("chassis.ibnetdiscover");
  ASSERT_EQ(graph.switches(), 2u);
  ASSERT_EQ(graph.hosts(), 2u);
  EXPECT_EQ(graph.switch_links(), 2u);
  EXPECT_EQ(graph.switch_info(0).name, "Voltaire sFB-2004");
  EXPECT_EQ(graph.link(0).mbps, 8000u);
  EXPECT_EQ(graph.link(1).mbps, 16000u);
  EXPECT_EQ(graph.link(3).mbps, 24000u) << "12xSDR";
  EXPECT_EQ(graph.host_info(1).name, "HCA-500 # spare");
  EXPECT_EQ(only(graph.hosts_at(1), 1), (Arc{1, 3, 14, 2}));
  EXPECT_TRUE(read_ibnet(write_ibnet(graph), "text") == graph);
}

TEST(IbnetDump, NetlistByHand) {
  const Graph graph = dump("by_hand.ibsim");
  ASSERT_EQ(graph.switches(), 2u);
  ASSERT_EQ(graph.hosts(), 3u);
  EXPECT_EQ(graph.switch_info(0), (Node{0x200000, "upper switch", 8}));
  EXPECT_EQ(graph.switch_info(1), (Node{0x200001, "lower", 8}));
  EXPECT_EQ(graph.host_info(0), (Node{0x100000, "the first host", 1}));
  EXPECT_EQ(graph.host_info(1), (Node{0x500, "second", 2}));
  EXPECT_EQ(graph.host_info(2), (Node{0x503, "third", 1}))
      << "behind the GUIDs of two ports, as ibsim counts";
  EXPECT_EQ(graph.port_guid(graph.link_at(1, 2)), 0x502u);
  EXPECT_EQ(graph.link_at(1, 3), no_link);
  EXPECT_EQ(graph.link_at(1, 4), no_link) << "a loop";
  EXPECT_EQ(graph.links(), 5u);
}

TEST(IbnetDump, LinesMayEndAsOnWindowsOrNotAtAll) {
  std::string text = write_ibnet(fat_tree(4));
  const Graph graph = read_ibnet(text, "text");
  text.pop_back();
  EXPECT_TRUE(read_ibnet(text, "text") == graph);
  std::string returns;
  for (const char c : text) returns += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_TRUE(read_ibnet(returns, "text") == graph);
}

TEST(IbnetDump, RateStandsBehindTheNameAtEitherEnd) {
  const auto mbps = [](const std::string& at_switch, const std::string& at_host) {
    const std::string text =
        "Switch 4 \"s\"\n[1] \"h\"[1] " + at_switch + "\n\nCa 1 \"h\"\n[1] \"s\"[1] " + at_host + "\n";
    return read_ibnet(text, "text").link(0).mbps;
  };
  EXPECT_EQ(mbps("", ""), 0u);
  EXPECT_EQ(mbps("# \"h\" lid 1 4xHDR", ""), 200000u);
  EXPECT_EQ(mbps("", "# lid 1 lmc 0 \"s\" lid 2 1xFDR10"), 10000u);
  EXPECT_EQ(mbps("# \"h\" lid 1 4xHDR", "# lid 1 lmc 0 \"s\" lid 2 2xHDR"), 100000u) << "the lesser";
  EXPECT_EQ(mbps("# \"h\" lid 1 4xHDR s=32 w=2", ""), 200000u);
  EXPECT_EQ(mbps("# \"the 4xHDR host\" lid 1", ""), 0u) << "a name";
  EXPECT_EQ(mbps("# \"the \" 4xHDR host\" lid 1 4xEDR", ""), 100000u);
  EXPECT_EQ(mbps("# 1000 Mb/s", ""), 1000u);
  EXPECT_EQ(mbps("# \"h\" lid 1 3xHDR", ""), 0u);
  EXPECT_EQ(mbps("# \"h\" lid 1 4x???", ""), 0u);
  EXPECT_EQ(mbps("# \"h\" lid 1 x Mb/s", ""), 0u);
  EXPECT_EQ(mbps("# \"h\" lid 1 4xUndefined (5)", ""), 0u);
}

TEST(IbnetDump, LidsAreThoseOfTheHostsLineElseOfTheSwitchs) {
  const auto lids = [](const std::string& at_switch, const std::string& at_host) {
    const Graph graph =
        read_ibnet("Switch 2 \"S-0000000000000001\"\n[2] \"H-0000000000000010\"[1] " + at_switch +
                       "\nCa 1 \"H-0000000000000010\"\n[1] \"S-0000000000000001\"[2] " + at_host,
                   "net");
    EXPECT_TRUE(read_ibnet(write_ibnet(graph), "text") == graph);
    return graph.lids(graph.switch_links());
  };
  EXPECT_EQ(lids("# \"host\" lid 8 4xQDR", "# lid 8 lmc 3 \"switch\" lid 1 4xQDR"), (Lids{8, 3}));
  EXPECT_EQ(lids("# \"host\" lid 7", ""), (Lids{7, 0}));
  EXPECT_EQ(lids("# \"lid 7\"", "# \"lid 8\" lid 9"), Lids()) << "names; the switch's";
  EXPECT_EQ(lids("# \"host\" lid 0", "# lid 0 lmc 0"), Lids());
  EXPECT_EQ(lids("", ""), Lids());
  EXPECT_EQ(dump("ndr_cluster.ibnetdiscover").lids(dump("ndr_cluster.ibnetdiscover").link_at(0, 3)),
            (Lids{674, 0}));
}

TEST(IbnetDump, GuidComesFromItsLineElseFromTheId) {
  const auto guid = [](const std::string& line, const std::string& id) {
    const std::string text =
        line + "Switch 4 \"" + id + "\"\n[1] \"h\"[1]\n\nCa 1 \"h\"\n[1] \"" + id + "\"[1]\n";
    return read_ibnet(text, "text").switch_info(0).guid;
  };
  EXPECT_EQ(guid("", "S-00000000000000ab"), 0xabu);
  EXPECT_EQ(guid("switchguid=0x12(12)\n", "S-00000000000000ab"), 0x12u);
  EXPECT_EQ(guid("caguid=0x12\n", "S-00000000000000ab"), 0xabu);
  EXPECT_EQ(guid("", "S-00000000000000xy"), 0x200000u);
  EXPECT_EQ(guid("", "S-0000000000000000"), 0x200000u);
}

TEST(IbnetDump, PortGuidMayStandAtEitherEnd) {
  const auto guid = [](const std::string& at_switch, const std::string& at_host) {
    const std::string text =
        "Switch 4 \"s\"\n[1] \"h\"[2]" + at_switch + "\n\nCa 2 \"h\"\n[2]" + at_host + " \"s\"[1]\n";
    return read_ibnet(text, "text").port_guid(0);
  };
  EXPECT_EQ(guid("", ""), 0x100002u);
  EXPECT_EQ(guid("(abc)", ""), 0xabcu);
  EXPECT_EQ(guid("", "(abc)"), 0xabcu);
  EXPECT_EQ(guid(" (abc) # h", "(abc)"), 0xabcu);
}

}  // namespace
}  // namespace weft::topology
