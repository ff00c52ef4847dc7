// SPDX-License-Identifier: Apache-2.0
// Machines that boot as they stand in a fabric: trees of switches and fat trees.
//
// A board is a switch with nodes, its N2 all links to switches above; a supernode is what hangs together
// below the core, its N3 all links to there; an edge switch is a switch with servers, its N4 all links to
// other switches. The core are the switches two links away from boards, or one where there are none that far.
#pragma once

#include <string>
#include <vector>

#include "boot/machine.hpp"
#include "topology/graph.hpp"

namespace weft::boot {

/// Hosts, by number, GUID or name, separated by commas, or file:PATH with one or more a line. Throws Fault,
/// "SPEC: fault" or "FILE:LINE: fault".
std::vector<uint32_t> hosts_of(const std::string& spec, const topology::Graph& graph);

/// Takes numbers of nodes, servers and links and the names of both from a fabric; of links that differ the
/// fewest count. All hosts but servers and routers are nodes. Places without anyone have no name, servers
/// that are not there have failed. Throws Fault, "NAME: fault".
/// @param name of the fabric, for messages; @param machine the rest stays
void take_topology(const topology::Graph& graph, const std::string& name,
                   const std::vector<uint32_t>& servers, Machine& machine);

}  // namespace weft::boot
