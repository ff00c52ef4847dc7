// SPDX-License-Identifier: Apache-2.0
// Packets on multicast tables, hop by hop, as switches forward them: who gets how many copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mcast/forwarding_tables.hpp"
#include "topology/graph.hpp"

namespace weft::test {

/// Sends a packet from each member to the group with this MLID. "": each other member gets exactly one copy,
/// nobody else any; else what is wrong.
/// @param hosts members, by their first port
std::string walk(const topology::Graph& graph, const mcast::ForwardingTables& tables, uint16_t mlid,
                 const std::vector<uint32_t>& hosts);

/// How many MLIDs use the link that most use.
struct LargestEfi {
  uint32_t all = 0, between_switches = 0;
};
LargestEfi largest_efi(const topology::Graph& graph, const mcast::ForwardingTables& tables);

}  // namespace weft::test
