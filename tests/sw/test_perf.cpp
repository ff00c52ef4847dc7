// SPDX-License-Identifier: Apache-2.0
// What weft_write_bw takes its peak from.
#include <gtest/gtest.h>

#include "examples/perf.hpp"

namespace weft::examples {
namespace {

TEST(FewestClocks, OfOneRequestAreItsOwn) { EXPECT_EQ(fewest_clocks({{100}, {130}}), 30.0); }

TEST(FewestClocks, AreOfTheFastestRunOfRequests) {
  // Alone they take 10, 5, 12 and 30; the second and the third together 12 clocks, so 6 each; the first
  // three 22.
  EXPECT_EQ(fewest_clocks({{0, 10, 10, 22}, {10, 15, 22, 52}}), 5.0);
  // Alone 10, 11 and 12; together 12, so 4 each.
  EXPECT_EQ(fewest_clocks({{0, 0, 0}, {10, 11, 12}}), 4.0);
  // The last two, posted behind a slow one.
  EXPECT_EQ(fewest_clocks({{0, 50, 50}, {90, 91, 92}}), 21.0);
}

TEST(FewestClocks, AreNoMoreThanTheAverage) {
  const Times times{{0, 3, 20, 21, 40}, {19, 25, 33, 60, 77}};
  EXPECT_LE(fewest_clocks(times), 77.0 / 5);
}

}  // namespace
}  // namespace weft::examples
