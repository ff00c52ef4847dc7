// SPDX-License-Identifier: Apache-2.0
// What a push would change, and tables that switches cannot hold.
#include "ib/plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fake_switches.hpp"

namespace weft::test {
namespace {

using ib::Plan;
using mcast::ForwardingTables;

TEST(Plan, HoldsTheBlocksThatChange) {
  FakeSwitches switches(some_switches(3));
  switches.hold({{1, {{0xc001, mask_of({1, 2})}}}, {2, {{0xc001, mask_of({5})}}}});
  const Plan plan =
      make_plan(switches, {{1, {{0xc001, mask_of({1, 35})}}}, {3, {{0xc041, mask_of({0, 16})}}}}, false);

  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].guid, 1u);
  ASSERT_EQ(plan[0].blocks.size(), 2u);
  EXPECT_EQ(plan[0].blocks[0].place, (ib::BlockPlace{0, 0}));
  EXPECT_EQ(plan[0].blocks[0].from[1], 0x0006);
  EXPECT_EQ(plan[0].blocks[0].to[1], 0x0002);
  EXPECT_EQ(plan[0].blocks[1].place, (ib::BlockPlace{0, 2}));
  EXPECT_EQ(plan[0].blocks[1].to[1], 0x0008);
  ASSERT_EQ(plan[1].blocks.size(), 1u) << "the group left this switch";
  EXPECT_EQ(plan[1].blocks[0].to[1], 0);
  ASSERT_EQ(plan[2].blocks.size(), 2u);
  EXPECT_EQ(plan[2].blocks[1].place, (ib::BlockPlace{2, 1}));
  EXPECT_EQ(plan[2].blocks[1].to[1], 0x0001);
  EXPECT_EQ(describe(plan[0].blocks[1]), (std::vector<std::string>{"  0xC001 : +0x023"}));
  EXPECT_EQ(describe(plan[1].blocks[0]), (std::vector<std::string>{"  0xC001 : -0x005"}));
}

TEST(Plan, IsEmptyIfNothingChanges) {
  const ForwardingTables tables{{1, {{0xc001, mask_of({1, 2})}}}};
  FakeSwitches switches(some_switches(2));
  switches.hold(tables);
  EXPECT_TRUE(make_plan(switches, tables, false).empty());
  EXPECT_TRUE(make_plan(switches, ForwardingTables{}, false).empty());
}

TEST(Plan, LeavesOtherMlidsAlone) {
  FakeSwitches switches(some_switches(1));
  switches.hold({{1, {{0xc000, mask_of({3})}, {0xc3ff, mask_of({4})}}}});
  const ForwardingTables tables{{1, {{0xc001, mask_of({1})}}}};
  const Plan plan = make_plan(switches, tables, false);
  ASSERT_EQ(plan.size(), 1u);
  ASSERT_EQ(plan[0].blocks.size(), 1u);
  EXPECT_EQ(plan[0].blocks[0].to[0], 0x0008);

  const Plan clearing = make_plan(switches, tables, true);
  ASSERT_EQ(clearing[0].blocks.size(), 2u);
  EXPECT_EQ(clearing[0].blocks[0].to[0], 0);
  EXPECT_EQ(clearing[0].blocks[1].place, (ib::BlockPlace{31, 0}));
}

TEST(Plan, ReadsOnlyBlocksOfItsMlids) {
  FakeSwitches switches(some_switches(10));
  make_plan(switches, {{1, {{0xc001, mask_of({1})}, {0xc081, mask_of({1})}}}}, false);
  EXPECT_EQ(switches.reads, 10u * 2 * 3);
}

TEST(Plan, RaisesTheLastMlid) {
  auto some = some_switches(4);
  for (auto& sw : some) sw.has_top = true;
  some[0].top = 0xc01f;
  some[1].top = 0;       // forwards all
  some[2].top = 0xbfff;  // forwards none
  some[3].top = 0xc01f;  // has no entry: stays
  FakeSwitches switches(some);
  const ForwardingTables dark{{1, {{0xc018, mask_of({7})}, {0xc025, mask_of({8})}, {0xc051, mask_of({9})}}}};
  switches.hold(dark);
  const mcast::Entries entries{{0xc042, mask_of({1})}};
  const Plan plan = make_plan(switches, {{1, entries}, {2, entries}, {3, entries}}, false);

  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].top, (ib::TopChange{0xc01f, 0xc05f}));
  EXPECT_EQ(plan[1].top, std::nullopt);
  EXPECT_EQ(plan[2].top, (ib::TopChange{0xbfff, 0xc05f}));
  ASSERT_EQ(plan[0].blocks.size(), 2u) << "what was in the dark is cleared, what was not is kept";
  EXPECT_EQ(plan[0].blocks[0].place, (ib::BlockPlace{1, 0}));
  EXPECT_EQ(plan[0].blocks[0].to[5], 0);
  EXPECT_EQ(plan[0].blocks[1].to[0x11], 0);
  EXPECT_EQ(plan[0].blocks[1].to[2], 0x0002);
}

TEST(Plan, RaisesTheLastMlidNoFurtherThanItGoes) {
  auto some = some_switches(1, 36, 40);
  some[0].has_top = true;
  some[0].top = 0xc000;
  FakeSwitches switches(some);
  EXPECT_EQ(make_plan(switches, {{1, {{0xc027, mask_of({1})}}}}, false).at(0).top,
            (ib::TopChange{0xc000, 0xc027}));
}

void expect_misfit(FakeSwitches& switches, const ForwardingTables& tables, const std::string& message) {
  try {
    make_plan(switches, tables, false);
    ADD_FAILURE() << "no fault: " << message;
  } catch (const ib::Misfit& misfit) {
    EXPECT_EQ(std::string(misfit.what()), message);
  }
}

TEST(Plan, NamesWhatSwitchesCannotHold) {
  FakeSwitches switches(some_switches(2, 36, 128));
  expect_misfit(switches, {{7, {{0xc000, mask_of({1})}}}}, "switch 0x0000000000000007 is not in this subnet");
  expect_misfit(switches, {{2, {{0xc080, mask_of({1})}}}},
                "switch 0x0000000000000002: MLID 0xC080 is out of its range: it has 128 from 0xC000 on");
  expect_misfit(switches, {{2, {{0xc07f, mask_of({37})}}}},
                "switch 0x0000000000000002: MLID 0xC07F has port 37, of 36");
  EXPECT_EQ(make_plan(switches, {{2, {{0xc07f, mask_of({36})}}}}, false).size(), 1u);
}

}  // namespace
}  // namespace weft::test
