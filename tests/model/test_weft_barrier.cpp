// SPDX-License-Identifier: Apache-2.0
// `weft barrier` as its users call it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_weft.hpp"
#include "temporary_folder.hpp"

namespace weft::test {
namespace {

class WeftBarrier : public TemporaryFolder {
 protected:
  nlohmann::json results_of(const std::string& arguments) const {
    const auto file = path("out.json");
    const auto run = weft("barrier " + arguments + " --json " + file.string());
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return nlohmann::json::parse(read(file));
  }
};

TEST_F(WeftBarrier, SaysWhatOneAlgorithmNeeds) {
  const auto results = results_of("--mesh 4x4 --algorithm dlct --links 8");
  EXPECT_EQ(results["algorithm"], "dlct");
  EXPECT_EQ(results["nodes"], 16);
  EXPECT_EQ(results["broken_links"], 0);
  EXPECT_EQ(results["messages"], 30);
  EXPECT_GT(results["cycles"], 0);
  EXPECT_GE(results["hops"], 30);
  EXPECT_NEAR(results["uq_mean"].get<double>(), 0.5623, 5e-5);
}

TEST_F(WeftBarrier, ComparesAllOnAllMeshes) {
  const auto results = results_of("--mesh 4x4,3x5 --algorithm all --broken 0,0.5 --seeds 3 --load 0.1");
  EXPECT_EQ(results["runs"].size(), 2 * 2 * 12u);
  for (const auto& run : results["runs"]) {
    EXPECT_GE(run["cycles"], run["lower_bound"]) << run;
    EXPECT_EQ(run["broken_fraction"] > 0, run["broken_links"] > 0) << run;
  }
}

TEST_F(WeftBarrier, IsTheSameWithTheSameSeed) {
  const std::string arguments = "--mesh 6x4 --algorithm id2 --broken 0.2 --load 0.2 --seed 7";
  EXPECT_EQ(results_of(arguments), results_of(arguments));
}

TEST_F(WeftBarrier, RefusesBadInputInOneLine) {
  for (const std::string arguments :
       {"--mesh 4", "--mesh 0x4", "--mesh 4x4x4", "--mesh 100x100", "--mesh ax4", "--algorithm none",
        "--broken 1.5", "--broken nan", "--rounds 0", "--links 5", "--load 1", "--tries 256",
        "--mesh 99999999999x1"}) {
    const auto run = weft("barrier " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments << run.output;
    EXPECT_EQ(count(run.output, "\n"), 1u) << arguments << run.output;
  }
}

}  // namespace
}  // namespace weft::test
