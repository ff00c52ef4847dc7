// SPDX-License-Identifier: Apache-2.0
// Barriers of the host library on simulated NICs. One test is the code of docs/driver.md
// (tests/flow/test_guide.py).
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs_fixture.hpp"

namespace weft::tb {
namespace {

using namespace verbs;

/// Both sides of a barrier of two nodes; this thread clocks them.
class VerbsBarrier : public Verbs {
 protected:
  VerbsBarrier() : here(attach(0)), there(attach(1)), domain_here(here), domain_there(there) {}
  static constexpr std::array<uint32_t, 2> both{0, 1};
  Context here, there;
  ProtectionDomain domain_here, domain_there;
};

TEST_F(VerbsBarrier, NobodyLeavesBeforeAllHaveArrived) {
  Barrier mine(domain_here, 3, both), theirs(domain_there, 3, both);
  for (int round = 0; round < 5; ++round) {
    mine.arrive();
    EXPECT_FALSE(mine.wait(2'000)) << round;
    theirs.arrive();
    EXPECT_TRUE(theirs.wait(100'000));
    EXPECT_TRUE(mine.wait(100'000));
  }
}

TEST_F(VerbsBarrier, AsTheGuideHasIt) {
  ProtectionDomain& domain = domain_here;
  Barrier theirs(domain_there, 0, both);
  theirs.arrive();
  Barrier barrier(domain, /*number=*/0, std::array<uint32_t, 2>{0, 1});
  barrier.enter();
  EXPECT_TRUE(theirs.wait(100'000));
}

TEST_F(VerbsBarrier, RefusalsAreNamed) {
  const std::vector<uint32_t> twice{0, 1, 0}, without{1}, far{0, 64};
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 3, twice); }), "barrier: node 0 is named twice");
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 3, far); }), "barrier: node 64 is beyond 63");
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 3, without); }), "node 0: barrier: NOT_MEMBER");
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 3, std::span<const uint32_t>{}); }),
            "node 0: barrier: EMPTY");
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 16, both); }), "node 0: no barrier 16: the node has 16");
  Barrier mine(domain_here, 3, both);
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 3, both); }), "node 0: barrier 3 is in use");
  mine.arrive();
  EXPECT_EQ(fault_of([&] { mine.arrive(); }), "node 0: barrier: ARRIVED");
  const auto other = attach(0);
  EXPECT_FALSE(other->ask({.ask = driver::Ask::arrive, .a = 3}).ok) << "of another application";
  EXPECT_FALSE(other->ask({.ask = driver::Ask::close_barrier, .a = 3}).ok);
}

TEST_F(VerbsBarrier, MissingMemberIsNamedNotWaitedForForEver) {
  Barrier mine(domain_here, 0, both);
  EXPECT_EQ(fault_of([&] { mine.enter(); }), "barrier 0: node 1 is dead");
}

TEST_F(VerbsBarrier, WhoIsLateIsNamed) {
  Barrier mine(domain_here, 0, both), theirs(domain_there, 0, both);
  for (const bool late : {true, false}) {
    mine.arrive();
    EXPECT_FALSE(mine.wait(late ? 300'000 : 1'000));
    EXPECT_EQ(mine.late(), late ? std::optional(1u) : std::nullopt) << "it has not come yet";
    theirs.arrive();
    EXPECT_TRUE(mine.wait(100'000) && theirs.wait(100'000));
    EXPECT_EQ(mine.late(), late ? std::optional(1u) : std::nullopt);
    EXPECT_EQ(theirs.late(), std::nullopt);
  }
}

