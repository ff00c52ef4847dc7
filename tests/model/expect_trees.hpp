// SPDX-License-Identifier: Apache-2.0
// What holds for trees of any kind, by plain counting and searching. Inside properties.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "mcast/checker.hpp"
#include "mcast/figures.hpp"
#include "mcast/groups.hpp"
#include "mcast/tables.hpp"
#include "topology/distances.hpp"

namespace weft::mcast::test {

inline void expect_right(const Forest& forest, const Groups& groups) {
  const auto findings = check(forest.graph(), groups, tables_of(forest));
  for (const auto& finding : findings) RC_LOG(finding + "\n");
  RC_ASSERT(findings.empty());
}

/// The least distance within which a switch has all of these, by plain searches.
inline uint32_t least_height(const topology::Graph& graph, const std::vector<uint32_t>& switches) {
  std::vector<uint32_t> farthest(graph.switches());
  for (const uint32_t sw : switches) {
    const auto hops = topology::hops_from(graph, sw);
    for (uint32_t i = 0; i < graph.switches(); ++i) farthest[i] = std::max(farthest[i], hops[i]);
  }
  return *std::min_element(farthest.begin(), farthest.end());
}

/// Hops along the tree from its root to the farthest of its ends.
inline uint32_t walked_height(const topology::Graph& graph, const Tree& tree) {
  std::map<uint32_t, uint32_t> depth{{tree.root, 0}};
  uint32_t deepest = 0;
  for (bool grew = true; grew;) {
    grew = false;
    for (const uint32_t id : tree.links) {
      if (graph.is_host_link(id)) continue;
      const topology::Link& link = graph.link(id);
      const bool has_a = depth.contains(link.a), has_b = depth.contains(link.b);
      if (has_a == has_b) continue;
      const uint32_t far = has_a ? link.b : link.a;
      depth[far] = depth[has_a ? link.a : link.b] + 1;
      grew = true;
    }
  }
  for (const uint32_t id : tree.links)
    if (graph.is_host_link(id)) deepest = std::max(deepest, depth.at(graph.link(id).b));
  return deepest;
}

/// Figures by plain counting.
inline void expect_figures(const Forest& forest) {
  std::map<uint32_t, uint32_t> efi;
  std::set<uint32_t> colours, shared;
  for (uint32_t group = 0; group < forest.groups(); ++group) {
    if (forest.tree_of(group) == none) continue;
    const Tree& tree = forest.tree(forest.tree_of(group));
    colours.insert(tree.colour);
    for (const uint32_t link : tree.links) efi[link]++;
    if (forest.groups_on(forest.tree_of(group)).size() > 1) shared.insert(group);
  }
  uint32_t most = 0, most_between = 0;
  for (const auto& [link, groups] : efi) {
    most = std::max(most, groups);
    if (!forest.graph().is_host_link(link)) most_between = std::max(most_between, groups);
  }
  const Figures figures = figures_of(forest);
  RC_ASSERT(figures.max_efi == most);
  RC_ASSERT(figures.max_efi_switch == most_between);
  RC_ASSERT(figures.colours_used == colours.size());
  RC_ASSERT(figures.merged_groups == shared.size());
}

}  // namespace weft::mcast::test
