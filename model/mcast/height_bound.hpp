// SPDX-License-Identifier: Apache-2.0
// Below how many colours no trees of the least height can be, where they begin at few kinds of switches (the
// core of a fat tree).
//
// Switches with the same neighbours are of one kind. A tree of the least height that begins at one of a kind
// must pass those of its neighbours that alone lead on to a farthest member in time. Two groups whose trees
// must pass a switch in common, whichever kind both begin at, have one colour only if they begin at different
// kinds. So of groups of which this holds pairwise, a *crowd*, at most as many have one colour as there are
// kinds (k). If another group has one, all the crowd that has its colour is among those without a member at
// its switches; these can be no more than k, and no more than switches so that each has a member at one of
// them (p). In groups that pairwise share a member's switch, which all have different colours, this leaves in
// each colour k - p places of the crowd empty. So
//   colours >= (crowd + sum of all (k - p)) / k
// where k - p is one less for a group that is of the crowd itself.
#pragma once

#include <cstdint>
#include <span>

#include "mcast/conflicts.hpp"
#include "mcast/hops.hpp"

namespace weft::mcast {

/// @param ends switches of the members of each group, ascending
/// @param conflicts of these groups by these switches
/// @param words that each of its steps may look at
uint32_t height_bound(const Hops& hops, std::span<const std::span<const uint32_t>> ends,
                      const Conflicts& conflicts, uint64_t words);

}  // namespace weft::mcast
