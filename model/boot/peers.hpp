// SPDX-License-Identifier: Apache-2.0
// Nodes that pass the image on: chains of nodes, of which the first fetches from a server.
//
// The image goes in pieces; a node passes on a piece as soon as it has it. Chains follow the numbers of
// nodes, so that a link of a board or supernode carries the image only where a chain enters or leaves it.
// Links carry as much up as down, at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "boot/bandwidth.hpp"
#include "boot/flows.hpp"
#include "boot/machine.hpp"
#include "boot/plan.hpp"

namespace weft::boot {

struct Chains {
  std::vector<std::size_t> order;   ///< places in the list of nodes, chain after chain
  std::vector<std::size_t> begins;  ///< of each chain in `order`, and its end
  std::vector<uint32_t> servers;    ///< of each chain
  std::vector<uint32_t> backups;    ///< of each chain, if its server dies; that server if there is no other
  uint64_t pieces = 1;
  /// Least shares of who uses a link in one direction; seconds until the end of the longest chain has all.
  Bandwidth bandwidth;

  std::size_t count() const { return servers.size(); }
  std::size_t longest() const;
};

/// As many chains as is fastest, of several numbers that are tried; one of these is a chain for each node,
/// which is the plan `balanced`: it is never slower than that.
/// @param cpus at least one
Chains plan_chains(const Machine& machine, const std::vector<uint32_t>& cpus, double piece_megabits);

/// The servers of each node's chain.
Plan servers_of(const Chains& chains);

/// All transfers share links max-min fairly from the beginning on, each from a node that has a piece to one
/// that has its piece before. A death is not looked at.
Boots simulate_chains(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
                      const Course& course);

}  // namespace weft::boot
