// SPDX-License-Identifier: Apache-2.0
// Images for the switch lookup block, read back: packets go from switch to switch by lookups alone.
#include <gtest/gtest.h>

#include "image_walk.hpp"

namespace weft::route {
namespace {

void every_pair_is_joined(const Health& health, const Options& options) {
  const Grid& grid = health.grid();
  ImageWalk blocks(make_tables(health, options), health);
  for (uint32_t from = 0; from < grid.leaves(); ++from)
    for (uint32_t to = 0; to < grid.leaves(); ++to) {
      if (!health.alive(grid.leaf(from)) || !health.alive(grid.leaf(to))) continue;
      const auto links = blocks.links(grid.leaf(from), grid.leaf(to));
      ASSERT_TRUE(links) << from << " > " << to;
      ASSERT_LE(*links, 2 * 3u);
    }
}

TEST(SwitchImages, RouteEveryPairWithUpToTwoFaults) {
  const Grid grid{4, 4, 2};
  for (const Masks masks : {Masks::destination, Masks::line})
    for (uint32_t one = 0; one <= 16; ++one)  // 16: none
      for (uint32_t two = one; two <= 16; ++two) {
        Health health(grid);
        for (const uint32_t leaf : {one, two})
          if (leaf < 16) health.fail_leaf(grid.leaf(leaf));
        every_pair_is_joined(health, {RuleSet::vtftr, masks, 2});
      }
}

TEST(SwitchImages, RoundDeadLinksAndSwitches) {
  Health health(Grid{3, 5, 2});
  health.fail_link({1, 1}, Dimension::column);
  health.fail_link({4, 0}, Dimension::row);
  every_pair_is_joined(health, {});
}

TEST(SwitchImages, OnlyOfWhatTheBlockHas) {
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 1}), {RuleSet::literal, Masks::line, 2})), Fault);
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 1}), {RuleSet::vtftr, Masks::line, 4})), Fault);
  EXPECT_THROW(switch_images(make_tables(Health(Grid{4, 4, 63}), {})), Fault);
}

}  // namespace
}  // namespace weft::route
