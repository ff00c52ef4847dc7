// SPDX-License-Identifier: Apache-2.0
// Barrier engines on a mesh: times without faults, broken links, faults of links, a death.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "barrier/engine_node.hpp"
#include "barrier/mesh_run.hpp"
#include "common/fault.hpp"

namespace weft::tb {
namespace {

using Engines = BarrierRun::Engines;

std::string findings(const BarrierRunResult& result) {
  std::string text;
  for (const std::string& finding : result.findings) text += finding + "\n";
  return text;
}

TEST(BarrierMesh, RtlOnAMeshOfSixteenWithBrokenLinks) {
  const auto result = run_barriers({.broken = 0.3, .engines = Engines::rtl, .barriers = 5});
  EXPECT_TRUE(result.ok()) << findings(result);
  EXPECT_EQ(result.broken_links, 7U);
  EXPECT_EQ(result.barriers, 5U);
  EXPECT_GE(result.cycles, static_cast<double>(result.lower_bound));
}

TEST(BarrierMesh, GoldenAndRtlTogether) {
  fabric::Faults faults{
      .loss = 0.01, .duplicate = 0.05, .corrupt = 0.01, .reorder_degree = 2, .delay = 5, .jitter = 20};
  faults.hold_limit = 500;
  const auto result =
      run_barriers({.size = {3, 3}, .engines = Engines::mixed, .faults = faults, .groups = 4, .barriers = 6});
  EXPECT_TRUE(result.ok()) << findings(result);
  EXPECT_EQ(result.barriers, 24U);
  EXPECT_GT(result.network.lost, 0U);
  EXPECT_GT(result.network.corrupted, 0U);
  EXPECT_GT(result.repeated, 0U);
}

/// Clocks, where nothing is lost: as docs/barrier.md says, and for packets on their way.
uint64_t longest_to_name(uint32_t levels, uint32_t children) {
  const auto waiting = waiting_of({});
  const uint64_t ticks = (uint64_t{waiting.tries} + children + levels) * waiting.largest;
  return (ticks + levels) * engine_tick + uint64_t{500};
}

// Whoever of 64 it is: each tree has leaves and a root.
TEST(BarrierMesh, ADeathIsNamedInTime) {
  for (const auto& [shape, name] : barrier::shapes)
    for (const barrier::Node dies : {0u, 9u, 27u, 36u, 63u}) {
      const auto result = run_barriers(
          {.size = {8, 8}, .shape = shape, .engines = Engines::golden, .barriers = 4, .dies = dies});
      EXPECT_TRUE(result.ok()) << findings(result);
      EXPECT_EQ(result.named_dead, 63U);
      EXPECT_LE(result.clocks_to_name, longest_to_name(6, 14)) << name << ", " << dies;
    }
}

TEST(BarrierMesh, WhoDiesIsNamedToAllOthers) {
  for (const Engines engines : {Engines::golden, Engines::rtl}) {
    for (const bool multicast : {false, true}) {
      const auto result = run_barriers(
          {.size = {2, 3}, .multicast = multicast, .engines = engines, .barriers = 4, .dies = 4});
      EXPECT_TRUE(result.ok()) << findings(result);
      EXPECT_EQ(result.named_dead, 5U);
      EXPECT_GT(result.clocks_to_name, 0U);
      EXPECT_LE(result.clocks_to_name, longest_to_name(3, 2));
    }
  }
}

// Software comes back after up to a hundred ticks, ten are allowed: each name is checked by the run.
TEST(BarrierMesh, WhoIsLateIsNamed) {
  BarrierRun run{.size = {3, 3}, .engines = Engines::mixed, .barriers = 10, .think = 6400, .late = 10};
  const auto result = run_barriers(run);
  EXPECT_TRUE(result.ok()) << findings(result);
  EXPECT_EQ(result.barriers, 10U);
  EXPECT_GT(result.named_late, 20U);
  run.late = 1000;
  EXPECT_EQ(run_barriers(run).named_late, 0U);
}

// On busy links packets wait; on idle ones of the same kind they take as long as ever.
TEST(BarrierMesh, BackgroundTrafficTakesTime) {
  BarrierRun run{.broken = 0.2, .engines = Engines::golden, .barriers = 10, .together = true};
  const double idle = run_barriers(run).cycles.value();
  double before = idle;
  for (const double load : {0.001, 0.1, 0.2}) {
    run.background.load = load;
    const auto result = run_barriers(run);
    EXPECT_TRUE(result.ok()) << findings(result);
    EXPECT_EQ(result.barriers, 10U);
    if (load < 0.01)
      EXPECT_LT(result.cycles.value(), 1.2 * idle);
    else
      EXPECT_GT(result.cycles.value(), 1.1 * before) << load;
    before = result.cycles.value();
  }
}

// Two packets that want over a link in one clock go one after the other; each node's traffic is what was
// asked.
TEST(BarrierMesh, LinksCarryOnePacketAtATime) {
  const barrier::Mesh mesh({2, 1}, barrier::Links::four);
  const barrier::Routes routes(mesh);
  BusyLinks quiet(mesh, routes, {}, 5, 1);
  quiet.step();
  EXPECT_EQ(quiet.enter(0, 1), 1U);
  EXPECT_EQ(quiet.enter(0, 1), 2U);
  EXPECT_EQ(quiet.enter(1, 0), 1U) << "the other direction";
  BusyLinks busy(mesh, routes, {.load = 0.5, .packet_clocks = 9}, 5, 1);
  uint64_t waited = 0;
  constexpr uint32_t clocks = 20'000;
  for (uint32_t clock = 1; clock <= clocks; clock++) {
    busy.step();
    if (clock % 20 == 0) waited += busy.enter(0, 1) - clock;
  }
  // A quarter of the clocks the link is taken, by packets of nine: whoever comes waits for half of one.
  EXPECT_NEAR(static_cast<double>(waited) / (clocks / 20.0), 1.5, 0.5);
}

// From the last arrival on: without --together those that were told first come back while others are told.
TEST(BarrierMesh, AllComeTogether) {
  BarrierRun run{
      .broken = 0.3, .multicast = true, .engines = Engines::golden, .barriers = 6, .together = true};
  const auto result = run_barriers(run);
  EXPECT_TRUE(result.ok()) << findings(result);
  EXPECT_EQ(result.barriers, 6U);
  run.together = false;
  EXPECT_LT(run_barriers(run).cycles, result.cycles);
  run.together = true;
  run.dies = 3;
  const auto after_death = run_barriers(run);
  EXPECT_TRUE(after_death.ok()) << findings(after_death);
  EXPECT_EQ(after_death.named_dead, 15U);
}

// Release of all nodes of a mesh of 4x4 as one packet crosses 15 links, and comes sooner.
TEST(BarrierMesh, MulticastReleaseIsOnePacket) {
  for (const double broken : {0.0, 0.3}) {
    BarrierRun run{.broken = broken, .barriers = 10};
    const auto along_tree = run_barriers(run);
    run.multicast = true;
    const auto copied = run_barriers(run);
    EXPECT_TRUE(copied.ok()) << findings(copied);
    EXPECT_EQ(copied.packets, 10U * (15 + 1)) << "nothing is repeated";
    EXPECT_LE(copied.hops, along_tree.hops);
    EXPECT_LT(copied.cycles, along_tree.cycles);
  }
}

// With one try only, a lost packet makes a living member dead: the run says so.
TEST(BarrierMesh, ALivingMemberCalledDeadIsAFinding) {
  const auto result = run_barriers(
      {.engines = Engines::golden, .faults = {.loss = 0.3, .delay = 5}, .barriers = 20, .tries = 0});
  EXPECT_FALSE(result.ok());
  EXPECT_NE(findings(result).find("is dead, which is not so"), std::string::npos);
}

// About (2p)^tries, as docs/barrier.md says.
TEST(BarrierMesh, FalseDeathsAreForeseen) {
  const BarrierRun lossy{.faults = {.loss = 0.1, .corrupt = 0.1}, .tries = 3};
  EXPECT_NEAR(lost_on_a_link(lossy), 0.19, 1e-12);
  EXPECT_NEAR(false_death(lossy, 1), std::pow(2 * 0.19 - 0.19 * 0.19, 4), 1e-12);
  EXPECT_GT(false_death(lossy, 3), false_death(lossy, 2));
  EXPECT_EQ(false_death({}, 9), 0);
  EXPECT_EQ(run_barriers({.engines = Engines::golden}).false_deaths, 0);
  const auto result = run_barriers(
      {.size = {8, 8}, .engines = Engines::golden, .faults = {.loss = 0.5, .corrupt = 0.3, .delay = 5}});
  EXPECT_FALSE(result.ok());
  EXPECT_GT(result.named_living, 0u);
  EXPECT_GT(result.false_deaths, 1);
}

// The run ends with the tenth, and what is seen in that clock is counted.
TEST(BarrierMesh, FindingsAreTenAtMost) {
  const auto result = run_barriers(
      {.size = {8, 8}, .engines = Engines::golden, .faults = {.loss = 0.5, .delay = 5}, .groups = 4});
  EXPECT_EQ(result.findings.size(), 10u);
  EXPECT_GT(result.more_findings, 0u);
}

TEST(BarrierMesh, ABarrierThatNoneCompletesHasNoMean) {
  const auto result = run_barriers({.engines = Engines::golden, .barriers = 1, .dies = 3});
  EXPECT_TRUE(result.ok()) << findings(result);
  EXPECT_EQ(result.barriers, 0u);
  EXPECT_FALSE(result.cycles);
}

TEST(BarrierMesh, AHangIsAFinding) {
  const auto result = run_barriers(
      {.engines = Engines::golden, .faults = {.loss = 1, .delay = 5}, .tries = 255, .most_clocks = 5000});
  EXPECT_NE(findings(result).find("a hang"), std::string::npos);
}

// The search begins anew: with the offset that was kept, the barriers after the change would take as long as
// those of the first round do.
TEST(BarrierMesh, LinksBreakAndHealBetweenBarriers) {
  for (const bool multicast : {false, true}) {
    BarrierRun run{.size = {8, 8}, .multicast = multicast, .engines = Engines::golden, .barriers = 40};
    const double whole = run_barriers(run).cycles.value();
    run.later = 0.3;
    const auto broken = run_barriers(run);
    EXPECT_TRUE(broken.ok()) << findings(broken);
    EXPECT_EQ(broken.barriers, 40U);
    EXPECT_EQ(broken.broken_links, 0U);
    EXPECT_EQ(broken.broken_later, 34U);
    EXPECT_NEAR(broken.cycles.value(), whole, 0.1 * whole);
    EXPECT_GT(broken.cycles_later.value(), 1.1 * whole);
    run.broken = 0.3;
    run.later = 0;
    const auto healed = run_barriers(run);
    EXPECT_TRUE(healed.ok()) << findings(healed);
    EXPECT_EQ(healed.broken_later, 0U);
    EXPECT_LT(healed.cycles_later.value(), healed.cycles.value());
  }
}

/// An engine whose completions are changed on their way to software.
class WrongNode : public EngineNode {
 public:
  using Change = std::function<void(std::vector<barrier::Completion>&)>;

