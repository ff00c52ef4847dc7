// SPDX-License-Identifier: Apache-2.0
// Fabrics of lookup blocks: tables that have one mistake are found, and told by group or pair; updates come
// into use while packets fly; with faults nothing is lost that is promised.
#include <gtest/gtest.h>

#include <cctype>

#include "switch/fabric_run.hpp"
#include "switchtables/fabric.hpp"

namespace weft::tb {
namespace {

/// Another fault in each fabric, first one that tables know, then one that is news.
struct Case {
  const char* topology;
  const char* known;
  const char* later;
};

class FabricRun : public testing::TestWithParam<Case> {
 protected:
  static FabricConfig config(Flaw flaw, uint64_t seed) {
    FabricConfig config;
    config.topology = GetParam().topology;
    config.groups = "random:6:5:1";
    config.rtl = false;
    config.flaw = flaw;
    config.seed = seed;
    return config;
  }
  static FabricConfig with_faults(Flaw flaw, uint64_t seed) {
    FabricConfig faulty = config(flaw, seed);
    const switchtables::Fabric fabric(faulty.topology);
    faulty.known.emplace(fabric.graph());
    fail_switch(*faulty.known, fabric.graph(), GetParam().known);
    return faulty;
  }

  /// With any seed the mistake is another one.
  static void expect_found(const FabricConfig& config, const std::string& how) {
    const FabricResult result = run_fabric(config);
    EXPECT_FALSE(result.ok()) << "seed " << config.seed;
    EXPECT_GT(result.passes[config.update ? 1 : 0].wrong, 0u) << "seed " << config.seed;
    for (const std::string& finding : result.findings) EXPECT_EQ(finding.find(how), 0u) << finding;
  }
  static void expect_all_found(Flaw flaw, const std::string& how) {
    for (uint64_t seed = 1; seed <= 100; ++seed) expect_found(config(flaw, seed), how);
  }
};

TEST_P(FabricRun, IsWithoutFindingsIfTablesAreRight) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const FabricResult result = run_fabric(config(Flaw::none, seed));
    EXPECT_TRUE(result.ok()) << result.findings.front();
    EXPECT_EQ(result.passes.front().wrong, 0u);
  }
}

TEST_P(FabricRun, FindsOneWrongBitOfAMulticastEntry) { expect_all_found(Flaw::bit, "group "); }
TEST_P(FabricRun, FindsAMissingMulticastEntry) { expect_all_found(Flaw::entry, "group "); }
TEST_P(FabricRun, FindsAMissingUnicastEntry) { expect_all_found(Flaw::unicast, "a packet from host "); }
TEST_P(FabricRun, FindsAHopTooManyOfOnePair) {
  expect_all_found(Flaw::promise, "a packet from host ");
  for (uint64_t seed = 1; seed <= 20; ++seed)
    expect_found(with_faults(Flaw::promise, seed), "a packet from host ");
}
TEST_P(FabricRun, FindsSendersThatUseNewTreesTooEarly) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FabricConfig hasty = config(Flaw::hasty, seed);
    hasty.update = true;
    expect_found(hasty, "group ");
  }
}

TEST_P(FabricRun, UpdatesAreInFlightAndTablesOthers) {
  uint32_t trees_changed = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FabricConfig updated = config(Flaw::none, seed);
    updated.update = true;
    updated.in_flight = 1;
    const FabricResult result = run_fabric(updated);
    EXPECT_TRUE(result.ok()) << result.findings.front();
    ASSERT_EQ(result.passes.size(), 4u);
    for (const int changing : {1, 2}) {
      const FabricPass& pass = result.passes[static_cast<std::size_t>(changing)];
      EXPECT_EQ(pass.updates, result.switches);
      EXPECT_EQ(pass.updates_in_flight, result.switches);
      EXPECT_EQ(pass.copies, 6 * 5 * 4u);
      EXPECT_EQ(pass.lost, 0u);
    }
    EXPECT_GT(result.passes[1].by_new_trees, 0u);
    EXPECT_LT(result.passes[1].by_new_trees, result.passes[1].multicast_packets);
    EXPECT_GT(result.images_changed * 2, result.switches);
    EXPECT_GT(result.unicast_changed, 0u);
    trees_changed += result.trees_changed;
  }
  EXPECT_GT(trees_changed, 0u);
}

/// Nothing flies when nobody sends: that is no update in flight.
TEST_P(FabricRun, UpdatesThatAreNotInFlightAreFound) {
  FabricConfig quiet = config(Flaw::none, 1);
  quiet.groups = "random:1:2:1";
  quiet.most_pairs = 1;
  quiet.update = true;
  const FabricResult result = run_fabric(quiet);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(result.passes[1].updates_in_flight, result.passes[1].updates);
}

TEST_P(FabricRun, EverythingAliveArrivesOnceTablesKnowTheFaults) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FabricConfig faulty = with_faults(Flaw::none, seed);
    const switchtables::Fabric fabric(faulty.topology);
    faulty.later = faulty.known;
    fail_link(*faulty.later, fabric.graph(), GetParam().later);
    faulty.update = true;
    const FabricResult result = run_fabric(faulty);
    EXPECT_TRUE(result.ok()) << result.findings.front();
    EXPECT_GT(result.passes[1].multicast_packets, 0u);
    for (const FabricPass& pass : result.passes) {
      EXPECT_EQ(pass.arrived + pass.lost, pass.pairs);
      if (&pass == &result.passes[1]) continue;  // old tables do not know the new fault
      EXPECT_EQ(pass.lost, 0u) << pass.name;
      EXPECT_EQ(pass.cut_off, 0u) << pass.name;
    }
  }
}

TEST_P(FabricRun, CopiesAtOthersAreCountedAndAllowedOnlyIfAskedFor) {
  FabricConfig few = config(Flaw::none, 1);
  few.groups = "random:12:5:1";
  few.colours = 3;
  const FabricResult refused = run_fabric(few);
  EXPECT_FALSE(refused.ok());
  EXPECT_GT(refused.merged_groups, 0u);
  EXPECT_GT(refused.passes.front().foreign, 0u);
  EXPECT_GT(refused.passes.front().wrong, 0u);
  few.merged = true;
  const FabricResult allowed = run_fabric(few);
  EXPECT_TRUE(allowed.ok()) << allowed.findings.front();
  EXPECT_EQ(allowed.passes.front().foreign, refused.passes.front().foreign);
  EXPECT_EQ(allowed.passes.front().copies, 12 * 5 * 4u);
}

INSTANTIATE_TEST_SUITE_P(Topologies, FabricRun,
                         testing::Values(Case{"kfat2d:3x3:2", "4", "0,3"},
                                         Case{"torus3d:3x3x2:1", "3", "0,1"}, Case{"fattree3:4", "17", "0,4"},
                                         Case{"dragonfly:4,2,2", "5", "0,3"}),
                         [](const auto& each) {
                           std::string name = each.param.topology;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace weft::tb
