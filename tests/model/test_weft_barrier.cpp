// SPDX-License-Identifier: Apache-2.0
// `weft barrier` as its users call it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "weft_command.hpp"

namespace weft::test {
namespace {

class WeftBarrier : public WeftCommand {
 protected:
  WeftBarrier() : WeftCommand("barrier") {}
};

TEST_F(WeftBarrier, SaysWhatOneAlgorithmNeeds) {
  const auto found = results("--mesh 4x4 --algorithm dlct --links 8");
  EXPECT_EQ(found["algorithm"], "dlct");
  EXPECT_EQ(found["nodes"], 16);
  EXPECT_EQ(found["broken_links"], 0);
  EXPECT_EQ(found["messages"], 30);
  EXPECT_GT(found["cycles"], 0);
  EXPECT_GE(found["hops"], 30);
  EXPECT_NEAR(found["uq_mean"].get<double>(), 0.5623, 5e-5);
}

TEST_F(WeftBarrier, SaysTheUpdateQuantityOfEachChange) {
  const auto lct = results("--mesh 4x4 --algorithm dlct --links 8 --updates")["uq"];
  const auto bst = results("--mesh 4x4 --algorithm dlct --links 8 --updates --tree bst")["uq"];
  ASSERT_EQ(lct.size(), 16u);
  EXPECT_EQ(lct[3][3], 0.0);
  EXPECT_NEAR(lct[0][1].get<double>(), 1 - 7.0 / 26, 1e-9);  // the paper's example
  EXPECT_NEAR(bst[0][1].get<double>(), 1 - 18.0 / 22, 1e-9);
  EXPECT_FALSE(results("--mesh 4x4 --algorithm ms --updates").contains("uq"));
}

TEST_F(WeftBarrier, ComparesAllOnAllMeshes) {
  const auto found = results("--mesh 4x4,3x5 --algorithm all --broken 0,0.5 --seeds 3 --load 0.1");
  EXPECT_EQ(found["runs"].size(), 2 * 2 * 21u) << "and no two levels: there are no two blocks of 16";
  EXPECT_EQ(results("--mesh 8x4,4x4 --algorithm dlct-blocks,dlct4-blocks,dlct")["runs"].size(), 4u);
  for (const auto& run : found["runs"]) {
    EXPECT_GE(run["cycles"], run["lower_bound"]) << run;
    EXPECT_EQ(run["broken_fraction"] > 0, run["broken_links"] > 0) << run;
  }
}

TEST_F(WeftBarrier, IsTheSameWithTheSameSeed) {
  const std::string arguments = "--mesh 6x4 --algorithm id2 --broken 0.2 --load 0.2 --seed 7";
  EXPECT_EQ(results(arguments), results(arguments));
}

TEST_F(WeftBarrier, RefusesBadInputInOneLine) {
  for (const std::string arguments : {"--mesh 4",     "--mesh 0x4",        "--mesh 4x4,",
                                      "--mesh ,4x4",  "--algorithm dlct,", "--broken 0,,0.1",
                                      "--broken 0,2", "--updates",         "--json /etc",
                                      "--stride 17",  "--mesh 4x4x4",      "--mesh 100x100",
                                      "--mesh ax4",   "--algorithm none",  "--broken 1.5",
                                      "--broken nan", "--rounds 0",        "--links 5",
                                      "--load 1",     "--tries 256",       "--mesh 99999999999x1"}) {
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments << finished.output;
    EXPECT_EQ(count(finished.output, "\n"), 1u) << arguments << finished.output;
    EXPECT_TRUE(contains(finished.output, arguments.substr(0, arguments.find(' '))))
        << arguments << finished.output;
  }
}

TEST_F(WeftBarrier, RefusesStridesThatEnginesRefuse) {
  expect_bad("--mesh 8x8,4x4 --stride 17", "--stride 17: dlct on 4x4 has 16 offsets");
  expect_bad("--mesh 8x8 --stride 17 --algorithm dlct-blocks",
             "--stride 17: dlct-blocks on 8x8 has 16 offsets");
  expect_bad("--mesh 6x4 --stride 9 --algorithm id1", "--stride 9: id1 on 6x4 has 8 offsets");
  EXPECT_EQ(run("--mesh 4x4 --stride 16").exit_code, 0);
  EXPECT_EQ(run("--mesh 4x4 --stride 17 --algorithm ms,butterfly").exit_code, 0) << "nothing moves";
}

TEST_F(WeftBarrier, ABinomialTreeHasNoBlocks) {
  expect_bad("--mesh 8x8 --tree bst --algorithm dlct,dlct-blocks",
             "--algorithm dlct-blocks: --tree bst has no blocks");
  const auto all = results("--mesh 8x8 --tree bst --algorithm all")["runs"];
  EXPECT_EQ(all.size(), 22u);
  for (const auto& run : all) EXPECT_NE(run["algorithm"], "dlct-blocks");
}

TEST_F(WeftBarrier, RefusesATreeForWhatHasItsOwn) {
  expect_bad("--mesh 8x8 --tree bst --algorithm dlct,dlct4-blocks",
             "--tree bst: --algorithm dlct4-blocks has a tree of its own");
  expect_bad("--tree lct8 --algorithm dlct8", "--tree lct8: --algorithm dlct8 has a tree of its own");
}

// As docs/barrier.md says: the root is at the centre, all ways through the tree are shortest ones.
TEST_F(WeftBarrier, SaysWhatEnginesAreTold) {
  const auto found = results("--settings --mesh 8x8 --numbering centre --algorithm dlct8-mr4lms");
  EXPECT_EQ(found["shape"], 3);
  EXPECT_EQ(found["stride"], 16);
  EXPECT_EQ(found["good"], 8);
  EXPECT_EQ(found["judge_tries"], 3);
  EXPECT_EQ(found["block_log2"], 0);
  EXPECT_EQ(found["members"].size(), 64u);
  EXPECT_EQ(found["members"][0], 27);
  EXPECT_EQ(std::set<int>(found["members"].begin(), found["members"].end()).size(), 64u);
  EXPECT_EQ(results("--settings --mesh 8x8 --algorithm dlct4-blocks")["block_log2"], 4);
  expect_bad("--settings --mesh 4x4,8x8", "--settings: of one mesh and one algorithm");
  expect_bad("--settings --algorithm tree", "--settings: tree is no algorithm of the engine");
}

// As many changes as nodes squared: of large meshes on request only.
TEST_F(WeftBarrier, LeavesOutTheUpdateQuantityOfLargeMeshes) {
  EXPECT_FALSE(results("--mesh 32x32 --rounds 1")["uq_mean"].is_null());
  EXPECT_TRUE(results("--mesh 33x32 --rounds 1")["uq_mean"].is_null());
}

TEST_F(WeftBarrier, PrintsLowerBoundsAndHowManyLinksAreBroken) {
  const auto finished = run("--mesh 4x4 --broken 0.3");
  EXPECT_TRUE(contains(finished.output, " broken links ")) << finished.output;
  EXPECT_TRUE(contains(finished.output, " lower bound ")) << finished.output;
  EXPECT_TRUE(contains(finished.output, "    7.0     24  dlct ")) << finished.output;
}

}  // namespace
}  // namespace weft::test
