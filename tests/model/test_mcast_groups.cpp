// SPDX-License-Identifier: Apache-2.0
// Groups by formula and from files.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mcast/groups.hpp"
#include "temporary_folder.hpp"
#include "topology/generate.hpp"
#include "topology/ibnet.hpp"

namespace weft::mcast {
namespace {

using Hosts = std::vector<uint32_t>;

Hosts members(const Groups& groups, uint32_t group) {
  const auto span = groups.members(group);
  return {span.begin(), span.end()};
}

class McastGroups : public weft::test::TemporaryFolder {
 protected:
  McastGroups() : McastGroups(topology::torus({3, 2, 1}, 4)) {}  // 24 hosts
  explicit McastGroups(topology::Graph graph) : graph_(std::move(graph)) {}

  void expect_fault(const std::string& spec, const std::string& message) const {
    try {
      load_groups(spec, graph_);
      ADD_FAILURE() << spec << " is taken";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.what(), message);
    }
  }
  void expect_line_fault(const std::string& text, const std::string& message) const {
    try {
      read_groups(text, "f", graph_);
      ADD_FAILURE() << text << " is taken";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.what(), "f:" + message);
    }
  }

  const topology::Graph graph_;
};

TEST_F(McastGroups, GridLinesAlongEachDimension) {
  const Groups groups = load_groups("grid:2x3x4", graph_);
  ASSERT_EQ(groups.count(), 12u + 8u + 6u);
  EXPECT_EQ(members(groups, 0), (Hosts{0, 1}));
  EXPECT_EQ(members(groups, 11), (Hosts{22, 23}));
  EXPECT_EQ(members(groups, 12), (Hosts{0, 2, 4}));
  EXPECT_EQ(members(groups, 13), (Hosts{1, 3, 5}));
  EXPECT_EQ(members(groups, 14), (Hosts{6, 8, 10}));
  EXPECT_EQ(members(groups, 20), (Hosts{0, 6, 12, 18}));
  EXPECT_EQ(members(groups, 25), (Hosts{5, 11, 17, 23}));
  EXPECT_EQ(groups.local(), 0u);
}

TEST_F(McastGroups, GridAsInThePaper) {
  EXPECT_EQ(load_groups("grid:128x32x40@4", topology::trimmed_fat_tree(topology::taihulight)).count(),
            10496u);
}

TEST_F(McastGroups, ProcessesOfAHostAreOneMember) {
  const Groups groups = load_groups("grid:2x4@2", graph_);
  ASSERT_EQ(groups.count(), 4u + 2u);
  EXPECT_EQ(members(groups, 0), (Hosts{0}));
  EXPECT_TRUE(groups.is_local(0));
  EXPECT_EQ(members(groups, 4), (Hosts{0, 1, 2, 3}));
  EXPECT_EQ(groups.local(), 4u);
}

TEST_F(McastGroups, SidesOfOneHaveNoGroups) { EXPECT_EQ(load_groups("grid:1x4", graph_).count(), 1u); }

TEST_F(McastGroups, RandomGroupsAreDistinctHostsAndFollowTheSeed) {
  const Groups groups = load_groups("random:50:7:3", graph_);
  ASSERT_EQ(groups.count(), 50u);
  for (uint32_t group = 0; group < 50; ++group) EXPECT_EQ(groups.members(group).size(), 7u);
  EXPECT_TRUE(groups == load_groups("random:50:7:3", graph_));
  EXPECT_FALSE(groups == load_groups("random:50:7:4", graph_));
  EXPECT_EQ(load_groups("random:1:24:1", graph_).members(0).size(), 24u);
}

TEST_F(McastGroups, SpecsThatAreNone) {
  expect_fault("grid:4", "grid:4: must be grid:AxB[xC][@PROCESSES_PER_HOST] with whole numbers");
  expect_fault("grid:2x2x2x2", "grid:2x2x2x2: must be grid:AxB[xC][@PROCESSES_PER_HOST] with whole numbers");
  expect_fault("grid:2x3@", "grid:2x3@: must be grid:AxB[xC][@PROCESSES_PER_HOST] with whole numbers");
  expect_fault("grid:2x3 ", "grid:2x3 : must be grid:AxB[xC][@PROCESSES_PER_HOST] with whole numbers");
  expect_fault("grid:0x3", "grid:0x3: a side of the grid is 0");
  expect_fault("grid:2x3@0", "grid:2x3@0: 0 processes on a host, must be 1 to 16777216");
  expect_fault("grid:5x5", "grid:5x5: more processes than the 24 that 24 hosts have");
  expect_fault("grid:1x1", "grid:1x1: a grid of one process has no groups");
  expect_fault("random:1:2", "random:1:2: must be random:COUNT:SIZE:SEED with whole numbers");
  expect_fault("random:0:2:1", "random:0:2:1: COUNT is 0, must be 1 to 16777216");
  expect_fault("random:1:1:1", "random:1:1:1: SIZE is 1, must be 2 to 24, the number of hosts");
  expect_fault("random:1:25:1", "random:1:25:1: SIZE is 25, must be 2 to 24, the number of hosts");
  expect_fault("random:16777216:24:1", "random:16777216:24:1: too many members");
  expect_fault("rows", std::string("rows: is no set of groups, which is ") + group_forms);
  expect_fault("file", std::string("file: is no set of groups, which is ") + group_forms);
  expect_fault("", std::string("an empty text is no set of groups, which is ") + group_forms);
  expect_fault("file:", "file:: must be file:PATH, the path is missing");
  expect_fault("file:" + path("none").string(), path("none").string() + ": no such file");
  expect_fault("file:" + path("").string(), path("").string() + ": is a folder");
}

