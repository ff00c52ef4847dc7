// SPDX-License-Identifier: Apache-2.0
// SSSP-MC exactly as stock OpenSM computes it (osm_ucast_dfsssp.c of 3.3.23, engine sssp, default settings,
// subnet manager at host 0).
#pragma once

#include <memory>

#include "mcast/tree.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

class OpenSmSssp {
 public:
  /// Routes unicast: a search from each host and each switch. Keeps a byte for each pair of switches. Throws
  /// Fault where OpenSM gives up and takes minhop: its weights are too large for its infinity.
  /// @param graph must outlive this
  explicit OpenSmSssp(const topology::Graph& graph);
  ~OpenSmSssp();

  /// Without colour. Root: of the switches whose farthest end is nearest, by hops of unicast ways, OpenSM's
  /// first. From there to each end by the lightest way; trees do not change weights. Throws Fault.
  Tree build(const Ends& ends);

 private:
  class Searches;
  class Hops;

  void route_unicast();
  uint32_t root_for(const Ends& ends) const;

  const topology::Graph& graph_;
  std::unique_ptr<Searches> searches_;
  std::unique_ptr<Hops> hops_;
};

}  // namespace weft::mcast
