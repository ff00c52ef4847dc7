// SPDX-License-Identifier: Apache-2.0
// Trees of which some links are dead: who still hears whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/tree.hpp"
#include "switchtables/fabric.hpp"

namespace weft::tb {

/// Ends of the links of a tree, by switch of the whole fabric and port: the same for trees of other graphs.
std::vector<std::pair<uint32_t, uint16_t>> ends_of(const mcast::Tree& tree,
                                                   const switchtables::Fabric& fabric);

/// For each of these hosts, a number that those have in common who hear each other along the tree.
/// @param made the fabric that the tree was made for
/// @param now what of it is alive, whose hosts these are
std::vector<uint32_t> parts_of(const mcast::Tree& tree, const switchtables::Fabric& made,
                               const switchtables::Fabric& now, std::span<const uint32_t> hosts);

}  // namespace weft::tb
