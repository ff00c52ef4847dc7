// SPDX-License-Identifier: Apache-2.0
// The testbench itself: an engine with one wrong line in its window update is found out, with the cycle to
// look at.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "engine_bench.hpp"

namespace weft::tb {
namespace {

TEST(BrokenWindow, IsFoundAtTheEventThatShowsIt) {
  SystemConfig config;
  config.node.build = *find_rdma_build("broken");
  config.faults.reorder_degree = 8;
  config.faults.reorder = 0.5;
  config.faults.hold_limit = 200;
  EngineBench bench(config);
  std::vector<uint8_t> bytes(25'600);
  std::iota(bytes.begin(), bytes.end(), 0);
  bench.system.node(0).memory().memory().write(source_base, bytes);
  bench.system.node(0).driver().post(
      {source_base, destination_base, static_cast<uint32_t>(bytes.size()), 1, 42});
  bench.system.run_until([&] { return bench.completions[0].contains(42); }, 20'000);

  ASSERT_TRUE(bench.system.findings().any()) << "nobody noticed";
  EXPECT_NE(bench.problems().find("node 1: receiver: event differs from the golden model"), std::string::npos)
      << bench.problems();
  EXPECT_NE(bench.problems().find("wbase: expected"), std::string::npos) << bench.problems();
  EXPECT_NE(bench.problems().find("look at cycle"), std::string::npos) << bench.problems();
}

}  // namespace
}  // namespace weft::tb
