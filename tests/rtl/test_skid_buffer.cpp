// SPDX-License-Identifier: Apache-2.0
// skid_buffer: two words, one clock of latency, a word a clock, all outputs registered.
#include <algorithm>

#include "fifo_lanes.hpp"

namespace weft::rtl_test {
namespace {

class SkidBuffer : public FifoTest {};

TEST_P(SkidBuffer, EqualsReferenceUnderRandomTrafficAndResets) {
  run_random_traffic(
      bench_, [&](const Traffic& traffic) { cycle(traffic); }, 50'000);
  EXPECT_GT(read_, 1000u);
}

TEST_P(SkidBuffer, FillsToItsDepthAndEmpties) {
  for (unsigned i = 0; i < lane_.depth + 3; ++i) cycle({.write = 100, .read = 0});
  EXPECT_EQ(written_, lane_.depth);
  for (unsigned i = 0; i < 2 * lane_.depth + 3; ++i) cycle({.write = 0, .read = 100});
  EXPECT_EQ(read_, lane_.depth);
}

TEST_P(SkidBuffer, TakesAndGivesAWordAClockIfDeepEnough) {
  constexpr unsigned clocks = 900;
  for (unsigned i = 0; i < clocks; ++i) cycle({.write = 100, .read = 100});
  // A word stays for latency + 1 clocks from one ready_o to the next.
  const unsigned stay = lane_.latency + 1;
  EXPECT_EQ(written_, clocks * std::min(lane_.depth, stay) / stay);
  EXPECT_EQ(read_, written_ - reference_.count());
}

INSTANTIATE_TEST_SUITE_P(Depths, SkidBuffer, testing::Values(Lane{11, 2, 1, false, false}), lane_name);

}  // namespace
}  // namespace weft::rtl_test
