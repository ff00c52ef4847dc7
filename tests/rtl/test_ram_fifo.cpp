// SPDX-License-Identifier: Apache-2.0
// ram_fifo: two clocks of latency, a word a clock from depth 4 on.
#include "fifo_lanes.hpp"

namespace weft::rtl_test {
namespace {

class RamFifo : public FifoTest {};

TEST_P(RamFifo, EqualsReferenceUnderRandomTrafficAndResets) {
  run_random_traffic(
      bench_, [&](const Traffic& traffic) { cycle(traffic); }, 50'000);
  EXPECT_GT(read_, 1000u);
}

TEST_P(RamFifo, FillsToItsDepthAndEmpties) {
  for (unsigned i = 0; i < lane_.depth + 3; ++i) cycle({.write = 100, .read = 0});
  EXPECT_EQ(written_, lane_.depth);
  for (unsigned i = 0; i < 2 * lane_.depth + 3; ++i) cycle({.write = 0, .read = 100});
  EXPECT_EQ(read_, lane_.depth);
}

TEST_P(RamFifo, TakesAndGivesAWordAClock) {
  if (lane_.depth < 4) GTEST_SKIP() << "too shallow for a word a clock";
  for (unsigned i = 0; i < 1000; ++i) cycle({.write = 100, .read = 100});
  EXPECT_EQ(written_, 1000u);
  EXPECT_EQ(read_, 1000u - lane_.latency);
}

INSTANTIATE_TEST_SUITE_P(Depths, RamFifo,
                         testing::Values(Lane{5, 2, 2, true, false}, Lane{6, 4, 2, true, false},
                                         Lane{7, 16, 2, true, false}),
                         lane_name);

}  // namespace
}  // namespace weft::rtl_test
