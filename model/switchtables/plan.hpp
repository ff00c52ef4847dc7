// SPDX-License-Identifier: Apache-2.0
// All tables of a fabric at once: trees and colours of its groups, unicast routes, and the images of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "switchtables/images.hpp"

namespace weft::switchtables {

struct PlanOptions {
  switch_lookup::Sizes sizes;
  uint32_t first_colour = 0;  ///< of the trees; those of an update must be no colours of trees in use
  uint32_t colours = 256;     ///< that trees may have, from there on
  uint32_t version = 1;
  /// Trees are others, and in PLAIN tables primary ports, of those that are as good.
  uint32_t choice = 0;
  route::Options routes;  ///< of a two-dimensional fat tree
  uint32_t threads = 1;
  uint64_t seed = 1;
};

struct Plan {
  std::vector<mcast::Tree> trees;                ///< by the numbers that the tables have; some may be empty
  std::vector<std::vector<uint32_t>> groups_on;  ///< of each tree
  uint32_t colours = 0;                          ///< that trees have
  mcast::FabricTables tables;                    ///< with the colours of the blocks
  std::optional<route::Tables> routes;
  Images images;
};

/// @param groups of the fabric's hosts
/// @param health of a two-dimensional fat tree
/// Throws Fault for what blocks cannot hold.
Plan make_plan(const Fabric& fabric, const mcast::Hops& hops, const mcast::Groups& groups,
               const std::optional<route::Health>& health, const PlanOptions& options);

/// Groups that share a tree with another one: its hosts get what is sent to any of them.
uint32_t merged_groups(const Plan& plan);

/// Images with the multicast entries of these besides: for the time in which senders go over from old trees
/// to new ones. Throws Fault if a switch has a colour in both.
void add_trees(Images& images, const Images& others);

/// Groups of a whole fabric; a file of them has numbers of hosts as the dump has them. Throws Fault, also for
/// members behind ports that lookup blocks cannot have.
/// @param spec as mcast::load_groups() has it @param topology what the fabric was made of
mcast::Groups load_groups(const std::string& spec, const std::string& topology, const Fabric& whole);

/// Live members of the groups of a whole fabric, by their numbers in what is alive.
mcast::Groups live_groups(const mcast::Groups& groups, const Fabric& alive);

}  // namespace weft::switchtables
