// SPDX-License-Identifier: Apache-2.0
// Which groups are merged, and into which tree.
#include "mcast/merger.hpp"

#include <algorithm>
#include <utility>

namespace weft::mcast {

namespace {

constexpr std::size_t most_roots = 4;  // that a merged tree is tried from

/// The end of a link that is not this one.
uint32_t other_end(const topology::Graph& graph, uint32_t link, uint32_t sw) {
  const topology::Link& ends = graph.link(link);
  return ends.a == sw ? ends.b : ends.a;
}

bool may_go(const Occupancy& occupancy, const topology::Arc& arc, uint32_t colour) {
  return occupancy.is_free_in_switch(arc.node, colour) && occupancy.is_free_in_link(arc.link, colour);
}

uint32_t least_loaded_colour(const Forest& forest) {
  uint32_t best = 0;
  std::size_t fewest = ~std::size_t{0};
  for (uint32_t colour = 0; colour < forest.colours(); ++colour) {
    std::size_t groups = 0;
    for (const uint32_t tree : forest.trees_in(colour)) groups += forest.groups_on(tree).size();
    if (groups >= fewest) continue;
    fewest = groups;
    best = colour;
  }
  return best;
}

}  // namespace

Merger::Merger(const Hops& hops, const Merging& merging)
    : hops_(hops),
      merging_(merging),
      ways_(hops.graph()),
      pruner_(hops.graph()),
      wanted_(hops.graph().switches()) {}

/// Members by switch; as they were when the tree was planted.
const Merger::Places& Merger::places_of(const Forest& forest, uint32_t number) {
  if (places_.size() < forest.trees()) places_.resize(forest.trees());
  Places& places = places_[number];
  if (places.planting == forest.planting(number)) return places;
  places.planting = forest.planting(number);
  places.hosts = 0;
  places.at.clear();
  for (const uint32_t link : forest.tree(number).links) {
    if (!forest.graph().is_host_link(link)) continue;
    const uint32_t sw = forest.graph().link(link).b;
    if (places.at.empty() || places.at.back().sw != sw) places.at.push_back({sw, 0});
    places.at.back().hosts++;
    places.hosts++;
  }
  return places;
}

/// Formula (1): the mean, over all members of both sides, of the distance to the nearest member of the other
/// side. Trees come in the order of what their own side alone contributes, until none can be better.
uint32_t Merger::most_similar(const Forest& forest, const Ends& ends) {
  const uint32_t switches = forest.graph().switches();
  std::vector<uint8_t> nearest(switches, 255);
  for (const uint32_t sw : ends.switches) {
    const uint8_t* row = hops_.from(sw, room_);
    for (uint32_t i = 0; i < switches; ++i) nearest[i] = std::min(nearest[i], row[i]);
  }
  struct Entry {
    uint64_t sum, members;
    uint32_t tree;
  };
  std::vector<Entry> entries;
  for (uint32_t tree = 0; tree < forest.trees(); ++tree) {
    if (!forest.stands(tree)) continue;
    const Places& places = places_of(forest, tree);
    uint64_t sum = 0;
    for (const Place& place : places.at) sum += uint64_t{place.hosts} * nearest[place.sw];
    entries.push_back({sum, places.hosts + ends.host_links.size(), tree});
  }
  const auto is_less = [](const Entry& a, const Entry& b) { return a.sum * b.members < b.sum * a.members; };
  const auto comes_later = [&](const Entry& a, const Entry& b) {
    return is_less(b, a) || (!is_less(a, b) && b.tree < a.tree);
  };
  std::make_heap(entries.begin(), entries.end(), comes_later);
  Entry best{none, 1, none};
  for (; !entries.empty() && is_less(entries.front(), best); entries.pop_back()) {
    std::pop_heap(entries.begin(), entries.end(), comes_later);
    Entry entry = entries.back();
    for (const uint32_t link : ends.host_links) {
      const uint8_t* row = hops_.from(forest.graph().link(link).b, room_);
      uint8_t least = 255;
      for (const Place& place : places_[entry.tree].at) least = std::min(least, row[place.sw]);
      entry.sum += least;
    }
    if (is_less(entry, best)) best = entry;
  }
  return best.tree;
}

void Merger::take_in(Forest& forest, Virtual& all, uint32_t number) {
  auto [tree, groups] = forest.fell(number);
  all.groups.insert(all.groups.end(), groups.begin(), groups.end());
  all.trees.push_back(std::move(tree));
}

/// The tree that the virtual group would have in an empty fabric: all that have its colour where it passes.
void Merger::take_in_what_is_in_the_way(Forest& forest, Virtual& all, RootSearch& roots) {
  const auto found = roots.find(all.ends.switches).roots;
  const uint32_t root =
      std::min_element(found.begin(), found.end(), [&](const Roots::Root& a, const Roots::Root& b) {
        return forest.occupancy().switch_load(a.sw) < forest.occupancy().switch_load(b.sw);
      })->sw;
  ways_.find(root, hops_.from(root, room_), all.ends);
  const Tree wanted = ways_.build(forest.occupancy(), all.ends, none, Ways::Prefer::light_links);
  const bool of_switch = forest.occupancy().tables() == Tables::of_switch;
  std::vector<uint8_t> marks(of_switch ? forest.graph().switches() : forest.graph().links());
  for (const uint32_t id : of_switch ? wanted.switches : wanted.links) marks[id] = 1;
  const std::vector<uint32_t> there = forest.trees_in(all.colour);
  for (const uint32_t number : there) {
    const Tree& tree = forest.tree(number);
    const auto& taken = of_switch ? tree.switches : tree.links;
    if (std::any_of(taken.begin(), taken.end(), [&](uint32_t id) { return marks[id] != 0; }))
      take_in(forest, all, number);
  }
}

/// As far as the farthest end.
void Merger::search(const Forest& forest, const Virtual& all, uint32_t from) {
  const Occupancy& occupancy = forest.occupancy();
  distance_.assign(forest.graph().switches(), none);
  up_.assign(forest.graph().switches(), none);
  queue_.assign(1, from);
  distance_[from] = 0;
  for (const uint32_t sw : all.ends.switches) wanted_[sw] = 1;
  std::size_t left = all.ends.switches.size() - std::exchange(wanted_[from], 0);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const uint32_t at = queue_[i];
    if (left == 0 && distance_[at] == distance_[queue_.back()]) break;
    for (const topology::Arc& arc : forest.graph().neighbours(at)) {
      if (distance_[arc.node] <= distance_[at] || !may_go(occupancy, arc, all.colour)) continue;
      if (distance_[arc.node] == none) {
        distance_[arc.node] = distance_[at] + 1;
        up_[arc.node] = arc.link;
        queue_.push_back(arc.node);
        left -= std::exchange(wanted_[arc.node], 0);
      } else if (occupancy.load(arc.link) < occupancy.load(up_[arc.node])) {
        up_[arc.node] = arc.link;
      }
    }
  }
  for (const uint32_t sw : all.ends.switches) wanted_[sw] = 0;
}

