// SPDX-License-Identifier: Apache-2.0
// Trees without what leads nowhere; their middle.
#include "mcast/tree.hpp"

#include <algorithm>

namespace weft::mcast {

Ends ends_of(std::span<const uint32_t> hosts, const topology::Graph& graph) {
  Ends ends;
  ends.switches.reserve(hosts.size());
  ends.host_links.reserve(hosts.size());
  for (const uint32_t host : hosts) {
    const topology::Arc& arc = graph.attachments(host).front();
    ends.switches.push_back(arc.node);
    ends.host_links.push_back(arc.link);
  }
  std::sort(ends.switches.begin(), ends.switches.end());
  ends.switches.erase(std::unique(ends.switches.begin(), ends.switches.end()), ends.switches.end());
  return ends;
}

Pruner::Pruner(const topology::Graph& graph)
    : graph_(graph),
      sides_(graph.switches()),
      from_(graph.switches()),
      hops_(graph.switches()),
      kept_(graph.switches()) {}

void Pruner::join_sides(const Tree& tree) {
  for (const uint32_t id : tree.links) {
    const topology::Link& link = graph_.link(id);
    sides_[link.a].push_back({link.b, id});
    sides_[link.b].push_back({link.a, id});
  }
}

void Pruner::drop_leaves(Tree& tree, const Ends& ends) {
  for (const uint32_t sw : ends.switches) kept_[sw] = 1;
  std::vector<uint32_t> leaves;
  const auto is_leaf = [this](uint32_t sw) { return sides_[sw].size() < 2 && kept_[sw] == 0; };
  for (const uint32_t sw : tree.switches)
    if (is_leaf(sw)) leaves.push_back(sw);
  std::vector<uint32_t> gone;
  while (!leaves.empty()) {
    const uint32_t sw = leaves.back();
    leaves.pop_back();
    kept_[sw] = 2;
    if (sides_[sw].empty()) continue;
    const Side side = sides_[sw].front();
    gone.push_back(side.link);
    sides_[sw].clear();
    std::erase_if(sides_[side.to], [sw](const Side& back) { return back.to == sw; });
    if (is_leaf(side.to)) leaves.push_back(side.to);
  }
  std::sort(gone.begin(), gone.end());
  std::erase_if(tree.links,
                [&gone](uint32_t link) { return std::binary_search(gone.begin(), gone.end(), link); });
  std::vector<uint32_t> before = std::move(tree.switches);
  tree.switches.clear();
  for (const uint32_t sw : before) {
    if (kept_[sw] != 2) tree.switches.push_back(sw);
    kept_[sw] = 0;
  }
}

/// The way to the switch of the tree that is farthest from this one, from there.
std::vector<uint32_t> Pruner::farthest_way(uint32_t from) {
  std::vector<uint32_t> queue{from};
  from_[from] = none;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Side& side : sides_[queue[i]]) {
      if (side.to == from_[queue[i]]) continue;
      from_[side.to] = queue[i];
      queue.push_back(side.to);
    }
  std::vector<uint32_t> way;
  for (uint32_t sw = queue.back(); sw != none; sw = from_[sw]) way.push_back(sw);
  return way;
}

void Pruner::settle(Tree& tree, const Ends& ends) {
  join_sides(tree);
  drop_leaves(tree, ends);
  const auto longest = farthest_way(farthest_way(ends.switches.front()).front());
  tree.root = longest[longest.size() / 2];
  tree.height = static_cast<uint32_t>(longest.size() / 2);
  for (const uint32_t sw : tree.switches) sides_[sw].clear();
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
}

}  // namespace weft::mcast
