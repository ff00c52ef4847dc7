// SPDX-License-Identifier: Apache-2.0
// Tables as the images that the switch lookup block is loaded with (docs/switch.md).
#pragma once

#include <string>
#include <vector>

#include "mcast/tables.hpp"
#include "switch/image.hpp"

namespace weft::mcast {

/// One for each switch, also those without entries: role PLAIN, no unicast entries. With tables of ports an
/// entry stands in the table of each of its ports. Throws Fault for switches of more ports or
/// colours than a lookup block can have, and for tables with a colour twice.
std::vector<switch_lookup::Image> images_of(const FabricTables& tables, const topology::Graph& graph);

/// Name of the file for a switch: its GUID.
std::string image_file_name(const switch_lookup::Image& image);

}  // namespace weft::mcast
