// SPDX-License-Identifier: Apache-2.0
// The sliding window against the paper's example and a naive set, and the timer arithmetic.
#include "rdma/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "property.hpp"
#include "rdma/timer.hpp"
#include "rdma/transfer.hpp"

namespace weft::rdma {
namespace {

/// All packets received, and nothing else.
struct NaiveWindow {
  std::set<uint32_t> received;

  uint32_t base() const {
    uint32_t base = 0;
    while (received.contains(base)) ++base;
    return base;
  }
  Place classify(uint32_t size, uint32_t pidx) const {
    if (received.contains(pidx)) return Place::received;
    if (pidx == base()) return Place::at_base;
    return pidx > base() + size ? Place::beyond : Place::ahead;
  }
  Window window(uint32_t size) const {
    Window result = empty_window(size);
    result.base = base();
    for (uint32_t i = 1; i <= size; ++i) {
      if (received.contains(result.base + i)) result.bits[(i - 1) / 64] |= uint64_t{1} << ((i - 1) % 64);
    }
    return result;
  }
};

// Paper, example of five packets that arrive in the order 2, 1, 0, 4, 3.
TEST(Window, PapersExample) {
  Window window = empty_window(8);
  const auto expect = [&](uint32_t pidx, uint32_t base, uint64_t bits) {
    window = receive(window, 8, pidx);
    EXPECT_EQ(window, (Window{base, {bits}})) << "after packet " << pidx;
  };
  expect(2, 0, 0b10);
  expect(1, 0, 0b11);
  expect(0, 3, 0b00);
  expect(4, 3, 0b01);
  expect(3, 5, 0b00);
}

TEST(Window, ReachesExactlySizePacketsBeyondItsBase) {
  for (const uint32_t size : {1u, 8u, 63u, 64u, 65u, 128u, 152u}) {
    EXPECT_EQ(classify(empty_window(size), size, size), Place::ahead);
    EXPECT_EQ(classify(empty_window(size), size, size + 1), Place::beyond);
    EXPECT_EQ(classify(empty_window(size), size, 0xffffffff), Place::beyond);
  }
}

TEST(Window, FullWindowAdvancesByItsSizeAndOne) {
  for (const uint32_t size : {1u, 8u, 63u, 64u, 65u, 128u, 152u}) {
    Window window = empty_window(size);
    for (uint32_t pidx = size; pidx > 0; --pidx) window = receive(window, size, pidx);
    EXPECT_EQ(window.base, 0u);
    window = receive(window, size, 0);
    EXPECT_EQ(window.base, size + 1);
    EXPECT_EQ(window.bits, empty_window(size).bits);
  }
}

TEST(Window, EqualsNaiveSetForAnyArrivalsAndNeverPassesAMissingPacket) {
  EXPECT_PROPERTY("window", [] {
    const auto size = *rc::gen::element<uint32_t>(1, 2, 8, 63, 64, 65, 128, 152);
    const auto arrivals =
        *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 2 * size + 3));
    Window window = empty_window(size);
    NaiveWindow naive;
    for (const uint32_t pidx : arrivals) {
      const Place place = classify(window, size, pidx);
      RC_ASSERT(place == naive.classify(size, pidx));
      window = receive(window, size, pidx);
      if (place == Place::at_base || place == Place::ahead) naive.received.insert(pidx);
      RC_ASSERT(window == naive.window(size));
      RC_ASSERT(!naive.received.contains(window.base));
    }
  });
}

TEST(Window, ReceivesEveryPacketOnceWhateverTheOrder) {
  EXPECT_PROPERTY("order", [] {
    const auto size = *rc::gen::element<uint32_t>(8, 64, 100, 152);
    const uint32_t packets = *rc::gen::inRange<uint32_t>(1, size + 2);
    std::vector<uint32_t> order(packets);
    for (uint32_t i = 0; i < packets; ++i) order[i] = i;
    uint32_t state = *rc::gen::arbitrary<uint32_t>() | 1;
    for (uint32_t i = packets; i > 1; --i) {
      state = state * 1664525 + 1013904223;
      std::swap(order[i - 1], order[(state >> 8) % i]);
    }
    Window window = empty_window(size);
    NaiveWindow naive;
    for (const uint32_t pidx : order) {
      RC_ASSERT(classify(window, size, pidx) == naive.classify(size, pidx));
      window = receive(window, size, pidx);
      naive.received.insert(pidx);
      RC_ASSERT(window == naive.window(size));
      RC_ASSERT(classify(window, size, pidx) == Place::received);
    }
    RC_ASSERT(window.base == packets);
  });
}

TEST(Timer, DurationsAreModulo65536) {
  Timer timer;
  timer.restart(65534);
  EXPECT_EQ(timer.elapsed(65534), 0);
  EXPECT_EQ(timer.elapsed(4), 6);
  EXPECT_FALSE(timer.due(4, 7));
  EXPECT_TRUE(timer.due(4, 6));
  EXPECT_TRUE(timer.due(8189, 8191));
  EXPECT_EQ(timer.overdue(4, 4), 2u);
  EXPECT_EQ(timer.overdue(4, 7), 0u);
}

TEST(Timer, TimeoutOfZeroCountsAsOne) {
  Timer timer;
  timer.restart(3);
  EXPECT_FALSE(timer.due(3, 0));
  EXPECT_TRUE(timer.due(4, 0));
  EXPECT_EQ(timer.overdue(4, 0), 0u);
}

TEST(Transfer, IsCutIntoFullPacketsAndARest) {
  Params params;
  EXPECT_EQ(cut(0, params), std::nullopt);
  EXPECT_EQ(cut(1, params), (Cut{0, 1}));
  EXPECT_EQ(cut(256, params), (Cut{0, 256}));
  EXPECT_EQ(cut(257, params), (Cut{1, 1}));
  EXPECT_EQ(cut(0xffffff00, params), (Cut{0xfffffe, 256}));  // 2^24 - 1 packets
  EXPECT_EQ(cut(0xffffff01, params), std::nullopt);
}

TEST(Transfer, MayEndExactlyAtTheEndOfTheBus) {
  Params params;
  EXPECT_FALSE(beyond_bus((uint64_t{1} << 48) - 256, 256, params));
  EXPECT_TRUE(beyond_bus((uint64_t{1} << 48) - 256, 257, params));
  EXPECT_TRUE(beyond_bus(~uint64_t{0} - 255, 256, params));
}

}  // namespace
}  // namespace weft::rdma
