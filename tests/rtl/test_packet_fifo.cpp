// SPDX-License-Identifier: Apache-2.0
// packet_fifo: as ram_fifo, and the reader sees committed words only.
#include <algorithm>

#include "fifo_lanes.hpp"

namespace weft::rtl_test {
namespace {

class PacketFifo : public FifoTest {};

TEST_P(PacketFifo, EqualsReferenceUnderRandomTrafficAndResets) {
  run_random_traffic(
      bench_, [&](const Traffic& traffic) { cycle(traffic); }, 50'000);
  EXPECT_GT(read_, 1000u);
}

TEST_P(PacketFifo, FillsToItsDepthAndEmpties) {
  for (unsigned i = 0; i < lane_.depth + 3; ++i) cycle({.write = 100, .read = 0, .commit = 100});
  EXPECT_EQ(written_, lane_.depth);
  for (unsigned i = 0; i < 2 * lane_.depth + 3; ++i) cycle({.write = 0, .read = 100, .commit = 100});
  EXPECT_EQ(read_, lane_.depth);
}

TEST_P(PacketFifo, TakesAndGivesAWordAClockIfDeepEnough) {
  constexpr unsigned clocks = 900;
  for (unsigned i = 0; i < clocks; ++i) cycle({.write = 100, .read = 100, .commit = 100});
  // A word stays for latency + 1 clocks from one ready_o to the next.
  const unsigned stay = lane_.latency + 1;
  EXPECT_EQ(written_, clocks * std::min(lane_.depth, stay) / stay);
  EXPECT_EQ(read_, written_ - reference_.count());
}

TEST_P(PacketFifo, RollbackMakesRoomForAPacketThatFillsIt) {
  for (unsigned i = 0; i < lane_.depth; ++i) cycle({.write = 100, .read = 100});
  EXPECT_EQ(written_, lane_.depth);
  cycle({.write = 100, .read = 100, .rollback = 100});  // full: takes nothing more
  EXPECT_EQ(written_, lane_.depth);
  for (unsigned i = 0; i < lane_.depth; ++i) cycle({.write = 100, .read = 100});
  cycle({.write = 0, .read = 100, .commit = 100});
  for (unsigned i = 0; i < 2 * lane_.depth + 3; ++i) cycle({.write = 0, .read = 100});
  EXPECT_EQ(read_, lane_.depth);
}

TEST_P(PacketFifo, CommitAndRollbackIncludeTheWordOfTheSameCycle) {
  cycle({.write = 100, .read = 0, .rollback = 100});
  EXPECT_EQ(reference_.free(), lane_.depth);
  cycle({.write = 100, .read = 0, .commit = 100});
  EXPECT_EQ(reference_.count(), 1u);
  for (unsigned i = 0; i < 4; ++i) cycle({.write = 0, .read = 100});
  EXPECT_EQ(read_, 1u);
}

TEST_P(PacketFifo, AssertsThatCommitAndRollbackExcludeEachOther) {
  bench_->commit_i = 1;
  bench_->rollback_i = 1;
  EXPECT_THROW(bench_.step(), AssertionFailed);
}

INSTANTIATE_TEST_SUITE_P(Depths, PacketFifo,
                         testing::Values(Lane{8, 2, 2, true, true}, Lane{9, 4, 2, true, true},
                                         Lane{10, 16, 2, true, true}),
                         lane_name);

}  // namespace
}  // namespace weft::rtl_test
