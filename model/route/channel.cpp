// SPDX-License-Identifier: Apache-2.0
// Channels.
#include "route/channel.hpp"

#include <fmt/format.h>

namespace weft::route {

namespace {

RootPort at_edge(const Grid& grid, const Channel& channel) {
  const Root edge = grid.edge_of(channel.leaf, channel.dimension);
  if (channel.at_leaf()) return {edge, grid.edge_port(channel.leaf, channel.dimension)};
  return {edge, grid.leaves_at_edge(channel.dimension) + channel.spine};
}

RootPort at_spine(const Grid& grid, const Channel& channel) {
  const Root edge = grid.edge_of(channel.leaf, channel.dimension);
  return {{edge.dimension, edge.line, grid.edges + channel.spine}, edge.number};
}

/// Of the link at this port.
Channel channel_at(const Grid& grid, const RootPort& at, uint8_t vc) {
  const Dimension dimension = at.root.dimension;
  const auto to_spine = [&](uint32_t edge, uint32_t spine) {
    const Leaf first = grid.leaf_below({dimension, at.root.line, edge}, 0);
    return Channel{first, dimension, false, vc, static_cast<uint8_t>(spine)};
  };
  if (grid.is_spine(at.root)) return to_spine(at.port, at.root.number - grid.edges);
  const uint32_t leaves = grid.leaves_at_edge(dimension);
  if (at.port >= leaves) return to_spine(at.root.number, at.port - leaves);
  return {grid.leaf_below(at.root, at.port), dimension, false, vc};
}

std::string name_of(const Grid& grid, const Root& root) {
  std::string line = fmt::format("{}-{}", root.dimension == Dimension::row ? "row" : "column", root.line);
  if (!grid.trees()) return line;
  return grid.is_spine(root) ? fmt::format("{}-spine-{}", line, root.number - grid.edges)
                             : fmt::format("{}-edge-{}", line, root.number);
}

}  // namespace

RootPort end_of(const Grid& grid, const Channel& channel) {
  return channel.at_leaf() || channel.down ? at_edge(grid, channel) : at_spine(grid, channel);
}

Channel channel_out(const Grid& grid, const RootPort& at, uint8_t vc) {
  Channel channel = channel_at(grid, at, vc);
  channel.down = channel.at_leaf() || grid.is_spine(at.root);
  return channel;
}

Channel channel_in(const Grid& grid, const RootPort& at, uint8_t vc) {
  Channel channel = channel_at(grid, at, vc);
  channel.down = !channel.at_leaf() && !grid.is_spine(at.root);
  return channel;
}

std::string name_of(const Grid& grid, const Channel& channel) {
  const std::string leaf = fmt::format("leaf-{}-{}", channel.leaf.x, channel.leaf.y);
  const std::string edge = name_of(grid, at_edge(grid, channel).root);
  const std::string lower = channel.at_leaf() ? leaf : edge;
  const std::string upper = channel.at_leaf() ? edge : name_of(grid, at_spine(grid, channel).root);
  return fmt::format("{} > {} VC {}", channel.down ? upper : lower, channel.down ? lower : upper, channel.vc);
}

}  // namespace weft::route
