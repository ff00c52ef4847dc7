// SPDX-License-Identifier: Apache-2.0
// Adaptive routing in networks that stay full: nothing locks up (routing.hpp), throughput stays, nobody
// starves (router.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/torus.hpp"
#include "fabric/traffic.hpp"

namespace weft::fabric {
namespace {

/// Large enough for rings of packets that wait for each other, and full to the brim, as nothing limits what
/// enters; or limited: what has entered comes out.
class Crowded
    : public testing::TestWithParam<std::tuple<Sizes, bool, uint32_t, uint32_t, uint32_t, uint32_t>> {};

TEST_P(Crowded, AdaptiveWaysNeverLockUp) {
  const auto& [sizes, joined, channels, buffer, flits_each, patience] = GetParam();
  const uint32_t flits = flits_each;
  TorusConfig config{.sizes = sizes,
                     .joined = joined,
                     .algorithm = Algorithm::minimal_adaptive,
                     .channels = channels,
                     .buffer_flits = buffer,
                     .entry_patience = patience};
  Torus torus(config, 3);
  const uint32_t nodes = torus.geometry().nodes();
  RandomStream random(6);
  uint32_t sent = 0;
  const auto send = [&](uint32_t node) {
    torus.send(node, static_cast<uint32_t>(random.below(nodes)), flits, sent++);
  };
  const auto tick = [&] {
    torus.tick();
    uint32_t arrived = 0;
    for (uint32_t node = 0; node < nodes; ++node) arrived += torus.arrived(node).has_value() ? 1 : 0;
    return arrived;
  };
  for (uint32_t node = 0; node < nodes; ++node) {
    for (int i = 0; i < 20; ++i) send(node);
  }
  // As many again as come out: it stays full.
  uint64_t last = 0, most_idle = 0;
  for (uint64_t clock = 0; clock < 8'000; ++clock) {
    for (uint32_t arrived = tick(); arrived > 0; --arrived) {
      send(static_cast<uint32_t>(random.below(nodes)));
      last = clock;
    }
    most_idle = std::max(most_idle, clock - last);
  }
  EXPECT_LT(most_idle, 1000u) << "clocks in which nothing came out";
  for (int clock = 0; clock < 200'000 && !torus.empty(); ++clock) tick();
  EXPECT_TRUE(torus.empty()) << "deadlock";
}

INSTANTIATE_TEST_SUITE_P(Networks, Crowded,
                         testing::Combine(testing::Values(Sizes{8, 8, 1}, Sizes{16, 1, 1}, Sizes{4, 4, 4}),
                                          testing::Bool(), testing::Values(3u, 4u), testing::Values(2u, 8u),
                                          testing::Values(1u, 5u, 9u), testing::Values(0u, 256u)));

TorusConfig adaptive(bool joined, uint32_t patience = TorusConfig{}.entry_patience) {
  return {.sizes = {8, 8, 1},
          .joined = joined,
          .algorithm = Algorithm::minimal_adaptive,
          .entry_patience = patience};
}

/// Flits that come out, a clock and node.
double carried(const TorusConfig& config, double load) {
  Torus torus(config, 1);
  return measure(torus, {.flits = load, .packet_flits = 1, .warmup = 3'000, .clocks = 3'000}, 1)
      .accepted_flits;
}

TEST(Saturated, ThroughputOfAdaptiveWaysStays) {
  for (const bool joined : {false, true}) {
    SCOPED_TRACE(joined ? "torus" : "mesh");
    double most = 0;
    for (const double load : {0.3, 0.4, 0.5, 0.6, 0.8})
      most = std::max(most, carried(adaptive(joined), load));
    EXPECT_GT(carried(adaptive(joined), 1), 0.95 * most);
    EXPECT_LT(carried(adaptive(joined, 0), 1), 0.6 * most) << "what enters is not limited";
  }
}

/// Credits that are still on their way back do not count as free, but a packet needs no more than it takes.
TEST(Saturated, ShortPacketsEnterBehindLongLinks) {
  TorusConfig config = adaptive(true);
  config.link_clocks = 20;
  EXPECT_GT(carried(config, 1), 0.4);
}

/// Most clocks between two packets of the same node, when all send packets to node 0.
uint64_t longest_pause_beside_a_hot_spot(const TorusConfig& config, uint32_t flits) {
  constexpr uint64_t clocks = 40'000;
  Torus torus(config, 1);
  const uint32_t nodes = torus.geometry().nodes();
  std::vector<uint64_t> last(nodes, 0);
  for (uint32_t node = 1; node < nodes; ++node) {
    for (int i = 0; i < 4; ++i) torus.send(node, 0, flits, node);
  }
  uint64_t longest = 0;
  const auto note = [&](uint32_t node, uint64_t now) {
    longest = std::max(longest, now - std::exchange(last[node], now));
  };
  while (torus.now() < clocks) {
    torus.tick();
    const auto from = torus.arrived(0);
    if (!from) continue;
    note(*from, torus.now());
    torus.send(*from, 0, flits, *from);
  }
  for (uint32_t node = 1; node < nodes; ++node) note(node, clocks);
  return longest;
}

TEST(Saturated, NoNodeStarvesBesideAHotSpot) {
  for (const bool joined : {false, true}) {
    SCOPED_TRACE(joined ? "torus" : "mesh");
    EXPECT_LT(longest_pause_beside_a_hot_spot(adaptive(joined), 1), 1'000u);
    // Longer packets that meet on the way take turns of links, not of nodes, so those far off wait anyway.
    const uint64_t anyway = longest_pause_beside_a_hot_spot(adaptive(joined, 0), 4);
    EXPECT_LT(longest_pause_beside_a_hot_spot(adaptive(joined), 4), anyway + anyway / 10);
    EXPECT_GT(longest_pause_beside_a_hot_spot(adaptive(joined, 1'000'000), 4), anyway + anyway / 2)
        << "refused for ever";
  }
}

/// When a packet arrives on the other side of a square, before which others have taken most of both buffers
/// behind one of its long links, and most of one behind the other.
uint64_t arrival_behind_long_links(uint32_t patience, bool cut = false) {
  constexpr uint32_t towards_two = 2;  // a port: up in the second dimension
  Torus torus({.sizes = {2, 2, 1},
               .joined = false,
               .algorithm = Algorithm::minimal_adaptive,
               .channels = 2,
               .link_clocks = 500,
               .entry_patience = patience},
              1);
  for (uint32_t to : {2u, 2u, 1u}) torus.send(0, to, 5, 0);
  while (torus.now() < 100) torus.tick();
  if (cut) torus.set_cut(0, towards_two, true);
  torus.send(0, 3, 5, 0);
  while (torus.now() < 5'000 && !torus.arrived(3)) torus.tick();
  return torus.now();
}

TEST(Saturated, NodeIsRefusedForExactlySoManyClocks) {
  EXPECT_EQ(arrival_behind_long_links(150), arrival_behind_long_links(100) + 50);
  EXPECT_EQ(arrival_behind_long_links(500), arrival_behind_long_links(100) + 400);
  EXPECT_EQ(arrival_behind_long_links(100'000), arrival_behind_long_links(2'000)) << "quiet by then";
}

TEST(Saturated, CutWaysAreNotWaitedFor) {
  const uint64_t at_once = arrival_behind_long_links(0);
  EXPECT_EQ(arrival_behind_long_links(100'000, true), at_once);
  EXPECT_GT(arrival_behind_long_links(100'000), at_once);
}

}  // namespace
}  // namespace weft::fabric