  WrongNode(barrier::Node self, Change change) : right_(golden_node(self)), change_(std::move(change)) {}

  void open(uint32_t group, const barrier::GroupSettings& settings) override {
    right_->open(group, settings);
  }
  void arrive(uint32_t group) override { right_->arrive(group); }
  bool busy() const override { return right_->busy(); }
  void receive(const barrier::PacketBytes& bytes) override { right_->receive(bytes); }
  void clock(uint32_t pauses) override { right_->clock(pauses); }
  std::vector<barrier::PacketBytes> take_packets() override { return right_->take_packets(); }
  std::vector<barrier::Completion> take_completions() override {
    std::vector<barrier::Completion> completions = right_->take_completions();
    change_(completions);
    return completions;
  }
  uint64_t repeated() const override { return right_->repeated(); }

 private:
  std::unique_ptr<EngineNode> right_;
  Change change_;
};

/// What a run of sixteen finds if node 5 is such a one.
std::string found_of(BarrierRun run, const WrongNode::Change& change) {
  run.most_clocks = 1'000'000;
  return findings(run_barriers(run, [&](barrier::Node node) -> std::unique_ptr<EngineNode> {
    if (node == 5) return std::make_unique<WrongNode>(node, change);
    return golden_node(node);
  }));
}

TEST(BarrierMesh, EnginesThatAreRightAreNoFinding) {
  EXPECT_EQ(found_of({}, [](auto&) {}), "");
}

// Software comes to the second barrier only after 1,000 clocks: who is told of it at once leaves early.
TEST(BarrierMesh, AnEarlyLeaveIsAFinding) {
  const std::string found = found_of({.think = 1000}, [](auto& completions) {
    if (completions.empty()) return;
    barrier::Completion next = completions.back();
    next.epoch++;
    completions.push_back(next);
  });
  EXPECT_NE(found.find("node 5 leaves barrier 1 before node"), std::string::npos) << found;
}

TEST(BarrierMesh, ALeaveOfAnotherBarrierIsAFinding) {
  const std::string found = found_of({}, [](auto& completions) {
    for (barrier::Completion& completion : completions) completion.epoch += 7;
  });
  EXPECT_NE(found.find("node 5 leaves barrier 7 instead of 0"), std::string::npos) << found;
}

TEST(BarrierMesh, ADeathThatIsNotToldIsAFinding) {
  const std::string found = found_of({.dies = 9}, [](auto& completions) {
    std::erase_if(completions,
                  [](const auto& completion) { return completion.ending != barrier::Ending::ok; });
  });
  EXPECT_NE(found.find("node 5 is not told of the death of node 9"), std::string::npos) << found;
}

/// Those of failures come so many clocks later.
WrongNode::Change failures_later(uint64_t clocks) {
  return
      [clocks, waited = uint64_t{0}, kept = std::vector<barrier::Completion>()](auto& completions) mutable {
        for (const auto& completion : completions)
          if (completion.ending != barrier::Ending::ok) kept.push_back(completion);
        std::erase_if(completions,
                      [](const auto& completion) { return completion.ending != barrier::Ending::ok; });
        if (kept.empty() || waited++ < clocks) return;
        completions.insert(completions.end(), kept.begin(), kept.end());
        kept.clear();
      };
}

// Most is about 20,000 clocks where nothing is lost, and some fifteen times as much else.
TEST(BarrierMesh, ADeathThatIsToldTooLateIsAFinding) {
  const BarrierRun whole{.dies = 9}, lossy{.faults = {.loss = 0.01, .delay = 5}, .dies = 9};
  const std::string late = "node 5 is told of the death ";
  EXPECT_EQ(found_of(whole, failures_later(1'000)), "");
  EXPECT_NE(found_of(whole, failures_later(25'000)).find(late), std::string::npos);
  EXPECT_EQ(found_of(lossy, failures_later(25'000)), "");
  EXPECT_NE(found_of(lossy, failures_later(400'000)).find(late), std::string::npos);
}

TEST(BarrierMesh, AnotherOneNamedDeadIsAFinding) {
  const std::string found = found_of({.dies = 9}, [](auto& completions) {
    for (barrier::Completion& completion : completions) completion.dead = 3;
  });
  EXPECT_NE(found.find("node 5 is told that 3 is dead, which is not so"), std::string::npos) << found;
}

TEST(BarrierMesh, ALateNameThatIsNotSoIsAFinding) {
  for (const barrier::Node named : {barrier::Node{3}, barrier::Node{16}}) {
    const std::string found = found_of({}, [&](auto& completions) {
      for (barrier::Completion& completion : completions) completion.late = named;
    });
    const std::string expected = named < 16 ? "node 5 is told that 3 was late for barrier 0, which is not so"
                                            : "node 5 is told that 16, no member, is late";
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  }
}

// Those that have to be named are counted.
TEST(BarrierMesh, WhoIsLateByFarHasToBeNamed) {
  BarrierRun run{.engines = Engines::golden, .barriers = 10, .think = 30'000, .late = 5};
  EXPECT_GT(run_barriers(run).late_promised, 10U);
  run.late = 1000;
  EXPECT_EQ(run_barriers(run).late_promised, 0U);
}

TEST(BarrierMesh, AMissingLateNameIsAFinding) {
  const std::string found = found_of({.barriers = 10, .think = 30'000, .late = 5}, [](auto& completions) {
    for (barrier::Completion& completion : completions) completion.late.reset();
  });
  EXPECT_NE(found.find("node 5 is not told that "), std::string::npos) << found;
}

TEST(BarrierMesh, DrawnRuns) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    const auto result = run_barriers(drawn_run(seed));
    EXPECT_TRUE(result.ok()) << "seed " << seed << ": " << findings(result);
  }
}

TEST(BarrierMesh, RefusesWhatThereIsNot) {
  EXPECT_THROW(run_barriers({.size = {9, 8}}), Fault);
  EXPECT_THROW(run_barriers({.dies = 16}), Fault);
  EXPECT_THROW(run_barriers({.later = 0.1, .background = {.load = 0.1}}), Fault);
}

}  // namespace
}  // namespace weft::tb
