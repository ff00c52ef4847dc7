// SPDX-License-Identifier: Apache-2.0
// What PLAIN tables promise when ports are dead that they do not know of, and while they are being rewritten:
// all ways that a packet can take, whichever of several images each switch has, and whichever backup is
// drawn.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "switchtables/fabric.hpp"
#include "switchtables/images.hpp"

namespace weft::switchtables {

inline constexpr uint32_t no_promise = std::numeric_limits<uint32_t>::max();

/// @param mixture images of all switches, several times: each switch has those of any one
/// @param sizes of blocks, as images have them
/// @return links between switches that a packet to this host takes at most from each switch, injected there;
/// `no_promise`: it may be dropped, or go round until the tables are others
std::vector<uint32_t> most_hops_to(uint32_t host, const Fabric& alive, std::span<const Images* const> mixture,
                                   const switch_lookup::Sizes& sizes);

}  // namespace weft::switchtables
