// SPDX-License-Identifier: Apache-2.0
// In which order groups are routed together: what needs much room first.
#pragma once

#include <cstdint>
#include <vector>

#include "mcast/forest.hpp"
#include "mcast/hops.hpp"

namespace weft::mcast {

/// Groups of about the same size stay in their order, except that neighbours, which often need the same
/// switches, are not among the same `block` of groups.
void sort_by_size(std::vector<uint32_t>& groups, const Forest& forest, const Hops& hops, uint32_t block);

}  // namespace weft::mcast
