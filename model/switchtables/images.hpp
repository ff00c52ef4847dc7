// SPDX-License-Identifier: Apache-2.0
// Table images of all switches of a fabric (docs/switch.md): multicast from trees and their colours
// (model/mcast); unicast of a two-dimensional fat tree from its fault-tolerant routes (model/route), of any
// other fabric along minimal hops.
#pragma once

#include <cstdint>
#include <vector>

#include "mcast/tables.hpp"
#include "route/tables.hpp"
#include "switch/image.hpp"
#include "switchtables/fabric.hpp"

namespace weft::switchtables {

using Images = std::vector<switch_lookup::Image>;  ///< of each switch of the fabric

/// Heads only: identity and version, role PLAIN.
Images heads_of(const Fabric& fabric, uint32_t version);

/// Entries of trees. Throws Fault for more colours than the blocks have.
void add_multicast(Images& images, const Fabric& fabric, const mcast::FabricTables& tables,
                   const switch_lookup::Sizes& sizes);

/// PLAIN: an entry for each LID (Fabric::lids): a port on a shortest way as primary port, all others on
/// shortest ways as backups.
/// @param choice which of them is the primary one; tables of different choices may be mixed in one fabric
/// Throws Fault for LIDs beyond the entries of the blocks.
void add_minimal_hops(Images& images, const Fabric& fabric, uint32_t choice,
                      const switch_lookup::Sizes& sizes);

/// LEAF, ROW, COLUMN with their places: tables of the whole fabric (route/switch_images.hpp). Throws Fault
/// for what blocks cannot hold: more leaves than entries, other rules than `vtftr`, other than 2 or 3 virtual
/// channels.
void add_routes(Images& images, const Fabric& fabric, const route::Tables& tables,
                const switch_lookup::Sizes& sizes);

/// A unicast packet to this host, as it is injected.
switch_lookup::formats::Request unicast_to(const Fabric& fabric, uint32_t host);
/// A multicast packet.
switch_lookup::formats::Request multicast_in(uint32_t colour);

/// Entries that blocks need at least for the unicast tables of a fabric.
uint32_t unicast_entries(const Fabric& fabric);

}  // namespace weft::switchtables
