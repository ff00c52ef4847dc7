// SPDX-License-Identifier: Apache-2.0
// Lookup blocks as the units of switches in the cycle-based fat tree.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include "switchfabric/lookup_unit.hpp"

namespace weft::tb {

/// A block for each switch: the golden model for those in `golden`, Verilated RTL for the others; same
/// results. The first image comes by registers, later ones by management packets. Fault for images
/// of more ports or entries than blocks have.
switchfabric::MakeUnit lookup_units(std::set<uint32_t> golden, uint64_t seed);

}  // namespace weft::tb
