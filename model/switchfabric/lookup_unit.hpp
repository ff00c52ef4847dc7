// SPDX-License-Identifier: Apache-2.0
// What a switch of the fabric may ask in the place of the rules: a lookup block that holds an image of its
// tables (docs/switch.md). A simulation gives it Verilated RTL or the golden model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "route/switch_images.hpp"
#include "switch/lookup.hpp"

namespace weft::switchfabric {

class LookupUnit {
 public:
  virtual ~LookupUnit() = default;

  /// In use from the next lookup on.
  virtual void load(const switch_lookup::Image& image) = 0;
  /// Ports of the image (route::switch_images); acts at once.
  virtual void set_alive(switch_lookup::Ports alive) = 0;
  virtual switch_lookup::Result look(const switch_lookup::formats::Request& request) = 0;
};

/// @param sw number of the switch: leaves, then roots, each by plane
/// @param sizes of its image
/// @return nothing: this switch follows the rules
using MakeUnit = std::function<std::unique_ptr<LookupUnit>(uint32_t sw, const switch_lookup::Sizes& sizes)>;

}  // namespace weft::switchfabric
