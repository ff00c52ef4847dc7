// SPDX-License-Identifier: Apache-2.0
// Fabrics in the format of ibnetdiscover and ibsim: what is written is read again as it was, dumps as real
// fabrics give them are understood, each fault is named with its line.
#include <gtest/gtest.h>

#include <algorithm>
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
                           "bluelight", "kfat2d:3x5:2"}) {
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
  EXPECT_EQ(graph.link(0), (Link{0, 1, 17, 35}));
  EXPECT_EQ(graph.link(1), (Link{0, 1, 19, 36}));
  EXPECT_EQ(graph.link(2), (Link{0, 1, 20, 12}));
  EXPECT_EQ(graph.host_info(0).name, "Mellanox Technologies Aggregation Node");
  EXPECT_EQ(graph.port_guid(only(graph.attachments(0), 0).link), 0x248a070300f1aa08u) << "that of the node";
  EXPECT_EQ(graph.host_info(2), (Node{0x2c9030012a4f0, "login mlx4_0", 2}));
  EXPECT_EQ(only(graph.attachments(2), 1), (Arc{1, graph.link_at(1, 1), 2, 1}));
  EXPECT_EQ(graph.host_info(4), (Node{0x66a00d8000123, "the \"old\" router", 2, true}));
  EXPECT_EQ(graph.port_guid(graph.link_at(1, 2)), 0x66a00e8000123u);
  EXPECT_TRUE(read_ibnet(write_ibnet(graph), "text") == graph);
}

