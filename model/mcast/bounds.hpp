// SPDX-License-Identifier: Apache-2.0
// Below how many colours no trees can be, one for each group.
#pragma once

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

  uint32_t value() const { return members > room ? members : room; }
};

ColourBounds colour_bounds(const Hops& hops, const Groups& groups, Tables tables);

}  // namespace weft::mcast