bool Merger::is_connected(const Forest& forest, const Virtual& all) {
  const Occupancy& occupancy = forest.occupancy();
  for (const uint32_t sw : all.ends.switches)
    if (!occupancy.is_free_in_switch(sw, all.colour)) return false;
  for (const uint32_t link : all.ends.host_links)
    if (!occupancy.is_free_in_link(link, all.colour)) return false;
  search(forest, all, all.ends.switches.front());
  return distance_[farthest(all.ends)] != none;
}

uint32_t Merger::farthest(const Ends& ends) const {
  return *std::max_element(ends.switches.begin(), ends.switches.end(),
                           [this](uint32_t a, uint32_t b) { return distance_[a] < distance_[b]; });
}

Tree Merger::tree_of_search(uint32_t root, const Virtual& all) const {
  Tree tree{root, distance_[farthest(all.ends)], all.colour, {root}, {}};
  std::vector<uint8_t> seen(distance_.size());
  seen[root] = 1;
  for (uint32_t sw : all.ends.switches)
    for (; seen[sw] == 0; sw = other_end(hops_.graph(), tree.links.back(), sw)) {
      seen[sw] = 1;
      tree.switches.push_back(sw);
      tree.links.push_back(up_[sw]);
    }
  return tree;
}

/// After a search from the first end. Roots: the middle of the longest way between members, and those that
/// were best in an empty fabric.
Tree Merger::rebuilt(const Forest& forest, const Virtual& all, RootSearch& roots) {
  search(forest, all, farthest(all.ends));
  uint32_t middle = farthest(all.ends);
  for (uint32_t left = distance_[middle] / 2; left > 0; --left)
    middle = other_end(forest.graph(), up_[middle], middle);
  std::vector<uint32_t> tried{middle};
  for (const auto& root : roots.find(all.ends.switches).roots) {
    if (tried.size() == most_roots) break;
    if (distance_[root.sw] != none) tried.push_back(root.sw);
  }
  Tree best;
  for (const uint32_t root : tried) {
    search(forest, all, root);
    if (best.root == none || distance_[farthest(all.ends)] < best.height) best = tree_of_search(root, all);
  }
  return best;
}

