// SPDX-License-Identifier: Apache-2.0
// Who is told of whose death, and when.
#include <gtest/gtest.h>

#include "driver/peers.hpp"

namespace weft::driver {
namespace {

using Application = Peers::Application;

class PeersTest : public testing::Test {
 protected:
  static constexpr Application one{0, 3}, other{1, 4}, third{2, 5};
  static constexpr uint64_t now = 1000, late = now + Peers::grace;
  Peers peers;
};

TEST_F(PeersTest, BothKnowEachOtherAndAreToldOnceAfterTheGrace) {
  peers.meet(one, other);
  peers.meet(third, one);
  peers.go(one, true, now);
  EXPECT_EQ(peers.take_death(other, late - 1), std::nullopt);
  EXPECT_EQ(peers.take_death(other, late), 0u);
  EXPECT_EQ(peers.take_death(other, late), std::nullopt);
  EXPECT_EQ(peers.take_death(third, late), 0u);
}

TEST_F(PeersTest, NobodyIsToldOfWhoLeaves) {
  peers.meet(one, other);
  peers.go(one, false, now);
  EXPECT_EQ(peers.take_death(other, late), std::nullopt);
}

TEST_F(PeersTest, StrangersAndOneselfAreNotTold) {
  peers.meet(one, one);
  peers.meet(one, other);
  peers.go(one, true, now);
  EXPECT_EQ(peers.take_death(one, late), std::nullopt);
  EXPECT_EQ(peers.take_death(third, late), std::nullopt);
}

TEST_F(PeersTest, TheNextOneOfAPlaceHasNoPeersAndIsToldNothing) {
  peers.meet(one, other);
  peers.go(one, true, now);
  peers.go(other, true, now);  // not told any more
  EXPECT_EQ(peers.take_death(other, late), std::nullopt);
  EXPECT_EQ(peers.take_death(one, late), std::nullopt);
  peers.go(one, true, now);  // of whom `other` knows nothing
  EXPECT_EQ(peers.take_death(other, late), std::nullopt);
}

TEST_F(PeersTest, EachOfSeveralDeathsIsTold) {
  peers.meet(one, other);
  peers.meet(third, other);
  peers.go(one, true, now);
  peers.go(third, true, now);
  EXPECT_EQ(peers.take_death(other, late), 0u);
  EXPECT_EQ(peers.take_death(other, late), 2u);
  EXPECT_EQ(peers.take_death(other, late), std::nullopt);
}

}  // namespace
}  // namespace weft::driver
