// SPDX-License-Identifier: Apache-2.0
// From each switch by its first port that leads nearer.
#include "mcast/minhop.hpp"

#include <algorithm>

namespace weft::mcast {

Tree minhop_tree(const Hops& hops, uint32_t root, const Ends& ends) {
  const topology::Graph& graph = hops.graph();
  Tree tree{root, 0, none, {root}, {}};
  std::vector<uint8_t> joined(graph.switches());
  joined[root] = 1;
  Hops::Room room;
  for (const uint32_t end : ends.switches) {
    const uint8_t* to = hops.from(end, room);
    tree.height = std::max<uint32_t>(tree.height, to[root]);
    for (uint32_t at = root; at != end;) {
      const auto arcs = graph.neighbours(at);
      const auto first =
          std::find_if(arcs.begin(), arcs.end(), [&](const auto& arc) { return to[arc.node] + 1 == to[at]; });
      at = first->node;
      if (joined[at] != 0) continue;
      joined[at] = 1;
      tree.switches.push_back(at);
      tree.links.push_back(first->link);
    }
  }
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
  return tree;
}

}  // namespace weft::mcast
