// SPDX-License-Identifier: Apache-2.0
// Fabrics in the JSON format that weft topology writes (docs/topology.md).
#pragma once

#include <string>
#include <string_view>

#include "common/fault.hpp"
#include "topology/graph.hpp"

namespace weft::topology {

/// Throws Fault, "NAME:LINE: fault" or, of the fabric as a whole, "NAME: fault".
/// @param name of the file, for messages
Graph read_json(std::string_view text, const std::string& name);

}  // namespace weft::topology
