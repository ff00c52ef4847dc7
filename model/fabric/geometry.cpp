// SPDX-License-Identifier: Apache-2.0
// Torus and mesh.
#include "fabric/geometry.hpp"

#include <stdexcept>
#include <string>

namespace weft::fabric {

Geometry::Geometry(const Sizes& sizes, bool joined) : sizes_(sizes), joined_(joined) {
  constexpr uint32_t max_size = 1024;
  uint64_t nodes = 1;
  for (const uint32_t size : sizes) {
    if (size == 0 || size > max_size)
      throw std::invalid_argument("a dimension of " + std::to_string(size) + " nodes, must be 1 to 1024");
    nodes *= size;
  }
  if (nodes > max_nodes) throw std::invalid_argument(std::to_string(nodes) + " nodes, must be at most 2^20");
  places_.reserve(nodes);
  for (uint32_t z = 0; z < sizes[2]; ++z)
    for (uint32_t y = 0; y < sizes[1]; ++y)
      for (uint32_t x = 0; x < sizes[0]; ++x) places_.push_back({x, y, z});
}

bool Geometry::has_link(uint32_t node, uint32_t port) const {
  const uint32_t dimension = port / 2;
  if (port >= local_port || sizes_[dimension] == 1) return false;
  const uint32_t at = places_[node][dimension];
  return joined_ || (port % 2 == 0 ? at + 1 < sizes_[dimension] : at > 0);
}

uint32_t Geometry::neighbour(uint32_t node, uint32_t port) const {
  const uint32_t dimension = port / 2;
  const uint32_t size = sizes_[dimension];
  Sizes place = places_[node];
  place[dimension] = (place[dimension] + (port % 2 == 0 ? 1 : size - 1)) % size;
  return this->node(place);
}

Geometry::Way Geometry::way(uint32_t from, uint32_t to, uint32_t dimension) const {
  const uint32_t here = places_[from][dimension];
  const uint32_t there = places_[to][dimension];
  if (here == there) return {};
  if (!joined_) return {here < there ? there - here : here - there, here<there, here> there};
  const uint32_t size = sizes_[dimension];
  const uint32_t up = there > here ? there - here : there + size - here;
  const uint32_t down = size - up;
  return {up < down ? up : down, up <= down, down <= up};
}

uint32_t Geometry::hops(uint32_t from, uint32_t to) const {
  uint32_t sum = 0;
  for (uint32_t dimension = 0; dimension < dimensions; ++dimension) sum += way(from, to, dimension).hops;
  return sum;
}

}  // namespace weft::fabric
