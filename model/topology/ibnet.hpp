// SPDX-License-Identifier: Apache-2.0
// Fabrics in the format that ibnetdiscover (infiniband-diags) writes and ibsim reads (docs/topology.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/fault.hpp"
#include "topology/graph.hpp"

namespace weft::topology {

/// The fabric in `text`: switches and hosts in the order in which they stand there. Throws Fault, "NAME:LINE:
/// fault" or "NAME: fault".
/// @param name of the file, for messages
Graph read_ibnet(std::string_view text, const std::string& name);
Graph read_ibnet_file(const std::filesystem::path& file);

/// What read_ibnet() makes the same graph of, and ibsim loads. Throws std::invalid_argument for switches with
/// more than 254 ports, or names that are too long for ibsim's lines.
std::string write_ibnet(const Graph& graph);

}  // namespace weft::topology
