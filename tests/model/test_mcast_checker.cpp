// SPDX-License-Identifier: Apache-2.0
// The checker sees each fault of tables, and tables as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "drawn_groups.hpp"
#include "mcast/checker.hpp"
#include "mcast/tables.hpp"
#include "property.hpp"

namespace weft::mcast {
namespace {

/// Four switches in a ring (ports 1 up, 2 down), a host on port 7 of each.
class McastChecker : public ::testing::Test {
 protected:
  McastChecker() {
    groups_.add({0, 1});
    groups_.add({2, 3});
    tables_.switches = {{{0, {1, 7}}}, {{0, {2, 7}}}, {{0, {1, 7}}}, {{0, {2, 7}}}};
    tables_.groups = {{0, 5}, {0, 6}};
  }
  std::vector<std::string> findings() const { return check(graph_, groups_, tables_); }
  using Lines = std::vector<std::string>;

  const topology::Graph graph_ = topology::torus({4, 1, 1}, 1);
  Groups groups_;
  FabricTables tables_;
};

TEST_F(McastChecker, FindsNothingWhereAllIsWell) { EXPECT_EQ(findings(), Lines{}); }

TEST_F(McastChecker, FindsAMemberThatIsNotReached) {
  tables_.switches[1][0].ports = {2};
  EXPECT_EQ(findings(),
            (Lines{"group 0: a packet from host 0 \"host-0\" comes to host 1 \"host-1\" 0 times",
                   "tree 5: switch 1 \"switch-1-0-0\" has no entry of color 0 for port 7",
                   "group 0: a packet from host 1 \"host-1\" comes to host 0 \"host-0\" 0 times"}));
}

TEST_F(McastChecker, FindsPacketsThatNobodyTakes) {
  tables_.switches[1].clear();
  EXPECT_EQ(findings().front(), "tree 5: switch 1 \"switch-1-0-0\" has no entry of color 0 for port 2");
  tables_.switches[1] = {{0, {2, 5, 7}}};
  // Packets of both members meet it: one line.
  EXPECT_EQ(findings(), Lines{"tree 5: nothing is connected to port 5 of switch 1 \"switch-1-0-0\""});
}

TEST_F(McastChecker, FindsARing) {
  for (auto& entries : tables_.switches) entries[0].ports = {1, 2, 7};
  EXPECT_EQ(findings().front(), "tree 5: a packet from host 0 \"host-0\" comes to host 3 \"host-3\"");
  groups_ = {};
  groups_.add({0, 1, 2, 3});
  tables_.groups = {{0, 0}};
  EXPECT_EQ(findings().front(),
            "tree 0: a packet from host 0 \"host-0\" comes to switch 2 \"switch-2-0-0\" twice");
}

TEST_F(McastChecker, FindsTreesThatMeet) {
  groups_ = {};
  groups_.add({0, 1});
  groups_.add({1, 2});
  tables_.switches = {{{0, {1, 7}}}, {{0, {1, 2, 7}}}, {{0, {2, 7}}}, {}};
  EXPECT_EQ(findings().front(), "tree 5: a packet from host 0 \"host-0\" comes to host 2 \"host-2\"");
  tables_.groups = {{0, 5}, {0, 5}};
  EXPECT_EQ(findings(), Lines{});
  tables_.groups = {{0, 5}, {1, 5}};
  EXPECT_EQ(findings().front(), "groups 0 and 1 share tree 5 but not their color");
}

TEST_F(McastChecker, FindsColoursThatServeTwoTrees) {
  groups_ = {};
  groups_.add({0, 1});
  groups_.add({0, 1});
  tables_.switches = {{{0, {1, 7}}}, {{0, {2, 7}}}, {}, {}};
  EXPECT_EQ(findings().front(), "trees 5 and 6 share color 0 in switch 0 \"switch-0-0-0\"");
}

TEST_F(McastChecker, FindsTooManyEntries) {
  tables_.limit = 1;
  EXPECT_EQ(findings(), Lines{});
  tables_.switches[2].push_back({1, {1, 7}});
  EXPECT_EQ(findings(), (Lines{"switch 2 \"switch-2-0-0\" has color 1, only 0 to 0 are allowed",
                               "switch 2 \"switch-2-0-0\" has 2 entries, only 1 are allowed"}));
  tables_.limit = no_limit;
  EXPECT_EQ(findings(), Lines{});
  tables_.switches[2][1].colour = 0;
  EXPECT_EQ(findings().front(), "switch 2 \"switch-2-0-0\" has two entries for color 0");
}

TEST_F(McastChecker, FindsGroupsWithoutColour) {
  tables_.groups[1].colour = none;
  EXPECT_EQ(findings(), Lines{"group 1 has no color"});
  tables_.groups.pop_back();
  EXPECT_EQ(findings(), Lines{"tables for 1 groups, there are 2"});
}

TEST_F(McastChecker, EntriesOfAPortMayCross) {
  // host 0 - switch 0 - 1 - 2 - host 2 beside host 1 on its own: two trees of one colour in switch 1
  const auto graph = topology::torus({3, 1, 1}, 2);
  Groups groups;
  groups.add({0, 4});
  groups.add({2, 3});
  FabricTables tables;
  tables.switches = {{{0, {1, 7}}}, {{0, {1, 2}}, {0, {7, 8}}}, {{0, {2, 7}}}};
  tables.groups = {{0, 0}, {0, 1}};
  EXPECT_EQ(check(graph, groups, tables), Lines{"switch 1 \"switch-1-0-0\" has two entries for color 0"});
  tables.kind = Tables::of_port;
  EXPECT_EQ(check(graph, groups, tables), Lines{});
}

TEST(McastTables, TextIsReadAsWritten) {
  EXPECT_PROPERTY("read what was written", [] {
    const auto graph = test::drawn_fabric();
    const Hops hops(graph);
    Router router(hops, test::drawn_options());
    router.create_all(test::drawn_groups(graph));
    const auto tables = tables_of(router.forest());
    RC_ASSERT(read_tables(write_tables(tables, graph), "f", graph) == tables);
  });
}

TEST(McastTables, ADroppedPortIsFound) {
  EXPECT_PROPERTY("each port of a table matters", [] {
    const auto graph = test::drawn_fabric();
    const Hops hops(graph);
    Router router(hops, test::drawn_options());
    const Groups groups = test::drawn_groups(graph);
    router.create_all(groups);
    auto tables = tables_of(router.forest());
    RC_ASSERT(check(graph, groups, tables).empty());
    std::vector<TableEntry*> entries;
    for (auto& sw : tables.switches)
      for (TableEntry& entry : sw) entries.push_back(&entry);
    if (entries.empty()) return;
    TableEntry& spoilt = *entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
    spoilt.ports.erase(spoilt.ports.begin() +
                       static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, spoilt.ports.size())));
    RC_ASSERT(!check(graph, groups, tables).empty());
  });
}

