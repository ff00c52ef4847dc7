// SPDX-License-Identifier: Apache-2.0
// Counting members, and what must be between them.
#include "mcast/bounds.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "mcast/tree.hpp"

namespace weft::mcast {

namespace {

constexpr std::size_t most_spanned = 512;  // members of a group for which distances are looked at

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

uint32_t most_at_hosts(const topology::Graph& graph, const Groups& groups) {
  std::vector<uint32_t> at(graph.hosts());
  for (uint32_t group = 0; group < groups.count(); ++group)
    if (!groups.is_local(group))
      for (const uint32_t host : groups.members(group)) at[host]++;
  return *std::max_element(at.begin(), at.end());
}

}  // namespace

ColourBounds colour_bounds(const Hops& hops, const Groups& groups, Tables tables) {
  if (tables == Tables::of_port) return {most_at_hosts(hops.graph(), groups), 0};
  LeastTrees least(hops);
  std::vector<uint32_t> at(hops.graph().switches());
  uint64_t room = 0;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    if (groups.is_local(group)) continue;
    const Ends ends = ends_of(groups.members(group), hops.graph());
    for (const uint32_t sw : ends.switches) at[sw]++;
    room += least.switches(ends.switches);
  }
  const uint64_t switches = hops.graph().switches();
  return {*std::max_element(at.begin(), at.end()), static_cast<uint32_t>((room + switches - 1) / switches)};
}

}  // namespace weft::mcast
