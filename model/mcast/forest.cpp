// SPDX-License-Identifier: Apache-2.0
// Planting and felling trees.
#include "mcast/forest.hpp"

#include <algorithm>
#include <utility>

namespace weft::mcast {

Forest::Forest(const topology::Graph& graph, uint32_t colours, Tables tables)
    : graph_(graph), occupancy_(graph, colours, tables) {}

uint32_t Forest::add_group(std::vector<uint32_t> hosts) {
  groups_.push_back({std::move(hosts), none});
  return groups() - 1;
}

uint32_t Forest::plant(Tree tree, std::vector<uint32_t> groups) {
  occupancy_.take(tree.switches, tree.links, tree.colour);
  occupancy_.add_load(tree.switches, tree.links, static_cast<int32_t>(groups.size()));
  if (free_numbers_.empty()) {
    free_numbers_.push_back(trees());
    trees_.emplace_back();
    planting_.push_back(0);
  }
  const uint32_t number = free_numbers_.back();
  free_numbers_.pop_back();
  for (const uint32_t group : groups) groups_[group].tree = number;
  if (by_colour_.size() <= tree.colour) by_colour_.resize(tree.colour + 1);
  by_colour_[tree.colour].push_back(number);
  trees_[number] = {std::move(tree), std::move(groups)};
  planting_[number] = ++plantings_;
  return number;
}

Forest::Felled Forest::fell(uint32_t number) {
  Felled felled = std::exchange(trees_[number], {});
  free_numbers_.push_back(number);
  for (const uint32_t group : felled.groups) groups_[group].tree = none;
  std::erase(by_colour_[felled.tree.colour], number);
  while (!by_colour_.empty() && by_colour_.back().empty()) by_colour_.pop_back();
  occupancy_.give_back(felled.tree.switches, felled.tree.links, felled.tree.colour);
  occupancy_.add_load(felled.tree.switches, felled.tree.links, -static_cast<int32_t>(felled.groups.size()));
  return felled;
}

std::vector<uint32_t> Forest::hosts_of(std::span<const uint32_t> groups) const {
  std::vector<uint32_t> all;
  for (const uint32_t group : groups)
    all.insert(all.end(), groups_[group].hosts.begin(), groups_[group].hosts.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace weft::mcast