/// A dump from another host has the same switches in another order; and one may be new.
TEST(McastTables, SwitchesAreFoundByTheirGuids) {
  const auto graph = topology::torus({3, 1, 1}, 1);
  const auto tables = read_tables(
      R"({"tables_of": "switch", "colors": null, "switches": [
         {"guid": "0x0000001000000002", "entries": [{"color": 3, "ports": [1, 7]}]},
         {"guid": "0x0000001000000000", "entries": [{"color": 2, "ports": [2, 7]}]}], "groups": []})",
      "f", graph);
  EXPECT_EQ(tables.switches, (std::vector<std::vector<TableEntry>>{{{2, {2, 7}}}, {}, {{3, {1, 7}}}}));
}

TEST(McastTables, FaultyTextIsRefused) {
  const auto graph = topology::torus({2, 1, 1}, 1);
  const std::string good =
      R"({"tables_of": "switch", "colors": null, "switches": [{"guid": "0x0000001000000000", "entries": []},
         {"guid": "0x0000001000000001", "entries": [{"color": 3, "ports": [1, 7]}]}], "groups": [{"color": null, "tree": null}]})";
  EXPECT_EQ(read_tables(good, "f", graph).switches[1].front(), (TableEntry{3, {1, 7}}));
  const auto expect_fault = [&](const std::string& from, const std::string& to, const std::string& message) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      read_tables(text, "f", graph);
      ADD_FAILURE() << to << " is taken";
    } catch (const Fault& fault) {
      EXPECT_STREQ(fault.what(), message.c_str());
    }
  };
  expect_fault("\"switch\"", "\"hub\"", "f:1: tables_of is \"hub\", must be switch or port");
  expect_fault("\"switch\"", "7", "f:1: tables_of is 7, must be switch or port");
  expect_fault(good, "[]", "f:1: tables are an object: {...}, as --mft writes it");
  expect_fault(good, "\n7", "f:1: tables are an object: {...}, as --mft writes it");
  expect_fault("[1, 7]", "[1, 8]", "f:2: switch 1: port is 8, must be below 8");
  expect_fault("[1, 7]", "[7, 7]", "f:2: switch 1: port 7 is not above the one before it");
  expect_fault("[1, 7]", "[0, 7]", "f:2: switch 1: port 0 is not above the one before it");
  expect_fault("[1, 7]", "[[[7]]]", "f:2: switch 1: port is array, must be below 8");
  expect_fault("[1, 7]", "{\"a\": 7}", "f:2: switch 1: ports is no list");
  expect_fault("[1, 7]", "[1, \n 8]", "f:2: switch 1: port is 8, must be below 8");
  expect_fault("00001\"", "00002\"",
               "f:2: switch 1: no switch of this fabric has GUID \"0x0000001000000002\"");
  expect_fault("\"0x0000001000000001\"", "17", "f:2: switch 1: no switch of this fabric has GUID 17");
  expect_fault("00001\"", "00000\"", "f:2: switch 1: GUID 0x0000001000000000 is there twice");
  expect_fault("3", "-3", "f:2: switch 1: color is -3, must be below " + std::to_string(no_limit));
  expect_fault("null", "0.5", "f:1: colors is 0.5, must be below 16385");
  expect_fault("null,", "\"" + std::string(70, 'x') + "\",",
               "f:1: colors is \"" + std::string(59, 'x') + "..., must be below 16385");
  expect_fault("3, \"ports\"", "3\n \"ports\"", "f:3: is no JSON");
  expect_fault("groups", "group", "f:1: key 'groups' not found");
  expect_fault("{\"color\": null", "\n{\"color\": 3000000000000",
               "f:3: group 0: color is 3000000000000, must be below " + std::to_string(no_limit));
  expect_fault("{\"color\": null", "7, {\"color\": null", "f:1: groups has number in it");
}

TEST(McastTables, McfdbsIsOpenSmsDump) {
  const auto graph = topology::torus({2, 1, 1}, 1);
  FabricTables tables;
  tables.switches = {{{0, {1, 7}}, {10, {2}}}, {}};
  EXPECT_EQ(write_mcfdbs(tables, graph),
            "\nSwitch 0x0000001000000000\nLID    : Out Port(s)\n0xC000 : 0x001  0x007 \n0xC00A : 0x002 \n");
  tables.switches[0][1].colour = 16383;  // 0xFFFF is no MLID
  EXPECT_THROW(write_mcfdbs(tables, graph), Fault);
  tables = {};
  tables.kind = Tables::of_port;
  EXPECT_THROW(write_mcfdbs(tables, graph), Fault);
}

}  // namespace
}  // namespace weft::mcast
