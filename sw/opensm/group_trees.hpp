// SPDX-License-Identifier: Apache-2.0
// Trees of groups that come, change and go one by one, spread over the links of a fabric: of the least
// height, by the least loaded links (MR4LMS paper, Alg. 1), from the root from which most is spread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mcast/hops.hpp"
#include "mcast/occupancy.hpp"
#include "mcast/port_mask.hpp"
#include "mcast/roots.hpp"
#include "mcast/tree.hpp"
#include "mcast/ways.hpp"
#include "topology/graph.hpp"

namespace weft::opensm {

/// Who takes part.
struct Members {
  std::vector<uint32_t> host_links;  ///< of the ports of hosts
  std::vector<uint32_t> switches;    ///< that themselves are members, by their port 0

  std::size_t count() const { return host_links.size() + switches.size(); }
};

class GroupTrees {
 public:
  /// Throws Fault for a fabric that is not connected.
  /// @param graph must outlive this
  explicit GroupTrees(const topology::Graph& graph);

  /// The ports of each switch of the new tree of this group; empty for less than two members. The group's old
  /// tree does not count any more. Throws Fault.
  /// @param group any number
  std::vector<std::pair<uint32_t, mcast::PortMask>> build(uint32_t group, const Members& members);
  void remove(uint32_t group);

  /// All groups that have a tree.
  std::vector<uint32_t> groups() const;

 private:
  mcast::Tree spread(const mcast::Ends& ends);
  uint64_t cost(const mcast::Tree& tree) const;

  const topology::Graph& graph_;
  mcast::Hops hops_;
  mcast::RootSearch root_search_;
  mcast::Hops::Room room_;
  mcast::Ways ways_;
  mcast::Occupancy occupancy_;
  std::map<uint32_t, mcast::Tree> trees_;
};

}  // namespace weft::opensm
