// SPDX-License-Identifier: Apache-2.0
// The testbench itself: an engine with one wrong line in its window update is found out, with the cycle to
// look at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "engine_bench.hpp"
#include "trace/record.hpp"

namespace weft::tb {
namespace {

/// Runs the broken engine until it is found out or the transfer is complete; traces into `directory` unless
/// empty.
std::string find_the_fault(const std::string& directory) {
  SystemConfig config;
  config.node.build = *find_rdma_build("broken");
  config.faults.reorder_degree = 8;
  config.faults.reorder = 0.5;
  config.faults.hold_limit = 200;
  EngineBench bench(config);
  if (!directory.empty()) bench.system.node(1).scoreboard().write_traces(directory);
  std::vector<uint8_t> bytes(25'600);
  std::iota(bytes.begin(), bytes.end(), 0);
  bench.system.node(0).memory().memory().write(source_base, bytes);
  bench.system.node(0).driver().post(
      {source_base, destination_base, static_cast<uint32_t>(bytes.size()), 1, 42});
  bench.system.run_until([&] { return bench.completions[0].contains(42); }, 20'000);
  bench.system.node(1).scoreboard().close_traces();
  return bench.problems();
}

TEST(BrokenWindow, IsFoundAtTheEventThatShowsIt) {
  const std::string problems = find_the_fault("");
  ASSERT_NE(problems, "") << "nobody noticed";
  EXPECT_NE(problems.find("node 1: receiver: event differs from the golden model"), std::string::npos)
      << problems;
  EXPECT_NE(problems.find("wbase: expected"), std::string::npos) << problems;
  EXPECT_NE(problems.find("look at cycle"), std::string::npos) << problems;
}

// What `weft trace diff` says of the two traces is the same cycle and the same field.
TEST(BrokenWindow, IsTheFirstDifferenceOfTheTraces) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "weft_broken_traces";
  std::filesystem::create_directories(directory);
  const std::string problems = find_the_fault(directory.string());
  const auto found = trace::diff(directory / "rtl.node1.trace", directory / "golden.node1.trace");
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(found) << "the traces are alike";
  EXPECT_EQ(found->unit, "rx");
  EXPECT_NE(std::ranges::find(found->keys, "wbase"), found->keys.end());
  EXPECT_NE(problems.find("look at cycle " + std::to_string(found->cycle) + "\n"), std::string::npos)
      << problems;
}

}  // namespace
}  // namespace weft::tb
