// SPDX-License-Identifier: Apache-2.0
// Trees of groups that come, change and go.
#include "opensm/group_trees.hpp"

#include <algorithm>

#include "mcast/fault.hpp"

namespace weft::opensm {

namespace {

mcast::Ends ends_of(const Members& members, const topology::Graph& graph) {
  mcast::Ends ends;
  ends.host_links = members.host_links;
  ends.switches = members.switches;
  for (const uint32_t link : members.host_links) ends.switches.push_back(graph.link(link).b);
  std::sort(ends.switches.begin(), ends.switches.end());
  ends.switches.erase(std::unique(ends.switches.begin(), ends.switches.end()), ends.switches.end());
  return ends;
}

}  // namespace

GroupTrees::GroupTrees(const topology::Graph& graph)
    : graph_(graph),
      hops_(graph),
      root_search_(hops_),
      planner_(hops_),
      occupancy_(graph, mcast::no_limit, mcast::Tables::of_switch) {}

std::vector<std::pair<uint32_t, mcast::PortMask>> GroupTrees::build(uint32_t group, const Members& members) {
  remove(group);
  if (members.count() < 2) return {};
  const mcast::Ends ends = ends_of(members, graph_);
  const auto tree = planner_.build_then_colour(occupancy_, ends, root_search_.find(ends.switches));
  if (!tree) throw mcast::Fault("no tree is free");
  occupancy_.add_load(tree->switches, tree->links, 1);
  trees_[group] = *tree;

  std::map<uint32_t, mcast::PortMask> masks;
  for (const uint32_t id : tree->links) {
    const topology::Link& link = graph_.link(id);
    masks[link.b].set(link.b_port);
    if (!graph_.is_host_link(id)) masks[link.a].set(link.a_port);
  }
  for (const uint32_t sw : members.switches) masks[sw].set(0);
  return {masks.begin(), masks.end()};
}

void GroupTrees::remove(uint32_t group) {
  const auto tree = trees_.find(group);
  if (tree == trees_.end()) return;
  occupancy_.add_load(tree->second.switches, tree->second.links, -1);
  trees_.erase(tree);
}

std::vector<uint32_t> GroupTrees::groups() const {
  std::vector<uint32_t> groups;
  for (const auto& [group, tree] : trees_) groups.push_back(group);
  return groups;
}

}  // namespace weft::opensm
