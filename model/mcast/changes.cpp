// SPDX-License-Identifier: Apache-2.0
// Which group is which, and what must be done to its tree.
#include "mcast/changes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace weft::mcast {

namespace {

std::vector<uint32_t> copy_of(std::span<const uint32_t> members) { return {members.begin(), members.end()}; }

/// Switches and links between them of the tree that a member's link leads to.
Tree tree_at(uint32_t host_link, uint32_t colour, const topology::Graph& graph, const FabricTables& tables) {
  const auto entry_at = [&](uint32_t sw, uint16_t port) {
    const auto& entries = tables.switches[sw];
    return *std::find_if(entries.begin(), entries.end(), [&](const TableEntry& entry) {
      return entry.colour == colour && std::binary_search(entry.ports.begin(), entry.ports.end(), port);
    });
  };
  Tree tree;
  tree.colour = colour;
  std::vector<std::pair<uint32_t, uint16_t>> todo{{graph.link(host_link).b, graph.link(host_link).b_port}};
  while (!todo.empty()) {
    const auto [sw, port] = todo.back();
    todo.pop_back();
    tree.switches.push_back(sw);
    for (const uint16_t other : entry_at(sw, port).ports) {
      const uint32_t id = graph.link_at(sw, other);
      if (other == port || graph.is_host_link(id)) continue;
      const topology::Link& link = graph.link(id);
      tree.links.push_back(id);
      const bool at_a = link.a == sw && link.a_port == other;
      todo.emplace_back(at_a ? link.b : link.a, at_a ? link.b_port : link.a_port);
    }
  }
  return tree;
}

/// Of each group now, the one before that it was; `none` if it is new.
class Matching {
 public:
  Matching(const Groups& old, const Groups& now)
      : old_(old), now_(now), was_(now.count(), none), taken_(old.count()) {
    match_same();
    match_similar();
  }

  uint32_t was(uint32_t group) const { return was_[group]; }
  bool is_gone(uint32_t old) const { return !taken_[old]; }

 private:
  void match(uint32_t group, uint32_t old) {
    was_[group] = old;
    taken_[old] = true;
  }

  /// Where several are the same, in their order.
  void match_same() {
    std::map<std::vector<uint32_t>, std::vector<uint32_t>> by_members;
    for (uint32_t group = old_.count(); group-- > 0;)
      by_members[copy_of(old_.members(group))].push_back(group);
    for (uint32_t group = 0; group < now_.count(); ++group) {
      const auto found = by_members.find(copy_of(now_.members(group)));
      if (found == by_members.end() || found->second.empty()) continue;
      match(group, found->second.back());
      found->second.pop_back();
    }
  }

  /// The most similar first.
  void match_similar() {
    std::map<uint32_t, std::vector<uint32_t>> of_host;
    for (uint32_t old = 0; old < old_.count(); ++old)
      if (is_gone(old))
        for (const uint32_t host : old_.members(old)) of_host[host].push_back(old);
    std::vector<std::tuple<double, uint32_t, uint32_t>> pairs;
    for (uint32_t group = 0; group < now_.count(); ++group) {
      if (was_[group] != none) continue;
      std::map<uint32_t, std::size_t> shared;  // with each group before
      for (const uint32_t host : now_.members(group))
        if (const auto found = of_host.find(host); found != of_host.end())
          for (const uint32_t old : found->second) shared[old]++;
      for (const auto& [old, count] : shared) {
        const std::size_t all = now_.members(group).size() + old_.members(old).size() - count;
        if (2 * count >= all)
          pairs.emplace_back(-static_cast<double>(count) / static_cast<double>(all), group, old);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [similar, group, old] : pairs)
      if (was_[group] == none && is_gone(old)) match(group, old);
  }

  const Groups& old_;
  const Groups& now_;
  std::vector<uint32_t> was_;
  std::vector<bool> taken_;
};

std::vector<uint32_t> difference(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint32_t> only;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  return only;
}

/// @param number of each of its groups in the new forest; `none`: it is in no group any more
Forest renumbered(const Forest& forest, const Groups& groups, const std::vector<uint32_t>& number) {
  Forest result(forest.graph(), forest.occupancy().limit(), forest.occupancy().tables());
  for (uint32_t group = 0; group < groups.count(); ++group) result.add_group(copy_of(groups.members(group)));
  for (uint32_t tree = 0; tree < forest.trees(); ++tree) {
    if (!forest.stands(tree)) continue;
    std::vector<uint32_t> on_it;
    for (const uint32_t group : forest.groups_on(tree)) on_it.push_back(number[group]);
    result.plant(forest.tree(tree), std::move(on_it));
  }
  return result;
}

}  // namespace

Forest forest_of(const topology::Graph& graph, const Groups& groups, const FabricTables& tables) {
  Forest forest(graph, tables.limit, tables.kind);
  std::map<uint32_t, std::vector<uint32_t>> on_tree;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    forest.add_group(copy_of(groups.members(group)));
    if (!groups.is_local(group)) on_tree[tables.groups[group].tree].push_back(group);
  }
  Pruner pruner(graph);
  for (auto& [number, groups_on_it] : on_tree) {
    const Ends ends = ends_of(forest.hosts_of(groups_on_it), graph);
    Tree tree = tree_at(ends.host_links.front(), tables.groups[groups_on_it.front()].colour, graph, tables);
    pruner.settle(tree, ends);
    forest.plant(std::move(tree), std::move(groups_on_it));
  }
  return forest;
}

Forest with_changes(const Hops& hops, const RouterOptions& options, const Forest& before, const Groups& old,
                    const Groups& now, Changes& changes) {
  const Matching matching(old, now);
  Router router(hops, options);
  router.adopt(before);
  std::vector<uint32_t> number(old.count(), none);
  for (uint32_t group = 0; group < now.count(); ++group)
    if (matching.was(group) != none) number[matching.was(group)] = group;
  for (uint32_t group = 0; group < old.count(); ++group) {
    if (!matching.is_gone(group)) continue;
    router.remove(group);
    changes.gone++;
  }
  for (uint32_t group = 0; group < now.count(); ++group) {
    const uint32_t was = matching.was(group);
    if (was == none) continue;
    const auto leaving = difference(old.members(was), now.members(group));
    const auto joining = difference(now.members(group), old.members(was));
    for (const uint32_t host : leaving) router.leave(was, host);
    for (const uint32_t host : joining) router.join(was, host);
    (leaving.empty() && joining.empty() ? changes.same : changes.changed)++;
  }
  for (uint32_t group = 0; group < now.count(); ++group) {
    if (matching.was(group) != none) continue;
    router.create(copy_of(now.members(group)));
    number.push_back(group);
    changes.fresh++;
  }
  return renumbered(router.forest(), now, number);
}

}  // namespace weft::mcast
