// SPDX-License-Identifier: Apache-2.0
// Dijkstra's algorithm.
#include "mcast/sssp.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace weft::mcast {

namespace {

constexpr uint64_t far = std::numeric_limits<uint64_t>::max();

/// Where a packet goes that leaves `from` by a link: its place among weights.
std::size_t direction(const topology::Graph& graph, uint32_t link, uint32_t from) {
  return 2 * std::size_t{link} + (graph.link(link).a == from ? 1 : 0);
}

uint32_t other_end(const topology::Graph& graph, uint32_t link, uint32_t sw) {
  const topology::Link& ends = graph.link(link);
  return ends.a == sw ? ends.b : ends.a;
}

}  // namespace

LightestWays::LightestWays(const topology::Graph& graph) : graph_(graph) {}

void LightestWays::find(uint32_t to, const Weights& weights) {
  weight_.assign(graph_.switches(), far);
  link_.assign(graph_.switches(), none);
  order_.clear();
  using Entry = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  weight_[to] = 0;
  queue.emplace(0, to);
  while (!queue.empty()) {
    const auto [weight, at] = queue.top();
    queue.pop();
    if (weight != weight_[at]) continue;
    order_.push_back(at);
    for (const topology::Arc& arc : graph_.neighbours(at)) {
      const uint64_t longer = weight + weights[direction(graph_, arc.link, arc.node)];
      if (longer >= weight_[arc.node]) continue;
      weight_[arc.node] = longer;
      link_[arc.node] = arc.link;
      queue.emplace(longer, arc.node);
    }
  }
}

Tree tree_of_ways(const topology::Graph& graph, const LightestWays& ways, uint32_t root, const Ends& ends) {
  Tree tree{root, 0, none, {root}, {}};
  std::vector<uint8_t> joined(graph.switches());
  joined[root] = 1;
  for (const uint32_t end : ends.switches) {
    uint32_t hops = 0;
    for (uint32_t at = end; at != root; ++hops) {
      const uint32_t link = ways.first_link(at);
      if (std::exchange(joined[at], 1) == 0) {
        tree.switches.push_back(at);
        tree.links.push_back(link);
      }
      at = other_end(graph, link, at);
    }
    tree.height = std::max(tree.height, hops);
  }
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
  return tree;
}

}  // namespace weft::mcast
