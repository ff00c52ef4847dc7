// SPDX-License-Identifier: Apache-2.0
// Counting.
#include "mcast/figures.hpp"

#include <algorithm>

namespace weft::mcast {

namespace {

void count_links(const Forest& forest, Figures& figures) {
  uint64_t sum = 0, used = 0;
  for (uint32_t link = 0; link < forest.graph().links(); ++link) {
    const uint32_t efi = forest.occupancy().load(link);
    sum += efi;
    used += efi > 0 ? 1 : 0;
    figures.max_efi = std::max(figures.max_efi, efi);
    if (!forest.graph().is_host_link(link)) figures.max_efi_switch = std::max(figures.max_efi_switch, efi);
  }
  figures.mean_efi = used == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(used);
}

void count_trees(const Forest& forest, Figures& figures) {
  std::vector<uint32_t> passing(forest.graph().switches());
  uint32_t routed = 0;
  for (uint32_t number = 0; number < forest.trees(); ++number) {
    if (!forest.stands(number)) continue;
    const auto tfi = static_cast<uint32_t>(forest.groups_on(number).size());
    figures.trees++;
    routed += tfi;
    figures.merged_groups += tfi > 1 ? tfi : 0;
    figures.max_tfi = std::max(figures.max_tfi, tfi);
    figures.max_tree_height = std::max(figures.max_tree_height, forest.tree(number).height);
    figures.entries += forest.tree(number).switches.size();
    for (const uint32_t sw : forest.tree(number).switches) passing[sw]++;
  }
  figures.most_trees = *std::max_element(passing.begin(), passing.end());
  figures.mean_tfi = figures.trees == 0 ? 0 : static_cast<double>(routed) / figures.trees;
}

}  // namespace

Figures figures_of(const Forest& forest) {
  Figures figures;
  figures.groups = forest.groups();
  for (uint32_t group = 0; group < forest.groups(); ++group)
    figures.local_groups += forest.hosts(group).size() < 2 ? 1 : 0;
  for (uint32_t colour = 0; colour < forest.colours(); ++colour)
    figures.colours_used += forest.trees_in(colour).empty() ? 0 : 1;
  count_links(forest, figures);
  count_trees(forest, figures);
  return figures;
}

}  // namespace weft::mcast
