// SPDX-License-Identifier: Apache-2.0
// Adaptive routing in networks that stay full: nothing locks up (routing.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "fabric/torus.hpp"

namespace weft::fabric {
namespace {

/// Large enough for rings of packets that wait for each other, and full to the brim: what has entered comes
/// out.
class Crowded : public testing::TestWithParam<std::tuple<Sizes, bool, uint32_t, uint32_t, uint32_t>> {};

TEST_P(Crowded, AdaptiveWaysNeverLockUp) {
  const auto& [sizes, joined, channels, buffer, flits_each] = GetParam();
  const uint32_t flits = flits_each;
  TorusConfig config{.sizes = sizes,
                     .joined = joined,
                     .algorithm = Algorithm::minimal_adaptive,
                     .channels = channels,
                     .buffer_flits = buffer};
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
                                          testing::Values(1u, 5u, 9u)));

}  // namespace
}  // namespace weft::fabric
