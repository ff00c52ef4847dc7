// SPDX-License-Identifier: Apache-2.0
// What others do: one colour for each group, trees as a subnet manager builds them (MR4LMS paper, 1
// and 3.1.2).
#pragma once

#include <cstdint>
#include <functional>

#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/hops.hpp"

namespace weft::mcast {

enum class Baseline : uint8_t {
  minhop,     ///< OpenSM's MINIHOP-MC, the same tables
  sssp,       ///< OpenSM's SSSP-MC, by weights that its unicast routing leaves, the same tables
  sssp_load,  ///< SSSP-MC by weights that count groups, as the paper describes it
};

/// The root is the switch with the least largest hop count to a member; of several the first one in OpenSM's
/// order (opensm_order.hpp). Throws Fault for a fabric that is too large for OpenSM's sssp. Group i, local
/// ones not counted, has colour i.
/// @param forest has no groups yet, no limit of colours
/// @param progress is told how many of how many groups are routed
void route_baseline(Forest& forest, const Hops& hops, const Groups& groups, Baseline baseline,
                    const std::function<void(uint32_t, uint32_t)>& progress = {});

}  // namespace weft::mcast
