// SPDX-License-Identifier: Apache-2.0
// Counting members, and what must be between them.
#include "mcast/bounds.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "mcast/conflicts.hpp"
#include "mcast/height_bound.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t most_words = 25'000'000;  // that a search looks at
constexpr std::size_t most_spanned = 512;    // members of a group for which distances are looked at

class LeastTrees {
 public:
  explicit LeastTrees(const Hops& hops)
      : hops_(hops), part_(hops.graph().switches()), touches_(hops.graph().switches()) {}

  /// Switches of any tree that joins these.
  uint64_t switches(const std::vector<uint32_t>& ends) {
    return std::max(ends.size() + between(ends), spanned(ends));
  }

 private:
  /// A switch without member joins at most as many parts of the members' switches as it has neighbours in, so
  /// the switches with the most neighbours must have, together, as many as there are parts.
  uint64_t between(const std::vector<uint32_t>& ends) {
    const uint32_t parts = find_parts(ends);
    std::vector<uint32_t> near;
    for (const uint32_t end : ends)
      for (const topology::Arc& arc : hops_.graph().neighbours(end))
        if (part_[arc.node] == 0 && touches_[arc.node]++ == 0) near.push_back(arc.node);
    std::vector<uint32_t> counts;
    counts.reserve(near.size());
    for (const uint32_t sw : near) counts.push_back(touches_[sw]);
    for (const uint32_t sw : near) touches_[sw] = 0;
    for (const uint32_t end : ends) part_[end] = 0;
    if (parts == 1) return 0;
    std::sort(counts.begin(), counts.end(), std::greater());
    uint64_t needed = 0;
    for (uint64_t joined = 0; joined < parts && needed < counts.size(); ++needed) joined += counts[needed];
    return needed;
  }

  /// Members' switches that are neighbours belong to one part. How many parts there are.
  uint32_t find_parts(const std::vector<uint32_t>& ends) {
    for (const uint32_t end : ends) part_[end] = none;
    uint32_t parts = 0;
    std::vector<uint32_t> todo;
    for (const uint32_t end : ends) {
      if (part_[end] != none) continue;
      part_[end] = ++parts;
      for (todo.assign(1, end); !todo.empty();) {
        const uint32_t at = todo.back();
        todo.pop_back();
        for (const topology::Arc& arc : hops_.graph().neighbours(at)) {
          if (part_[arc.node] != none) continue;
          part_[arc.node] = parts;
          todo.push_back(arc.node);
        }
      }
    }
    return parts;
  }

  /// A tree walked around passes all ends in a ring of twice its links, less the longest way between two of
  /// them: not less than a least spanning tree of the distances.
  uint64_t spanned(const std::vector<uint32_t>& ends) {
    const std::size_t count = ends.size();
    if (count < 2 || count > most_spanned) return 0;
    std::vector<uint32_t> nearest(count, none);
    uint64_t sum = 0;
    std::size_t last = 0;
    for (std::size_t joined = 1; joined < count; ++joined) {
      const uint8_t* row = hops_.from(ends[last], room_);
      nearest[last] = 0;
      std::size_t next = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (nearest[i] == 0) continue;
        nearest[i] = std::min<uint32_t>(nearest[i], row[ends[i]]);
        if (nearest[next] == 0 || nearest[i] < nearest[next]) next = i;
      }
      sum += nearest[next];
      last = next;
    }
    const uint64_t links = (sum * count + 2 * (count - 1) - 1) / (2 * (count - 1));
    return links + 1;
  }

  const Hops& hops_;
  Hops::Room room_;
  std::vector<uint32_t> part_, touches_;  // of each switch, 0 between calls
};

using Places = std::vector<std::vector<uint32_t>>;

/// Of all groups that are not local: switches with a member, or members.
Places places_of(const topology::Graph& graph, const Groups& groups, Tables tables) {
  Places places;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    const auto members = groups.members(group);
    if (groups.is_local(group)) continue;
    if (tables == Tables::of_switch) places.push_back(ends_of(members, graph).switches);
    if (tables == Tables::of_port) places.emplace_back(members.begin(), members.end());
  }
  return places;
}

std::vector<uint32_t> counted(const Places& places, uint32_t most) {
  std::vector<uint32_t> at(most);
  for (const auto& group : places)
    for (const uint32_t place : group) at[place]++;
  return at;
}

uint32_t room_needed(const Hops& hops, const Places& places) {
  LeastTrees least(hops);
  uint64_t room = 0;
  for (const auto& group : places) room += least.switches(group);
  const uint64_t switches = hops.graph().switches();
  return static_cast<uint32_t>((room + switches - 1) / switches);
}

/// The largest first, as many as can be compared.
std::vector<std::span<const uint32_t>> largest(const Places& places) {
  std::vector<std::span<const uint32_t>> found(places.begin(), places.end());
  std::stable_sort(found.begin(), found.end(), [](auto a, auto b) { return a.size() > b.size(); });
  uint64_t members = 0;
  std::size_t count = 0;
  for (; count < std::min(found.size(), Conflicts::most_items); ++count) {
    members += found[count].size();
    if (members * (count / 64 + 1) > most_words) break;
  }
  found.resize(count);
  return found;
}

std::vector<uint32_t> with(uint32_t place, std::span<const std::span<const uint32_t>> groups) {
  std::vector<uint32_t> found;
  for (uint32_t group = 0; group < groups.size(); ++group)
    if (std::binary_search(groups[group].begin(), groups[group].end(), place)) found.push_back(group);
  return found;
}

}  // namespace

ColourBounds colour_bounds(const Hops& hops, const Groups& groups, Tables tables) {
  const topology::Graph& graph = hops.graph();
  const Places places = places_of(graph, groups, tables);
  const bool of_switch = tables == Tables::of_switch;
  const auto at = counted(places, of_switch ? graph.switches() : graph.hosts());
  const auto fullest = std::max_element(at.begin(), at.end());
  ColourBounds bounds;
  bounds.members = *fullest;
  if (of_switch) bounds.room = room_needed(hops, places);
  const auto compared = largest(places);
  const Conflicts conflicts(compared);
  const std::vector<uint32_t> ones(compared.size(), 1);
  Work work(most_words);
  const auto first = with(static_cast<uint32_t>(fullest - at.begin()), compared);
  bounds.clique = static_cast<uint32_t>(heavy_clique(conflicts, ones, first, work).size());
  if (of_switch) bounds.height = height_bound(hops, compared, conflicts, most_words);
  return bounds;
}

}  // namespace weft::mcast
