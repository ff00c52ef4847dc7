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
  for (uint32_t edge = 0; edge < first_aggregation; ++edge) {
    const uint32_t pod = edge / half, place = edge % half;
    maker.add_hosts(edge, half);
    for (uint32_t i = 0; i < half; ++i) {
      const uint32_t aggregation = first_aggregation + pod * half + i;
      maker.connect(edge, half + 1 + i, aggregation, 1 + place);
      // The same loop once more, seen as aggregation switch `place` of this pod and its i-th core switch.
      maker.connect(first_aggregation + edge, half + 1 + i, first_core + place * half + i, 1 + pod);
    }
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology
