// SPDX-License-Identifier: Apache-2.0
// One tree after the other.
#include "mcast/baselines.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "mcast/minhop.hpp"
#include "mcast/opensm_order.hpp"
#include "mcast/opensm_sssp.hpp"
#include "mcast/roots.hpp"
#include "mcast/sssp.hpp"

namespace weft::mcast {

namespace {

uint32_t first_root(const topology::Graph& graph, const std::vector<Roots::Root>& roots) {
  const auto key = [&graph](const Roots::Root& root) { return opensm_key(graph.switch_info(root.sw).guid); };
  return std::min_element(roots.begin(), roots.end(),
                          [&](const auto& a, const auto& b) { return key(a) < key(b); })
      ->sw;
}

/// Builds one tree after the other.
using Build = std::function<Tree(const Ends&)>;

Build minhop(const Hops& hops) {
  return [&hops, search = RootSearch(hops)](const Ends& ends) mutable {
    return minhop_tree(hops, first_root(hops.graph(), search.find(ends.switches).roots), ends);
  };
}

Build sssp(const topology::Graph& graph) {
  return [trees = std::make_shared<OpenSmSssp>(graph)](const Ends& ends) { return trees->build(ends); };
}

/// Each tree adds one to the weights of its links.
Build sssp_load(const Hops& hops) {
  const topology::Graph& graph = hops.graph();
  return [&graph, search = RootSearch(hops), ways = LightestWays(graph),
          weights = Weights(2 * std::size_t{graph.switch_links()}, 1)](const Ends& ends) mutable {
    const uint32_t root = first_root(graph, search.find(ends.switches).roots);
    ways.find(root, weights);
    Tree tree = tree_of_ways(graph, ways, root, ends);
    for (const uint32_t link : tree.links) {
      if (graph.is_host_link(link)) continue;
      ++weights[2 * std::size_t{link}];
      ++weights[2 * std::size_t{link} + 1];
    }
    return tree;
  };
}

Build builder(Baseline baseline, const Hops& hops) {
  switch (baseline) {
    case Baseline::minhop:
      return minhop(hops);
    case Baseline::sssp:
      return sssp(hops.graph());
    case Baseline::sssp_load:
      break;
  }
  return sssp_load(hops);
}

}  // namespace

void route_baseline(Forest& forest, const Hops& hops, const Groups& groups, Baseline baseline,
                    const std::function<void(uint32_t, uint32_t)>& progress) {
  const Build build = builder(baseline, hops);
  uint32_t colour = 0;
  for (uint32_t i = 0; i < groups.count(); ++i) {
    const auto members = groups.members(i);
    const uint32_t group = forest.add_group({members.begin(), members.end()});
    if (groups.is_local(i)) continue;
    Tree tree = build(ends_of(members, hops.graph()));
    tree.colour = colour++;
    forest.plant(std::move(tree), {group});
    if (progress) progress(i, groups.count());
  }
}

}  // namespace weft::mcast