TEST(IbnetDump, GroupedByChassisWithFullInformation) {
  const Graph graph = dump("chassis.ibnetdiscover");
  ASSERT_EQ(graph.switches(), 2u);
  ASSERT_EQ(graph.hosts(), 2u);
  EXPECT_EQ(graph.switch_links(), 2u);
  EXPECT_EQ(graph.switch_info(0).name, "Voltaire sFB-2004");
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

// --- faults

/// A good text; the lines are numbered from 1.
std::vector<std::string> good() {
  return {"# good",                                                                // 1
          "switchguid=0x1(1)",                                                     // 2
          "Switch 4 \"S-0000000000000001\"\t# \"left\" base port 0 lid 1 lmc 0",   // 3
          "[1]\t\"H-0000000000000010\"[1](11)",                                    // 4
          "[2]\t\"S-0000000000000002\"[3]",                                        // 5
          "",                                                                      // 6
          "switchguid=0x2(2)",                                                     // 7
          "Switch 4 \"S-0000000000000002\"\t# \"right\" base port 0 lid 2 lmc 0",  // 8
          "[1]\t\"H-0000000000000020\"[1](21)",                                    // 9
          "[3]\t\"S-0000000000000001\"[2]",                                        // 10
          "",                                                                      // 11
          "caguid=0x10",                                                           // 12
          "Ca 2 \"H-0000000000000010\"\t# \"one\"",                                // 13
          "[1](11)\t\"S-0000000000000001\"[1]\t# lid 3",                           // 14
          "",                                                                      // 15
          "caguid=0x20",                                                           // 16
          "Ca 1 \"H-0000000000000020\"\t# \"two\"",                                // 17
          "[1](21)\t\"S-0000000000000002\"[1]\t# lid 4"};                          // 18
}

std::string refused(const std::string& text) {
  try {
    read_ibnet(text, "net");
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "accepted";
}

std::string refused(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return refused(text);
}

/// With other text in this line.
std::string with(std::size_t line, const std::string& text) {
  auto lines = good();
  lines.at(line - 1) = text;
  return refused(lines);
}

TEST(IbnetFault, LinesThatAreNotUnderstood) {
  EXPECT_EQ(refused(good()), "accepted");
  EXPECT_EQ(with(6, "Swich 4 \"x\""), "net:6: 'Swich 4 \"x\"' is no line of ibnetdiscover or ibsim");
  EXPECT_EQ(with(6, "CA : 0x1 ports 2"), "net:6: 'CA : 0x1 ports 2' is no line of ibnetdiscover or ibsim");
  EXPECT_EQ(with(6, std::string(50, '\x01')),
            "net:6: '" + std::string(40, ' ') + "...' is no line of ibnetdiscover or ibsim");
  EXPECT_EQ(with(2, "switchguid=1"), "net:2: '0x' expected at '1'");
  EXPECT_EQ(with(2, "switchguid=0x"), "net:2: a GUID expected at ''");
  EXPECT_EQ(with(2, "switchguid=0x1g"), "net:2: 'g' is not understood");
  EXPECT_EQ(with(2, "switchguid=0x12345678123456789"), "net:2: a GUID expected at '12345678123456789'");
  EXPECT_EQ(with(2, "switchguid=0x0(0)"), "net:2: GUID 0");
  EXPECT_EQ(with(3, "Switch \"S-1\""), "net:3: a number expected at '\"S-1\"'");
  EXPECT_EQ(with(3, "Switch 0 \"S-1\""), "net:3: 0 ports, must be 1 to 254");
  EXPECT_EQ(with(3, "Switch 255 \"S-1\""), "net:3: 255 ports, must be 1 to 254");
  EXPECT_EQ(with(3, "Switch 99999999999 \"S-1\""), "net:3: a number expected at '99999999999 \"S-1\"'");
  EXPECT_EQ(with(3, "Switch 4 S-1"), "net:3: '\"' expected at 'S-1'");
  EXPECT_EQ(with(3, "Switch 4 \"S-1"), "net:3: a quotation mark is missing");
  EXPECT_EQ(with(3, "Switch 4 \"\""), "net:3: an empty name between quotation marks");
  EXPECT_EQ(with(3, "Switch 4 \"S-1\" left"), "net:3: 'left' is not understood");
  EXPECT_EQ(with(5, "[2"), "net:5: ']' expected at ''");
  EXPECT_EQ(with(5, "[2x] \"S-0000000000000002\"[3]"),
            "net:5: ']' expected at 'x] \"S-0000000000000002\"[3]'");
  EXPECT_EQ(with(5, "[-2] \"S-0000000000000002\"[3]"),
            "net:5: a number expected at '-2] \"S-0000000000000002\"[3]'");
  EXPECT_EQ(with(5, "[2] \"S-0000000000000002\"[3"), "net:5: ']' expected at ''");
  EXPECT_EQ(with(5, "[2] \"S-0000000000000002\"[3] to"), "net:5: 'to' is not understood");
  EXPECT_EQ(with(14, "[1](0) \"S-0000000000000001\"[1]"), "net:14: port GUID 0");
  EXPECT_EQ(with(14, "[1](x) \"S-0000000000000001\"[1]"),
            "net:14: a GUID expected at 'x) \"S-0000000000000001\"[1]'");
}

TEST(IbnetFault, WhatIbsimCanAndThisCannot) {
  EXPECT_EQ(with(6, "include \"other\""), "net:6: ibsim's 'include' is not supported");
  EXPECT_EQ(with(6, "module=\"M1\""), "net:6: ibsim's 'module' is not supported");
  EXPECT_EQ(with(6, "do \"unlink\""), "net:6: ibsim's 'do' is not supported");
  EXPECT_EQ(with(6, "@[1] \"alias\""), "net:6: ibsim's aliases (@) are not supported");
}

TEST(IbnetFault, Ports) {
  EXPECT_EQ(with(1, "[1]"), "net:1: a port, but no switch or host before it");
  EXPECT_EQ(with(5, "[5]\t\"S-0000000000000002\"[3]"),
            "net:5: port 5 of \"S-0000000000000001\", which has 1 to 4");
  EXPECT_EQ(with(5, "[0]\t\"S-0000000000000002\"[3]"),
            "net:5: port 0 of \"S-0000000000000001\", which has 1 to 4");
  EXPECT_EQ(with(5, "[1]\t\"S-0000000000000002\"[3]"), "net:5: port 1 for the second time, first in line 4");
  EXPECT_EQ(with(5, "[2]\t\"S-0000000000000002\"[9]"),
            "net:5: a link to port 9 of \"S-0000000000000002\", which has 1 to 4");
}

TEST(IbnetFault, LinksThatDoNotAgree) {
  EXPECT_EQ(with(5, "[2]\t\"S-0000000000000003\"[3]"),
            "net:5: a link to \"S-0000000000000003\", which is not there");
  EXPECT_EQ(with(5, "[2]\t\"S-0000000000000002\"[4]"),
            "net:5: the link to \"S-0000000000000002\"[4] is not mirrored: nothing is connected there");
  EXPECT_EQ(with(10, ""),
            "net:5: the link to \"S-0000000000000002\"[3] is not mirrored: nothing is connected there");
  EXPECT_EQ(
      with(5, "[2]\t\"S-0000000000000002\"[1]"),
      "net:5: the link to \"S-0000000000000002\"[1] is not mirrored: line 9 says \"H-0000000000000020\"[1]");
  EXPECT_EQ(
      with(10, "[3]\t\"S-0000000000000001\"[3]"),
      "net:5: the link to \"S-0000000000000002\"[3] is not mirrored: line 10 says \"S-0000000000000001\"[3]");
  auto lines = good();
  lines.insert(lines.begin() + 14, "[2] \"H-0000000000000030\"[1]");
  for (const char* line : {"", "Ca 1 \"H-0000000000000030\"", "[1] \"H-0000000000000010\"[2]"})
    lines.emplace_back(line);
  EXPECT_EQ(refused(lines), "net:15: a link between two hosts");
}

TEST(IbnetFault, NamesAndGuidsThatAreThereTwice) {
  EXPECT_EQ(with(8, "Switch 4 \"S-0000000000000001\""),
            "net:8: \"S-0000000000000001\" for the second time, first in line 3");
  EXPECT_EQ(with(7, "switchguid=0x1(1)"),
            "net:8: GUID 0x1 of \"S-0000000000000002\" is also that of \"S-0000000000000001\" in line 3");
  EXPECT_EQ(with(16, "caguid=0x2"),
            "net:17: GUID 0x2 of \"H-0000000000000020\" is also that of \"S-0000000000000002\" in line 8");
  EXPECT_EQ(with(4, "[1]\t\"H-0000000000000010\"[1](12)"), "net:4: port GUID 0x12, which is 0x11 in line 14");
  auto lines = good();
  lines[8] = "[1]\t\"H-0000000000000020\"[1](11)";
  lines[17] = "[1](11)\t\"S-0000000000000002\"[1]";
  EXPECT_EQ(refused(lines), "net:18: port GUID 0x11 is also that of the port in line 14");
}

TEST(IbnetFault, WholeFabrics) {
  EXPECT_EQ(refused(""), "net: there is no switch in it");
  EXPECT_EQ(refused("# nothing\n"), "net: there is no switch in it");
  EXPECT_EQ(refused("Switch 4 \"S1\"\n"), "net: there is no host in it");
  auto lines = good();
  lines[4] = lines[9] = "";
  EXPECT_EQ(refused(lines),
            "net:8: \"S-0000000000000002\" is not connected with \"S-0000000000000001\" in line 3");
  lines = good();
  lines.emplace_back("Ca 1 \"lonely\"");
  EXPECT_EQ(refused(lines), "net:19: \"lonely\" is not connected with \"S-0000000000000001\" in line 3");
}

/// Whatever is done to a file: it is read, or one line says why not.
TEST(IbnetFault, SpoiltTextsAreReadOrRefusedInOneLine) {
  EXPECT_PROPERTY("spoilt", [] {
    std::string text = write_ibnet(test::drawn_graph());
    for (auto changes = *rc::gen::inRange(1, 6); changes > 0; --changes) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const auto length = std::min(*rc::gen::inRange<std::size_t>(0, 30), text.size() - at);
      const auto more =
          *rc::gen::element<std::string>("", "\"", "[", "]", "\n", "(0)", "9", "Ca 2 \"x\"\n", "\xff", " ");
      text.replace(at, length, *rc::gen::arbitrary<bool>() ? text.substr(at, length) + more : more);
    }
    const std::string fault = refused(text);
    RC_ASSERT(fault == "accepted" || fault.starts_with("net:"));
    RC_ASSERT(fault.find('\n') == std::string::npos);
  });
}

}  // namespace
}  // namespace weft::topology
