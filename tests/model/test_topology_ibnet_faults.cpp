// SPDX-License-Identifier: Apache-2.0
// Files in the format of ibnetdiscover and ibsim with something wrong: each fault is named, with its line.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "drawn_graph.hpp"
#include "property.hpp"
#include "topology/ibnet.hpp"

namespace weft::topology {
namespace {

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

TEST(IbnetFault, Lids) {
  const auto host = [](const std::string& lids) {
    return with(18, "[1](21)\t\"S-0000000000000002\"[1]\t# " + lids);
  };
  EXPECT_EQ(host("lid 3 lmc 0 \"right\" lid 2 4xQDR"), "net:18: LID 3 is also that of the port in line 14");
  EXPECT_EQ(host("lid 2 lmc 1"), "net:18: LID 3 is also that of the port in line 14");
  EXPECT_EQ(host("lid 49152"), "net:18: LID 49152 is beyond 49151, the last one of a port");
  EXPECT_EQ(host("lid 65536"), "net:18: LID 65536 is beyond 49151, the last one of a port");
  EXPECT_EQ(host("lid 49024 lmc 7"), "accepted");
  EXPECT_EQ(host("lid 5 lmc 1"), "net:18: LID 5 is no multiple of 2^1, its LMC");
  EXPECT_EQ(host("lid 4 lmc 8"), "net:18: LMC 8, must be at most 7");
  EXPECT_EQ(host("lid x"), "net:18: a number expected at 'x'");
  EXPECT_EQ(host("lid 65535 lmc 7 \"right\" lid 65535"), "accepted") << "no LID yet";
  EXPECT_EQ(with(9, "[1]\t\"H-0000000000000020\"[1](21) # \"two\" lid 5"),
            "net:9: LID 5, which is 4 in line 18");
  EXPECT_EQ(with(9, "[1]\t\"H-0000000000000020\"[1](21) # \"two\" lid 4"), "accepted");
  EXPECT_EQ(with(5, "[2]\t\"S-0000000000000002\"[3] # \"right\" lid 65535"), "accepted") << "of a switch";
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
