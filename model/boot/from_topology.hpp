// SPDX-License-Identifier: Apache-2.0
// Machines that boot as they stand in a fabric: trees of switches and fat trees.
//
// A board is a switch with nodes, its N2 all links to switches above; a supernode is what hangs together
// below the core, its N3 all links to there; an edge switch is a switch with servers, its N4 all links to
// other switches. The core are the switches two links away from boards, or one where there are none that far.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "boot/machine.hpp"
#include "topology/graph.hpp"

namespace weft::boot {

/// Hosts, by number, GUID or name, separated by commas, or file:PATH with one or more a line. Throws Fault,
/// "SPEC: fault" or "FILE:LINE: fault".
std::vector<uint32_t> hosts_of(const std::string& spec, const topology::Graph& graph);

/// Takes numbers of nodes, servers and links, their rates and the names of nodes and servers from a fabric.
/// Where places of a segment differ, each has what its links carry together, and `links` the least of all.
/// All hosts but servers and routers are nodes. Places without anyone have no name, servers that are not
/// there have failed. Throws Fault, "NAME: fault", also of fabrics that are neither trees nor fat trees.
/// @param name of the fabric, for messages; @param machine rates of links of which the fabric says nothing;
/// the rest stays; @param told_mbps of each link, whatever the fabric says
void take_topology(const topology::Graph& graph, const std::string& name,
                   const std::vector<uint32_t>& servers, Machine& machine,
                   const std::array<std::optional<double>, segments>& told_mbps = {});

}  // namespace weft::boot