TEST_F(VerbsBarrier, WhoNeverComesIsNamed) {
  Barrier mine(domain_here, 0, both), theirs(domain_there, 0, both);
  EXPECT_EQ(fault_of([&] { mine.enter(300'000); }),
            "barrier 0 has not ended within 300000 clocks: node 1 is late");
}

// Node 2 is not there; node 1 comes when node 0 was told so and has closed its barrier long ago.
TEST_F(VerbsBarrier, WhoComesLongAfterAFailureIsToldWhoIsDead) {
  constexpr std::array<uint32_t, 3> with_dead{0, 1, 2};
  Barrier theirs(domain_there, 0, with_dead);
  {
    Barrier mine(domain_here, 0, with_dead);
    EXPECT_EQ(fault_of([&] { mine.enter(); }), "barrier 0: node 2 is dead");
  }
  EXPECT_FALSE(theirs.wait(100'000)) << "it has not arrived";
  EXPECT_EQ(fault_of([&] { theirs.enter(); }), "barrier 0: node 2 is dead");
  EXPECT_EQ(nodes->server(0).barriers_in_use(), 1u) << "it answers still";
  const Barrier again(domain_here, 0, both, 1);
}

TEST_F(VerbsBarrier, TheSameInstanceIsRefused) {
  { const Barrier brief(domain_here, 4, both, 7); }
  EXPECT_EQ(fault_of([&] { Barrier(domain_here, 4, both, 7); }), "node 0: barrier: SAME_INSTANCE");
  const Barrier another(domain_here, 4, both, 8);
}

TEST_F(VerbsBarrier, WhoGoesLeavesNoBarrier) {
  {
    Barrier mine(domain_here, 5, both);
    EXPECT_EQ(nodes->server(0).barriers_in_use(), 1u);
  }
  run_until_clear();
  EXPECT_EQ(nodes->server(0).barriers_in_use(), 0u);
  {
    Context brief(attach(0));
    const auto port = attach(0);  // goes without a word
    ASSERT_TRUE(port->ask({.ask = driver::Ask::open_barrier, .a = 5, .b = 1, .x = 3}).ok);
  }
  run_until_clear();
  EXPECT_EQ(nodes->server(0).barriers_in_use(), 0u);
  const Barrier again(domain_here, 5, both, 2);
}

/// The second of two who wait for it is refused when the first one has it.
TEST_F(VerbsBarrier, OpenedAgainAtOnceItWaitsUntilTheLastOneIsClosed) {
  for (uint16_t instance = 0; instance < 2; ++instance) {
    const uint64_t before = here.clock();
    Barrier mine(domain_here, 3, both, instance), theirs(domain_there, 3, both, instance);
    if (instance > 0) {
      EXPECT_GT(here.clock(), before + 32'000) << "the last one still answers";
      EXPECT_LT(here.clock(), before + 34'000) << "and no longer: opening takes some hundreds";
    }
    mine.arrive();
    EXPECT_FALSE(mine.wait(2'000));
    theirs.arrive();
    EXPECT_TRUE(mine.wait(100'000));
    EXPECT_TRUE(theirs.wait(100'000));
  }
}

/// As another application asks meanwhile; who goes while it waits has none of it.
TEST_F(VerbsBarrier, OneOfThoseWhoWaitForItHasIt) {
  { const Barrier brief(domain_here, 3, both); }
  const auto ask = [&](uint32_t place, std::string& why) {
    nodes->server(0).handle(place, {.ask = driver::Ask::open_barrier, .a = 3, .b = 1, .x = 3},
                            [&why](const driver::Reply& reply) { why = reply.ok ? "open" : reply.text(); });
  };
  const uint32_t gone = take_place(*nodes, 0), first = take_place(*nodes, 0), second = take_place(*nodes, 0);
  std::string why_gone, why_first, why_second;
  ask(gone, why_gone), ask(first, why_first), ask(second, why_second);
  nodes->server(0).detach(gone);
  run_until_clear();
  for (int clock = 0; clock < 1000; ++clock) nodes->step();
  EXPECT_EQ(why_gone, "");
  EXPECT_EQ(why_first, "open");
  EXPECT_EQ(why_second, "barrier 3 is in use");
}

}  // namespace
}  // namespace weft::tb