class McastGroupsOfOneHost : public McastGroups {
 protected:
  McastGroupsOfOneHost() : McastGroups(topology::torus({1, 1, 1}, 1)) {}
};

TEST_F(McastGroupsOfOneHost, AreLocal) {
  EXPECT_EQ(load_groups("grid:1x2@2", graph_).local(), 1u);
  expect_fault("random:1:2:1", "random:1:2:1: the fabric has one host, a group needs two");
}

TEST_F(McastGroups, FileByNumberNameAndGuid) {
  const Groups groups = read_groups(
      "# two groups\n\n0 1,\t2\r\n  host-3 \"host-4\" 0x2000000050 0x2000000061 # GUIDs\n", "f", graph_);
  ASSERT_EQ(groups.count(), 2u);
  EXPECT_EQ(members(groups, 0), (Hosts{0, 1, 2}));
  EXPECT_EQ(members(groups, 1), (Hosts{3, 4, 5, 6}));
  EXPECT_TRUE(load_groups("file:" + write("g", "1 0").string(), graph_) == load_groups("grid:2x1", graph_));
}

TEST_F(McastGroups, FilesThatAreNone) {
  expect_line_fault("0 1\n2 24\n", "2: there is no host 24, only 0 to 23");
  expect_line_fault("0 host-24\n", "1: there is no host 'host-24'");
  expect_line_fault("0 -1\n", "1: there is no host '-1'");
  expect_line_fault("0 0x5\n", "1: there is no host with GUID '0x5'");
  expect_line_fault("# c\n7\n", "2: a group of one host");
  expect_line_fault("1 2 host-1\n", "1: host 1 is there twice");
  expect_line_fault("1 \"host-2\n", "1: a quotation mark is not closed");
  expect_line_fault("1 a\x01" + std::string(70, 'b') + "\n",
                    "1: there is no host 'a?" + std::string(58, 'b') + "...'");
  expect_line_fault("\n# nothing\n", " there is no group in it");
  expect_line_fault("", " there is no group in it");
}

TEST_F(McastGroups, ANameOfSeveralHostsIsNone) {
  const auto graph = topology::read_ibnet(
      "Switch 2 \"S\"\n[1] \"a\"\n[2] \"b\"\n\nCa 1 \"a\" # \"x\"\n[1] \"S\"[1]\n\nCa 1 \"b\" # \"x\"\n[1] "
      "\"S\"[2]\n",
      "n");
  EXPECT_THROW(
      {
        try {
          read_groups("x 0\n", "f", graph);
        } catch (const Fault& fault) {
          EXPECT_STREQ(fault.what(), "f:1: several hosts are called 'x'");
          throw;
        }
      },
      Fault);
}

/// A switch; a host with ports at 2 and 3 of its own, one with a name of digits.
const char* const ports_and_digits =
    "Switch 4 \"S\"\n[1] \"a\"[2]\n[2] \"a\"[3]\n[3] \"b\"\n[4] \"c\"\n\n"
    "caguid=0x10\nCa 3 \"a\" # \"node001 mlx5_1\"\n[2](12) \"S\"[1]\n[3](13) \"S\"[2]\n\n"
    "caguid=0x20\nCa 1 \"b\" # \"0\"\n[1](21) \"S\"[3]\n\n"
    "caguid=0x30\nCa 1 \"c\" # \"0x10\"\n[1](20) \"S\"[4]\n";

class McastGroupNames : public McastGroups {
 protected:
  McastGroupNames() : McastGroups(topology::read_ibnet(ports_and_digits, "n")) {}
};

TEST_F(McastGroupNames, AHostTakesPartByItsFirstConnectedPort) {
  EXPECT_EQ(members(read_groups("0x10 1\n", "f", graph_), 0), (Hosts{0, 1}));
  EXPECT_EQ(members(read_groups("0x12 1\n", "f", graph_), 0), (Hosts{0, 1}));
  expect_line_fault("# c\n1 0x13\n",
                    "2: 0x13 is port 3 of \"node001 mlx5_1\", which takes part by port 2 only: name the "
                    "host, or port 2");
  expect_line_fault("0 0x11\n", "1: there is no host with GUID '0x11'");
}

TEST_F(McastGroupNames, AWordInQuotationMarksIsAName) {
  EXPECT_EQ(members(read_groups("0 2\n", "f", graph_), 0), (Hosts{0, 2}));
  EXPECT_EQ(members(read_groups("\"0\" 2\n", "f", graph_), 0), (Hosts{1, 2}));
  EXPECT_EQ(members(read_groups("\"0\", \"0x10\"\n", "f", graph_), 0), (Hosts{1, 2}));
  EXPECT_EQ(members(read_groups("1 \"node001 mlx5_1\"\n", "f", graph_), 0), (Hosts{0, 1}));
  expect_line_fault("0 \"1\"\n", "1: there is no host '1'");
  expect_line_fault("0 \"0x21\"\n", "1: there is no host '0x21'");
}

TEST_F(McastGroupNames, AGuidOfSeveralHostsIsNone) {
  expect_line_fault("0 0x20\n", "1: several hosts have GUID '0x20'");
}

}  // namespace
}  // namespace weft::mcast
