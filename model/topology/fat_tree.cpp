// SPDX-License-Identifier: Apache-2.0
// The full three-level fat tree.
#include <fmt/format.h>

#include <stdexcept>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

Graph fat_tree(uint32_t k) {
  check_range("K", k, 2, 160);
  if (k % 2 != 0) throw std::invalid_argument(fmt::format("K is {}, must be even", k));
  const uint32_t half = k / 2;
  Maker maker;
  for (const char* level : {"edge", "aggregation"})
    for (uint32_t pod = 0; pod < k; ++pod)
      for (uint32_t i = 0; i < half; ++i) maker.add_switch(fmt::format("{}-{}-{}", level, pod, i), k);
  for (uint32_t i = 0; i < half * half; ++i) maker.add_switch(fmt::format("core-{}", i), k);

  const uint32_t first_aggregation = k * half, first_core = 2 * first_aggregation;
  /// The i-th way up from an edge switch, and from an aggregation switch, at the same place of their pod.
  const auto connect = [&](uint32_t pod, uint32_t place, uint32_t i) {
    const uint32_t first_of_pod = first_aggregation + pod * half;
    maker.connect(pod * half + place, half + 1 + i, first_of_pod + i, 1 + place);
    maker.connect(first_of_pod + place, half + 1 + i, first_core + place * half + i, 1 + pod);
  };
  for (uint32_t pod = 0; pod < k; ++pod) {
    for (uint32_t place = 0; place < half; ++place) {
      maker.add_hosts(pod * half + place, half);
      for (uint32_t i = 0; i < half; ++i) connect(pod, place, i);
    }
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology
