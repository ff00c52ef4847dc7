// SPDX-License-Identifier: Apache-2.0
// Plans carried out: wherever it stops, nothing can run in a ring, and it can be resumed and undone.
#include "ib/push.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fake_switches.hpp"
#include "ib/journal.hpp"
#include "property.hpp"

namespace weft::test {
namespace {

using ib::Direction;
using ib::Plan;
using ib::Report;
using ib::State;
using mcast::ForwardingTables;

/// All ports of `part` are in `whole`.
bool within(const ForwardingTables& part, const ForwardingTables& whole) {
  bool inside = true;
  for (const auto& [guid, entries] : part)
    for (const auto& [mlid, mask] : entries)
      mask.for_each([&, guid = guid, mlid = mlid](uint32_t port) {
        const auto sw = whole.find(guid);
        if (sw == whole.end() || !sw->second.contains(mlid) || !sw->second.at(mlid).test(port))
          inside = false;
      });
  return inside;
}

ForwardingTables drawn_tables() {
  ForwardingTables tables;
  const auto entries = *rc::gen::inRange(0, 12);
  for (int i = 0; i < entries; ++i)
    tables[*rc::gen::inRange<uint64_t>(1, 5)][*rc::gen::inRange<uint16_t>(0xc000, 0xc050)].set(
        *rc::gen::inRange<uint32_t>(0, 37));
  return tables;
}

void in_any_order(FakeSwitches& switches) {
  switches.in_flight = *rc::gen::inRange<std::size_t>(1, 9);
  switches.choose = [](std::size_t of) { return *rc::gen::inRange<std::size_t>(0, of); };
}

TEST(Push, LeadsFromTheOldToTheNewThroughPartsOfEither) {
  EXPECT_PROPERTY("what is set while it goes on is of the old or of the new", [] {
    const ForwardingTables before = drawn_tables(), after = drawn_tables();
    FakeSwitches switches(some_switches(4));
    in_any_order(switches);
    switches.hold(before);
    const Plan plan = make_plan(switches, after, true);
    switches.after_write = [&] {
      RC_ASSERT(within(switches.tables(), before) || within(switches.tables(), after));
    };
    const Report report = push(switches, plan);
    RC_ASSERT(report.ok());
    RC_ASSERT(switches.tables() == after);
    RC_ASSERT(switches.writes == report.blocks_written);
    RC_ASSERT(make_plan(switches, after, true).empty());
  });
}

// A push stops anywhere; then it, or its undoing, may stop anywhere again; in the end it leads to its goal.
TEST(Push, CanBeResumedAndUndoneWhereverItStops) {
  EXPECT_PROPERTY("what it says can be resumed and undone", [] {
    const ForwardingTables before = drawn_tables(), after = drawn_tables();
    FakeSwitches switches(some_switches(4));
    in_any_order(switches);
    switches.hold(before);
    const Plan journal = ib::read_journal(ib::write_journal(make_plan(switches, after, true)), "journal");
    switches.after_write = [&] {
      RC_ASSERT(within(switches.tables(), before) || within(switches.tables(), after));
    };
    Plan plan = journal;
    auto direction = Direction::forward;
    for (int round = 0; round < 3; ++round) {
      switches.writes_left = *rc::gen::inRange(0, 10);
      switches.last_comes_through = *rc::gen::arbitrary<bool>();
      push(switches, plan);
      direction = *rc::gen::arbitrary<bool>() ? Direction::forward : Direction::back;
      plan = make_plan(switches, journal, direction);
    }
    switches.writes_left = -1;
    RC_ASSERT(push(switches, plan).ok());
    RC_ASSERT(switches.tables() == (direction == Direction::forward ? after : before));
  });
}

TEST(Push, SaysWhichSwitchesItHasChanged) {
  const ForwardingTables after{{1, {{0xc001, mask_of({1})}}},
                               {2, {{0xc001, mask_of({1})}, {0xc021, mask_of({1})}}},
                               {3, {{0xc001, mask_of({1})}}}};
  FakeSwitches switches(some_switches(3));
  const Plan plan = make_plan(switches, after, false);
  switches.writes_left = 2;
  const Report report = push(switches, plan);
  EXPECT_EQ(report.failure, "switch 1 is silent");
  EXPECT_EQ(report.states, (std::vector<State>{State::changed, State::uncertain, State::unchanged}));
  EXPECT_EQ(report.blocks_written, 2u);
}

/// What a switch of the plan holds: all of the new, nothing of it, or neither.
State held(FakeSwitches& switches, const ib::SwitchChange& change) {
  std::size_t sw = 0;
  while (switches.all()[sw].guid != change.guid) ++sw;
  bool all = true, nothing = true;
  for (const ib::BlockChange& block : change.blocks) {
    const ib::Block now = switches.read(sw, block.place);
    all &= now == block.to;
    nothing &= now == block.from;
  }
  return all ? State::changed : nothing ? State::unchanged : State::partly;
}

TEST(Push, WhatItSaysOfSwitchesIsSoWhicheverDatagramsAreLost) {
  EXPECT_PROPERTY("what it says of switches is so", [] {
    const ForwardingTables before = drawn_tables(), after = drawn_tables();
    FakeSwitches switches(some_switches(4));
    in_any_order(switches);
    switches.hold(before);
    const Plan plan = make_plan(switches, after, true);
    switches.writes_left = *rc::gen::inRange(0, 10);
    switches.last_comes_through = *rc::gen::arbitrary<bool>();
    const Report report = push(switches, plan);
    for (std::size_t i = 0; i < plan.size(); ++i)
      RC_ASSERT(report.states[i] == State::uncertain || report.states[i] == held(switches, plan[i]));
    RC_ASSERT(report.ok() == (switches.tables() == after && report.blocks_verified > 0) || plan.empty() ||
              switches.last_comes_through);
  });
}

TEST(Push, SwitchIsUncertainAlsoIfALaterAnswerComes) {
  FakeSwitches switches(some_switches(1));
  const Plan plan = make_plan(switches, {{1, {{0xc001, mask_of({1})}, {0xc021, mask_of({1})}}}}, false);
  switches.in_flight = 2;
  switches.choose = [](std::size_t of) { return of - 1; };
  switches.writes_left = 0;
  switches.last_comes_through = true;
  const Report report = push(switches, plan);
  EXPECT_EQ(report.states, (std::vector<State>{State::uncertain}));
  EXPECT_EQ(report.blocks_written, 1u);
  EXPECT_EQ(held(switches, plan[0]), State::changed);
}

TEST(Push, SaysWhichSwitchesAreChangedInPart) {
  const ForwardingTables before{{1, {{0xc001, mask_of({1})}}}, {2, {{0xc001, mask_of({1})}}}};
  const ForwardingTables after{{1, {{0xc001, mask_of({2})}}}, {2, {{0xc001, mask_of({2})}}}};
  FakeSwitches switches(some_switches(2));
  switches.hold(before);
  const Plan plan = make_plan(switches, after, false);
  switches.writes_left = 2;  // both have lost the old port
  EXPECT_EQ(push(switches, plan).states, (std::vector<State>{State::uncertain, State::partly}));
}

TEST(Push, NoticesWhatASwitchDoesNotKeep) {
  class Forgetful : public FakeSwitches {
   public:
    using FakeSwitches::FakeSwitches;
    ib::Block read(std::size_t sw, ib::BlockPlace place) override {
      return writes == 0 ? FakeSwitches::read(sw, place) : ib::Block{};
    }
  };
  Forgetful switches(some_switches(1));
  const Plan plan = make_plan(switches, {{1, {{0xc021, mask_of({20})}}}}, false);
  const Report report = push(switches, plan);
  EXPECT_EQ(report.failure,
            "switch 0x0000000000000001: block 1 position 1 reads back differently than it was written");
  EXPECT_EQ(report.states, (std::vector<State>{State::partly}));
}

// Old entries in the dark never come to light, neither on the way there nor on the way back.
TEST(Push, MovesTheLastMlidWhileNothingOldIsAboveIt) {
  auto some = some_switches(1);
  some[0].has_top = true;
  some[0].top = 0xc01f;
  FakeSwitches switches(some);
  const ForwardingTables before{{1, {{0xc001, mask_of({3})}, {0xc025, mask_of({8})}}}},
      after{{1, {{0xc001, mask_of({3})}, {0xc042, mask_of({1})}}}};
  switches.hold(before);
  const Plan journal = make_plan(switches, {{1, {{0xc042, mask_of({1})}}}}, false);
  ForwardingTables lit_before = before;
  lit_before[1].erase(0xc025);
  switches.after_write = [&] {
    ForwardingTables lit = switches.tables();
    std::erase_if(lit[1], [&](const auto& entry) { return entry.first > switches.all()[0].top; });
    EXPECT_TRUE(within(lit, lit_before) || within(lit, after));
  };
  ASSERT_TRUE(push(switches, journal).ok());
  EXPECT_EQ(switches.tables(), after);
  EXPECT_EQ(switches.all()[0].top, 0xc05f);
  EXPECT_TRUE(make_plan(switches, journal, Direction::forward).empty());
  ASSERT_TRUE(push(switches, make_plan(switches, journal, Direction::back)).ok());
  EXPECT_EQ(switches.tables(), before);
  EXPECT_EQ(switches.all()[0].top, 0xc01f);
}

/// What becomes of a switch that does not answer when its last MLID is to be moved, between taking away and
/// adding.
TEST(Push, SwitchIsUncertainWhileItsLastMlidIsOnItsWay) {
  for (const bool comes_through : {false, true}) {
    auto some = some_switches(2);
    for (ib::Switch& sw : some) {
      sw.has_top = true;
      sw.top = 0xc01f;
    }
    FakeSwitches switches(some);
    const ForwardingTables after{{1, {{0xc042, mask_of({1})}}}, {2, {{0xc042, mask_of({1})}}}};
    const Plan plan = make_plan(switches, after, false);
    switches.writes_left = 1;  // nothing is to be taken away: the first is a last MLID, too
    switches.last_comes_through = comes_through;
    const Report report = push(switches, plan);
    EXPECT_EQ(report.failure, "switch 1 is silent");
    EXPECT_EQ(report.states, (std::vector<State>{State::partly, State::uncertain}));
    EXPECT_EQ(switches.all()[1].top, comes_through ? 0xc05f : 0xc01f);
    switches.writes_left = -1;
    ASSERT_TRUE(push(switches, make_plan(switches, plan, Direction::forward)).ok());
    EXPECT_EQ(switches.tables(), after);
    EXPECT_EQ(switches.all()[1].top, 0xc05f);
  }
}

TEST(Push, DoesNotGoOnWhereSomebodyElseHasBeen) {
  FakeSwitches switches(some_switches(1));
  const Plan journal = make_plan(switches, {{1, {{0xc001, mask_of({1})}}}}, false);
  switches.hold({{1, {{0xc001, mask_of({2})}}}});
  EXPECT_THROW(make_plan(switches, journal, Direction::forward), ib::Misfit);
  EXPECT_THROW(make_plan(switches, journal, Direction::back), ib::Misfit);
  FakeSwitches others({{9, "", 36, 1024, false, 0}});
  EXPECT_THROW(make_plan(others, journal, Direction::forward), ib::Misfit);
  EXPECT_THROW(push(others, journal), ib::Misfit);
}

}  // namespace
}  // namespace weft::test
