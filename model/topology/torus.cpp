// SPDX-License-Identifier: Apache-2.0
// The torus of three dimensions.
#include <fmt/format.h>

#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

namespace {
constexpr uint32_t directions = 6;
}

Graph torus(const std::array<uint32_t, 3>& sizes, uint32_t hosts) {
  for (const uint32_t size : sizes) check_range("a dimension", size, 1, 1024);
  check_range("H", hosts, 1, most_ports - directions);
  const uint64_t count = uint64_t{sizes[0]} * sizes[1] * sizes[2];
  check_size(count, count * hosts, directions + hosts);
  Maker maker;
  for (uint32_t z = 0; z < sizes[2]; ++z)
    for (uint32_t y = 0; y < sizes[1]; ++y)
      for (uint32_t x = 0; x < sizes[0]; ++x)
        maker.add_switch(fmt::format("switch-{}-{}-{}", x, y, z), directions + hosts);
  for (uint32_t sw = 0; sw < count; ++sw) {
    uint32_t stride = 1;
    for (uint32_t dimension = 0; dimension < 3; stride *= sizes[dimension++]) {
      const uint32_t size = sizes[dimension];
      if (size == 1) continue;
      const uint32_t place = sw / stride % size;
      const uint32_t up = place + 1 < size ? sw + stride : sw - place * stride;
      maker.connect(sw, 2 * dimension + 1, up, 2 * dimension + 2);
    }
    for (uint32_t i = 0; i < hosts; ++i) maker.add_host(sw, directions + 1 + i);
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology
