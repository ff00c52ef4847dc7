// SPDX-License-Identifier: Apache-2.0
// A folder with the table images of a fabric (docs/switch.md, "Images of a fabric"): an image file for each
// switch, named by its GUID, and `colors`, which says what each group sends by: lines "GROUP COLOR", groups
// in order from 0, "-" for a group of less than two members, which needs no color.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "mcast/groups.hpp"
#include "mcast/tables.hpp"
#include "switchtables/images.hpp"

namespace weft::switchtables {

/// Files of the folder, to be written. Throws Fault if the folder holds images of other switches.
std::vector<OutputFile> folder_files(const std::string& folder, const Images& images,
                                     const std::vector<mcast::FabricTables::Use>& groups);

/// Images of the same switches. Throws Fault, "FILE: why", for any that is not there, is malformed, or of a
/// switch at another place.
/// @param heads of the fabric's switches, as a plan has them
/// @param sizes of the blocks; each switch has its own number of ports
Images read_images(const std::string& folder, const Images& heads, const Fabric& fabric,
                   switch_lookup::Sizes sizes);

/// Color of each group, mcast::none for those without. Throws Fault, "FILE:LINE: why", also for colors that
/// the blocks do not have, and none for a group that needs one.
std::vector<uint32_t> read_colours(const std::string& folder, const mcast::Groups& groups,
                                   const switch_lookup::Sizes& sizes);

}  // namespace weft::switchtables
