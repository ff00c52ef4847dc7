// SPDX-License-Identifier: Apache-2.0
// Trees of groups that come, change and go.
#include "opensm/group_trees.hpp"

#include <algorithm>
#include <limits>

#include "common/fault.hpp"

namespace weft::opensm {

namespace {

constexpr std::size_t most_roots = 16;  // that are tried

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
      ways_(graph),
      occupancy_(graph, mcast::no_limit, mcast::Tables::of_switch) {}

std::vector<std::pair<uint32_t, mcast::PortMask>> GroupTrees::build(uint32_t group, const Members& members) {
  remove(group);
  if (members.count() < 2) return {};
  const mcast::Ends ends = ends_of(members, graph_);
  const mcast::Tree& tree = trees_[group] = spread(ends);
  occupancy_.add_load(tree.switches, tree.links, 1);

  std::map<uint32_t, mcast::PortMask> masks;
  for (const uint32_t id : tree.links) {
    const topology::Link& link = graph_.link(id);
    masks[link.b].set(link.b_port);
    if (!graph_.is_host_link(id)) masks[link.a].set(link.a_port);
  }
  for (const uint32_t sw : members.switches) masks[sw].set(0);
  return {masks.begin(), masks.end()};
}

/// From roots near to all members and with little load.
mcast::Tree GroupTrees::spread(const mcast::Ends& ends) {
  std::vector<mcast::Roots::Root> roots = root_search_.find(ends.switches).roots;
  const auto rank = [this](const mcast::Roots::Root& root) {
    return std::pair(2 * root.sum + occupancy_.switch_load(root.sw), root.sw);
  };
  const std::size_t tried = std::min<std::size_t>(roots.size(), most_roots);
  std::partial_sort(roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(tried), roots.end(),
                    [&rank](const auto& a, const auto& b) { return rank(a) < rank(b); });
  mcast::Tree best;
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (std::size_t i = 0; i < tried; ++i) {
    ways_.find(roots[i].sw, hops_.from(roots[i].sw, room_), ends);
    mcast::Tree tree = ways_.build(occupancy_, ends, mcast::none, mcast::Ways::Prefer::light_links);
    const uint64_t cost = this->cost(tree);
    if (cost >= least) continue;
    least = cost;
    best = std::move(tree);
  }
  return best;
}

/// The most loaded link counts first, then all of them.
uint64_t GroupTrees::cost(const mcast::Tree& tree) const {
  uint64_t most = 0, all = 0;
  for (const uint32_t link : tree.links) {
    if (graph_.is_host_link(link)) continue;
    most = std::max<uint64_t>(most, occupancy_.load(link));
    all += occupancy_.load(link) + 1;
  }
  return most << 32 | all;
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
