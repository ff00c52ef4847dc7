// SPDX-License-Identifier: Apache-2.0
// MINIHOP-MC as stock OpenSM does it (osm_mcast_mgr.c of 3.3.23): from the root down, at each switch each
// member goes by the first port with the least hops to it.
#pragma once

#include <cstdint>

#include "mcast/hops.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

/// Without colour. @param root any switch
Tree minhop_tree(const Hops& hops, uint32_t root, const Ends& ends);

}  // namespace weft::mcast
