// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a torus or mesh of up to three dimensions lie, and which way leads from one to another.
//
// Nodes are numbered x + X (y + Y z). Every node has a router with ports 2 d (towards higher coordinates of
// dimension d) and 2 d + 1 (towards lower ones), and `local_port` to the node itself.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace weft::fabric {

inline constexpr uint32_t dimensions = 3;
inline constexpr uint32_t local_port = 2 * dimensions;
inline constexpr uint32_t port_count = local_port + 1;
inline constexpr uint32_t max_nodes = 1u << 20;

using Sizes = std::array<uint32_t, dimensions>;

/// The port at the other end of a link.
constexpr uint32_t opposite(uint32_t port) { return port ^ 1; }

class Geometry {
 public:
  /// @param sizes nodes in each dimension, 1 to 1024, 2^20 in all; std::invalid_argument otherwise
  /// @param joined ends of a dimension are neighbours (torus), or not (mesh)
  Geometry(const Sizes& sizes, bool joined);

  uint32_t nodes() const { return static_cast<uint32_t>(places_.size()); }
  const Sizes& sizes() const { return sizes_; }
  bool joined() const { return joined_; }
  const Sizes& place(uint32_t node) const { return places_[node]; }
  uint32_t node(const Sizes& place) const { return place[0] + sizes_[0] * (place[1] + sizes_[1] * place[2]); }

  /// Whether a link leaves the node through this port. Not in a dimension of one node.
  bool has_link(uint32_t node, uint32_t port) const;
  /// The node at its other end.
  uint32_t neighbour(uint32_t node, uint32_t port) const;

  /// What is left to go in one dimension.
  struct Way {
    uint32_t hops = 0;
    bool up = false, down = false;  ///< shortest: towards higher, lower coordinates; both: equally far
  };
  Way way(uint32_t from, uint32_t to, uint32_t dimension) const;
  uint32_t hops(uint32_t from, uint32_t to) const;

 private:
  Sizes sizes_;
  bool joined_;
  std::vector<Sizes> places_;
};

}  // namespace weft::fabric
