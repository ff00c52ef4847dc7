// SPDX-License-Identifier: Apache-2.0
// Channels: what packets hold and wait for.
#pragma once

#include <cstdint>
#include <string>

#include "route/grid.hpp"

namespace weft::route {

/// A link in one direction and one of its virtual channels.
struct Channel {
  static constexpr uint8_t none = 0xff;

  Leaf leaf;  ///< at its end; of a link to a spine switch the first leaf of the edge switch
  Dimension dimension = Dimension::row;
  bool down = false;  ///< to the leaf, or to the edge switch
  uint8_t vc = 0;
  uint8_t spine = none;  ///< at its other end; none: the link is a leaf's

  bool operator==(const Channel&) const = default;
  bool at_leaf() const { return spine == none; }
  /// Up from a leaf: a step begins (up and down once).
  bool begins_step() const { return !down && at_leaf(); }
};
std::string name_of(const Grid& grid, const Channel& channel);

/// A port of a row or column switch.
struct RootPort {
  Root root;
  uint32_t port = 0;
};
/// The port by which packets come out of a channel, of one that does not end at a leaf.
RootPort end_of(const Grid& grid, const Channel& channel);
/// The channel into which packets go by this port, and out of which they come by it.
Channel channel_out(const Grid& grid, const RootPort& at, uint8_t vc);
Channel channel_in(const Grid& grid, const RootPort& at, uint8_t vc);

}  // namespace weft::route
