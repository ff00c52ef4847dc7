// SPDX-License-Identifier: Apache-2.0
// Dimension order and minimal adaptive routing in torus and mesh.
#include "fabric/routing.hpp"

#include <stdexcept>
#include <string>

namespace weft::fabric {

Routing::Routing(const Geometry& geometry, Algorithm algorithm, uint32_t channels)
    : geometry_(geometry), algorithm_(algorithm), channels_(channels) {
  const uint32_t classes = geometry.joined() ? 2 : 1;
  const uint32_t least = classes + (adaptive() ? 1 : 0);
  if (channels < least || channels > max_channels) {
    throw std::invalid_argument(std::to_string(channels) + " virtual channels, must be " +
                                std::to_string(least) + " to " + std::to_string(max_channels));
  }
  if (!adaptive()) return;
  for (uint32_t port = 0; port < local_port; ++port) escapes_ |= this->channels(port, 0, classes);
}

Lanes Routing::next(uint32_t here, uint32_t from, uint32_t to, RandomStream& random) const {
  if (here == to) return channels(local_port, 0, channels_);
  return adaptive() ? any_shortest(here, to) : in_order(here, from, to, random);
}

Lanes Routing::in_order(uint32_t here, uint32_t from, uint32_t to, RandomStream& random) const {
  uint32_t dimension = 0;
  while (geometry_.place(here)[dimension] == geometry_.place(to)[dimension]) ++dimension;
  const uint32_t half = channels_ / 2;
  const bool goes_on = port_of(from) / 2 == dimension && port_of(from) != local_port;
  if (goes_on) {
    const uint32_t port = opposite(port_of(from));
    if (!geometry_.joined()) return channels(port, 0, channels_);
    return channel_of(from) >= channels_ - half ? channels(port, channels_ - half, channels_)
                                                : channels(port, 0, channels_ - half);
  }
  const Geometry::Way way = geometry_.way(here, to, dimension);
  const bool up = way.up && (!way.down || random.below(2) == 0);
  const uint32_t port = 2 * dimension + (up ? 0 : 1);
  if (!geometry_.joined()) return channels(port, 0, channels_);
  return crosses_edge(here, to, port) ? channels(port, channels_ - half, channels_)
                                      : channels(port, 0, channels_ - half);
}

Lanes Routing::any_shortest(uint32_t here, uint32_t to) const {
  const uint32_t classes = geometry_.joined() ? 2 : 1;
  Lanes lanes = 0;
  bool has_escape = false;
  for (uint32_t dimension = 0; dimension < dimensions; ++dimension) {
    const Geometry::Way way = geometry_.way(here, to, dimension);
    if (way.hops == 0) continue;
    if (way.up) lanes |= channels(2 * dimension, classes, channels_);
    if (way.down) lanes |= channels(2 * dimension + 1, classes, channels_);
    if (has_escape) continue;
    has_escape = true;
    const uint32_t port = 2 * dimension + (way.up ? 0 : 1);
    const uint32_t escape = geometry_.joined() && crosses_edge(here, to, port) ? 1 : 0;
    lanes |= channels(port, escape, escape + 1);
  }
  return lanes;
}

Lanes Routing::channels(uint32_t port, uint32_t first, uint32_t behind) const {
  return ((Lanes{1} << behind) - (Lanes{1} << first)) << lane(port, 0);
}

bool Routing::crosses_edge(uint32_t here, uint32_t to, uint32_t port) const {
  const uint32_t at = geometry_.place(here)[port / 2];
  const uint32_t there = geometry_.place(to)[port / 2];
  return port % 2 == 0 ? at > there : at < there;
}

}  // namespace weft::fabric
