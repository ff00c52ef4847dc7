// SPDX-License-Identifier: Apache-2.0
// Fabrics of lookup blocks whose tables have one mistake: each is found, and told by group or pair.
#include <gtest/gtest.h>

#include "switch/fabric_run.hpp"

namespace weft::tb {
namespace {

class FabricRun : public testing::TestWithParam<const char*> {
 protected:
  static FabricResult run(Flaw flaw, uint64_t seed) {
    FabricConfig config;
    config.topology = GetParam();
    config.groups = "random:6:5:1";
    config.rtl = false;
    config.flaw = flaw;
    config.seed = seed;
    return run_fabric(config);
  }

  /// With any seed the mistake is another one.
  static void expect_found(Flaw flaw, const std::string& how) {
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      const FabricResult result = run(flaw, seed);
      EXPECT_FALSE(result.ok()) << "seed " << seed;
      EXPECT_GT(result.passes.front().wrong, 0u) << "seed " << seed;
      for (const std::string& finding : result.findings) EXPECT_EQ(finding.find(how), 0u) << finding;
    }
  }
};

TEST_P(FabricRun, IsWithoutFindingsIfTablesAreRight) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const FabricResult result = run(Flaw::none, seed);
    EXPECT_TRUE(result.ok()) << result.findings.front();
    EXPECT_EQ(result.passes.front().wrong, 0u);
  }
}

TEST_P(FabricRun, FindsOneWrongBitOfAMulticastEntry) { expect_found(Flaw::bit, "group "); }
TEST_P(FabricRun, FindsAMissingMulticastEntry) { expect_found(Flaw::entry, "group "); }
TEST_P(FabricRun, FindsAMissingUnicastEntry) { expect_found(Flaw::unicast, "a packet from host "); }
TEST_P(FabricRun, FindsAHopTooMany) { expect_found(Flaw::promise, "a packet from host "); }

INSTANTIATE_TEST_SUITE_P(Topologies, FabricRun,
                         testing::Values("kfat2d:3x3:2", "torus3d:3x3x2:1", "fattree3:4", "dragonfly:4,2,2"));

}  // namespace
}  // namespace weft::tb
