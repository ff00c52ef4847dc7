// SPDX-License-Identifier: Apache-2.0
// SSSP-MC by weights of any kind: one Dijkstra from the root of each group.
#pragma once

#include <cstdint>
#include <vector>

#include "mcast/tree.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

/// Of links between switches, in the direction from the higher to the lower node first: weight of link l from
/// b to a is at 2 l, from a to b at 2 l + 1.
using Weights = std::vector<uint64_t>;

/// Lightest ways to one switch from all others.
class LightestWays {
 public:
  explicit LightestWays(const topology::Graph& graph);

  /// Of two ways of one weight the one that was found first is kept.
  void find(uint32_t to, const Weights& weights);

  /// The link that a switch's way begins with; `none` for the switch at which all end.
  uint32_t first_link(uint32_t sw) const { return link_[sw]; }
  /// Switches, each after the one that its way leads to.
  const std::vector<uint32_t>& order() const { return order_; }

 private:
  const topology::Graph& graph_;
  std::vector<uint64_t> weight_;
  std::vector<uint32_t> link_, order_;
};

/// Without colour: the ways of all ends to where `ways` lead.
Tree tree_of_ways(const topology::Graph& graph, const LightestWays& ways, uint32_t root, const Ends& ends);

}  // namespace weft::mcast
