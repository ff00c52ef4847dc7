// SPDX-License-Identifier: Apache-2.0
// Below how many colours no trees can be, one for each group.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "mcast/occupancy.hpp"

namespace weft::mcast {

struct ColourBounds {
  /// Most groups with a member at one switch; with tables of ports, at one host.
  uint32_t members = 0;
  /// Switches that trees of all groups must pass at least, shared out among all switches. None with tables of
  /// ports.
  uint32_t room = 0;
  /// Groups that pairwise have members at one switch (host), the most that were found: each has a colour of
  /// its own.
  uint32_t clique = 0;
  /// For trees of the least height (height_bound.hpp). None with tables of ports.
  uint32_t height = 0;

  uint32_t value() const { return std::max({members, room, clique, height}); }
};

/// Searches end after a number of steps that is the same everywhere (a fraction of a second); of many groups
/// they look at the largest only.
ColourBounds colour_bounds(const Hops& hops, const Groups& groups, Tables tables);

}  // namespace weft::mcast
