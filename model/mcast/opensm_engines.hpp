// SPDX-License-Identifier: Apache-2.0
// Multicast trees exactly as stock OpenSM 3.3.23 computes them, as baselines: its engines minhop and sssp,
// with default settings and its subnet manager at host 0 (docs/mcast_opensm.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mcast/forwarding_tables.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

struct OpenSmTree {
  uint32_t root = 0;            ///< a switch
  std::vector<uint32_t> links;  ///< ascending: those between switches, then those to members
};

class OpenSmEngine {
 public:
  virtual ~OpenSmEngine() = default;

  /// The tree of a group; trees do not depend on each other. A host takes part by its first connected port.
  /// Throws Fault if a member cannot be reached.
  /// @param hosts at least two different ones
  virtual OpenSmTree build(std::span<const uint32_t> hosts) = 0;
};

/// Root: the first of the switches whose farthest member is nearest. From there to each member by the first
/// port on a shortest way. Keeps a byte for each pair of switches. Throws Fault if switches are more than 254
/// links apart. @param graph must outlive the engine
std::unique_ptr<OpenSmEngine> opensm_minhop(const topology::Graph& graph);

/// Root: the same, by hops of unicast ways. From there to each member by the shortest way with the weights of
/// links that unicast routing has left. Searches from each host and switch first. Throws Fault where OpenSM
/// gives up and takes minhop: its weights are too large for its infinity.
std::unique_ptr<OpenSmEngine> opensm_sssp(const topology::Graph& graph);

/// Adds a tree to tables.
void add_tree(ForwardingTables& tables, uint16_t mlid, const OpenSmTree& tree, const topology::Graph& graph);

}  // namespace weft::mcast
