// SPDX-License-Identifier: Apache-2.0
// The subnet as OpenSM has found it, as a graph.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "opensm/opensm_headers.hpp"
#include "topology/graph.hpp"

namespace weft::opensm {

/// Switches and hosts are numbered by GUID. Left out are switches that know no multicast, links that are not
/// up, and hosts that hang on nothing else.
struct SubnetGraph {
  /// Throws std::invalid_argument for what is no graph. OpenSM's lock must be held.
  explicit SubnetGraph(const osm_subn_t& subnet);

  std::vector<osm_switch_t*> switches;                      ///< of the graph; good until the next sweep
  std::unordered_map<const osm_switch_t*, uint32_t> index;  ///< the other way round
  topology::Graph graph;
  std::unordered_map<uint64_t, uint32_t> link_of_port;  ///< link of the host's port with this GUID
};

}  // namespace weft::opensm
