// SPDX-License-Identifier: Apache-2.0
// What a group needs of a fabric, and the tree that gives it (MR4LMS paper, definition 3).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topology/graph.hpp"

namespace weft::mcast {

inline constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

/// Where members are. A host takes part by its first connected port.
struct Ends {
  std::vector<uint32_t> switches;    ///< with a member, ascending, each once
  std::vector<uint32_t> host_links;  ///< of the members
};
Ends ends_of(std::span<const uint32_t> hosts, const topology::Graph& graph);

struct Tree {
  uint32_t root = none;  ///< a switch from which the farthest end is nearest
  uint32_t height = 0;   ///< links between switches from the root to the farthest end
  uint32_t colour = none;
  std::vector<uint32_t> switches;  ///< all that it passes
  std::vector<uint32_t> links;     ///< those between them, then those to members

  bool operator==(const Tree&) const = default;
};

/// Work on single trees; has room for one search, so one for each thread.
class Pruner {
 public:
  explicit Pruner(const topology::Graph& graph);

  /// Takes away what leads to no end, again and again (Alg. 6), then finds root and height anew. `tree.links`
  /// are links between switches only, that join `tree.switches`; afterwards links to members are there, too.
  void settle(Tree& tree, const Ends& ends);

 private:
  struct Side {
    uint32_t to = none, link = none;
  };

  void join_sides(const Tree& tree);
  void drop_leaves(Tree& tree, const Ends& ends);
  std::vector<uint32_t> farthest_way(uint32_t from);

  const topology::Graph& graph_;
  std::vector<std::vector<Side>> sides_;  // of each switch, empty between calls
  std::vector<uint32_t> from_, hops_;
  std::vector<uint8_t> kept_;
};

}  // namespace weft::mcast
