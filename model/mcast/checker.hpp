// SPDX-License-Identifier: Apache-2.0
// Whether tables do what groups ask for. Knows nothing of how they were made: it sends packets along them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mcast/groups.hpp"
#include "mcast/tables.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

inline constexpr std::size_t most_findings = 10;

/// What is wrong, a line each, none twice, at most most_findings; nothing if a packet from every member of
/// every group comes to each other member exactly once, no packet comes to a switch twice or to a host of no
/// group on that tree, no colour of a switch serves two trees, and no switch has more entries, or higher
/// colours, than the limit.
std::vector<std::string> check(const topology::Graph& graph, const Groups& groups,
                               const FabricTables& tables);

}  // namespace weft::mcast
