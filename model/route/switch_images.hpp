// SPDX-License-Identifier: Apache-2.0
// Tables as images of the switch lookup block (docs/switch.md), one for each switch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "route/tables.hpp"
#include "switch/image.hpp"

namespace weft::route {

struct SwitchImage {
  std::string name;  ///< of the switch, as weft topology has it
  switch_lookup::Sizes sizes;
  switch_lookup::Image image;
};

/// Leaves by number, then roots. Ports and GUIDs are those of topology::kfat2d: of a leaf hosts from 1 on,
/// then row and column switch; of a row or column switch those of PortSet from 1 on. Switches of fat trees
/// have no place (`nowhere`): a packet for their own row may have several ways.
/// Throws Fault for rules other than vtftr, for other than 2 or 3 virtual channels, and for more than 62
/// hosts at a leaf.
std::vector<SwitchImage> switch_images(const Tables& tables);

/// NAME.image in this folder. Throws Fault, also if there are images of other switches in it.
/// @param switches of which, numbered as in Tables::changed_from
/// @param version that the lookup blocks tell once they use them
std::vector<OutputFile> image_files(const std::filesystem::path& folder, const Tables& tables,
                                    uint32_t version, std::span<const uint32_t> switches);

}  // namespace weft::route
