// SPDX-License-Identifier: Apache-2.0
// The RTL as a node's barrier engine.
#include "Vbarrier_node.h"
#include "barrier/engine_node.hpp"
#include "barrier/lockstep_node.hpp"

namespace weft::tb {

namespace {

struct NodeSize {
  using Top = Vbarrier_node;
  static constexpr uint32_t groups = engine_groups, members = 64,
                            nodes = engine_nodes;  // as CMakeLists.txt says
  static constexpr uint32_t tick_period = engine_tick;
};

}  // namespace

std::unique_ptr<EngineNode> verilated_node(barrier::Node self, uint64_t seed) {
  return std::make_unique<LockstepNode<NodeSize>>(self, seed);
}

}  // namespace weft::tb
