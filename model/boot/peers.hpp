// SPDX-License-Identifier: Apache-2.0
// Nodes that pass the image on: chains of nodes, of which the first fetches from a server.
//
// The image goes in pieces; a node passes on a piece as soon as it has it. Chains follow the numbers of
// nodes, so that a link of a board or supernode carries the image only where a chain enters or leaves it.
// Links carry as much up as down, at the same time.
#pragma once

#include <cstdint>
#include <optional>
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

/// Whom a node fetches from: a node of its chain, by its place in `order`, or a server.
struct Source {
  std::optional<std::size_t> place;
  uint32_t server = 0;
};

/// Of a place in `order`, who is tried one after the other if the ones before are dead: up to two nodes
/// before it, the chain's server, its backup.
std::vector<Source> sources_of(const Chains& chains, std::size_t chain, std::size_t at);

/// All transfers share links max-min fairly from the beginning on, each from a node that has a piece to one
/// that has its piece before. Of a death, rates are found once more, without the dead and with those who give
/// in their place; they are used from when it is noticed. Who goes elsewhere keeps the pieces it has. Throws
/// Fault if nobody is left to give a node its image.
Boots simulate_chains(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
                      const Course& course);

}  // namespace weft::boot