std::vector<uint32_t> Merger::free_way(const Forest& forest, uint32_t colour, std::span<const uint32_t> from,
                                       const std::vector<uint8_t>& marked) {
  const Occupancy& occupancy = forest.occupancy();
  distance_.assign(forest.graph().switches(), none);
  up_.assign(forest.graph().switches(), none);
  queue_.assign(from.begin(), from.end());
  for (const uint32_t sw : from) distance_[sw] = 0;
  std::vector<uint32_t> way;
  for (std::size_t i = 0; i < queue_.size() && way.empty(); ++i)
    for (const topology::Arc& arc : forest.graph().neighbours(queue_[i])) {
      const bool there = marked[arc.node] != 0;
      if (distance_[arc.node] != none || !occupancy.is_free_in_link(arc.link, colour)) continue;
      if (!there && !occupancy.is_free_in_switch(arc.node, colour)) continue;
      distance_[arc.node] = distance_[queue_[i]] + 1;
      up_[arc.node] = arc.link;
      queue_.push_back(arc.node);
      if (!there) continue;
      for (uint32_t sw = arc.node; distance_[sw] != 0; sw = other_end(forest.graph(), up_[sw], sw))
        way.push_back(up_[sw]);
      break;
    }
  return way;
}

/// From the first of the old trees, or the first member, on: whatever is nearest is joined by a way, an old
/// tree as a whole.
Tree Merger::grafted(const Forest& forest, const Virtual& all) {
  const topology::Graph& graph = forest.graph();
  Tree tree{none, 0, all.colour, {}, {}};
  std::vector<uint8_t> wanted(graph.switches());
  std::vector<uint32_t> owner(graph.switches(), none);
  for (uint32_t i = 0; i < all.trees.size(); ++i)
    for (const uint32_t sw : all.trees[i].switches) {
      owner[sw] = i;
      wanted[sw] = 1;
    }
  for (const uint32_t sw : all.ends.switches) wanted[sw] = 1;
  std::vector<uint8_t> joined(graph.switches());
  const auto join = [&](uint32_t sw) {
    if (std::exchange(joined[sw], 1) != 0) return;
    wanted[sw] = 0;
    tree.switches.push_back(sw);
  };
  const auto join_all = [&](uint32_t sw) {
    join(sw);
    if (owner[sw] == none) return;
    for (const uint32_t other : all.trees[owner[sw]].switches) join(other);
    for (const uint32_t link : all.trees[owner[sw]].links)
      if (!graph.is_host_link(link)) tree.links.push_back(link);
  };
  join_all(all.trees.empty() ? all.ends.switches.front() : all.trees.front().root);
  for (;;) {
    const auto way = free_way(forest, all.colour, tree.switches, wanted);
    if (way.empty()) return tree;
    const topology::Link& last = graph.link(way.front());
    const uint32_t reached = wanted[last.a] != 0 ? last.a : last.b;
    for (const uint32_t link : way) tree.links.push_back(link);
    join_all(reached);
    for (const uint32_t link : way) {
      join(graph.link(link).a);
      join(graph.link(link).b);
    }
  }
}

void Merger::merge(Forest& forest, uint32_t group, RootSearch& roots) {
  Virtual all;
  all.groups = {group};
  all.ends = ends_of(forest.hosts(group), forest.graph());
  const auto collect = [&] { all.ends = ends_of(forest.hosts_of(all.groups), forest.graph()); };
  bool optimistic = merging_.with == Merging::With::similar;
  if (optimistic) {
    const uint32_t first = most_similar(forest, all.ends);
    all.colour = forest.tree(first).colour;
    take_in(forest, all, first);
    collect();
    optimistic = is_connected(forest, all);
  } else {
    all.colour = least_loaded_colour(forest);
  }
  if (!optimistic) {
    take_in_what_is_in_the_way(forest, all, roots);
    collect();
    search(forest, all, all.ends.switches.front());
  }
  const bool graft = merging_.how == Merging::How::graft && forest.occupancy().tables() == Tables::of_switch;
  Tree tree = graft ? grafted(forest, all) : rebuilt(forest, all, roots);
  pruner_.settle(tree, all.ends);
  forest.plant(std::move(tree), std::move(all.groups));
}

}  // namespace weft::mcast
