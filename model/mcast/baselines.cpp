// SPDX-License-Identifier: Apache-2.0
// One tree after the other.
#include "mcast/baselines.hpp"

#include <algorithm>
#include <utility>

#include "mcast/minhop.hpp"
#include "mcast/roots.hpp"
#include "mcast/sssp.hpp"

namespace weft::mcast {

namespace {

uint32_t lowest_guid(const topology::Graph& graph, const std::vector<Roots::Root>& roots) {
  const auto guid = [&graph](const Roots::Root& root) { return graph.switch_info(root.sw).guid; };
  return std::min_element(roots.begin(), roots.end(),
                          [&](const auto& a, const auto& b) { return guid(a) < guid(b); })
      ->sw;
}

}  // namespace

void route_baseline(Forest& forest, const Hops& hops, const Groups& groups, Baseline baseline,
                    const std::function<void(uint32_t, uint32_t)>& progress) {
  const topology::Graph& graph = hops.graph();
  RootSearch search(hops);
  LightestWays ways(graph);
  Weights weights;
  if (baseline == Baseline::sssp) weights = unicast_weights(graph);
  if (baseline == Baseline::sssp_load) weights.assign(2 * std::size_t{graph.switch_links()}, 1);
  uint32_t colour = 0;
  for (uint32_t i = 0; i < groups.count(); ++i) {
    const auto members = groups.members(i);
    const uint32_t group = forest.add_group({members.begin(), members.end()});
    if (groups.is_local(i)) continue;
    const Ends ends = ends_of(members, graph);
    const uint32_t root = lowest_guid(graph, search.find(ends.switches).roots);
    Tree tree;
    if (baseline == Baseline::minhop) {
      tree = minhop_tree(hops, root, ends);
    } else {
      ways.find(root, weights);
      tree = tree_of_ways(graph, ways, root, ends);
    }
    if (baseline == Baseline::sssp_load)
      for (const uint32_t link : tree.links)
        if (!graph.is_host_link(link)) {
          weights[2 * std::size_t{link}]++;
          weights[2 * std::size_t{link} + 1]++;
        }
    tree.colour = colour++;
    forest.plant(std::move(tree), {group});
    if (progress) progress(i, groups.count());
  }
}

}  // namespace weft::mcast
