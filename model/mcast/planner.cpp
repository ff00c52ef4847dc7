// SPDX-License-Identifier: Apache-2.0
// Which root, which colour.
#include "mcast/planner.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace weft::mcast {

namespace {

constexpr std::size_t first_roots = 16;  // mostly enough

uint32_t lowest(std::span<const uint64_t> colours) {
  for (std::size_t w = 0; w < colours.size(); ++w)
    if (colours[w] != 0)
      return static_cast<uint32_t>(64 * w + static_cast<unsigned>(std::countr_zero(colours[w])));
  return none;
}

/// Any order, another one for each group.
uint32_t shuffled(uint32_t number, uint32_t sw) {
  uint64_t z = (uint64_t{number} << 32 | sw) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<uint32_t>(z >> 40);
}

}  // namespace

Planner::Planner(const Hops& hops)
    : hops_(hops), ways_(hops.graph()), best_ways_(hops.graph()), free_roots_(hops.graph()) {}

/// @param most roots that are kept
/// @param colour that must be free at the root, if any
void Planner::rank(const Occupancy& occupancy, const Roots& roots, uint32_t number, std::size_t most,
                   float per_load, uint32_t colour) {
  const auto before = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.order, a.sw) < std::tie(b.cost, b.order, b.sw);
  };
  candidates_.clear();  // the worst of them in front once there are as many as are kept
  for (const auto& root : roots.roots) {
    if (colour != none && !occupancy.is_free_in_switch(root.sw, colour)) continue;
    const auto load = static_cast<float>(occupancy.switch_load(root.sw));
    const float cost = static_cast<float>(root.sum) + per_load * load;
    const bool full = candidates_.size() == most;
    if (full && cost > candidates_.front().cost) continue;
    const Candidate candidate{cost, shuffled(number, root.sw), root.sw};
    if (full && !before(candidate, candidates_.front())) continue;
    if (full) {
      std::pop_heap(candidates_.begin(), candidates_.end(), before);
      candidates_.pop_back();
    }
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end(), before);
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
}

/// No colour below it is free where members are.
uint32_t Planner::least_possible(const Occupancy& occupancy, const Ends& ends) {
  common_.assign(occupancy.words(), ~uint64_t{0});
  for (const uint32_t sw : ends.switches)
    for (std::size_t w = 0; w < common_.size(); ++w) common_[w] &= occupancy.free_in_switch(sw)[w];
  return lowest(common_);
}

std::optional<Tree> Planner::lowest_colour(const Occupancy& occupancy, const Ends& ends, const Roots& roots,
                                           uint32_t number, const Search& search) {
  rank(occupancy, roots, number, search.roots, search.load);
  const uint32_t possible = least_possible(occupancy, ends);
  uint32_t best = none;
  std::size_t looked_at = 0;
  for (const Candidate& candidate : candidates_) {
    if (best == possible || looked_at > search.switches) break;
    find(ways_, candidate.sw, ends);
    looked_at += ways_.size();
    const uint32_t colour = ways_.lowest_colour(occupancy, ends, search.ceiling, possible, best);
    if (colour >= best) continue;
    best = colour;
    std::swap(ways_, best_ways_);
  }
  if (best == none) return std::nullopt;
  return best_ways_.build(occupancy, ends, best, Ways::Prefer::few_switches);
}

std::optional<Tree> Planner::along(Ways& kept, const Tree& tree, const Occupancy& occupancy, const Ends& ends,
                                   const Search& search) {
  const uint32_t colour = kept.lowest_colour(occupancy, ends, search.ceiling, tree.colour, none);
  if (colour == none) return std::nullopt;
  return kept.build(occupancy, ends, colour, Ways::Prefer::few_switches);
}

std::optional<Tree> Planner::from_one_root(const Occupancy& occupancy, const Ends& ends, const Search& search,
                                           uint32_t colour) {
  std::size_t looked_at = 0;
  for (const Candidate& candidate : candidates_) {
    if (looked_at > search.switches) break;
    find(ways_, candidate.sw, ends);
    looked_at += ways_.size();
    if (ways_.is_free(occupancy, ends, search.ceiling, colour))
      return ways_.build(occupancy, ends, colour, Ways::Prefer::few_switches);
  }
  return std::nullopt;
}

/// @param among the roots a bit each
uint32_t Planner::most_taken_beside(const Occupancy& occupancy, std::span<const uint32_t> roots,
                                    uint64_t among, uint32_t colour) const {
  uint32_t best = none;
  std::ptrdiff_t most = 0;
  for (; among != 0; among &= among - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(among));
    const auto neighbours = hops_.graph().neighbours(roots[i]);
    const auto taken = std::count_if(neighbours.begin(), neighbours.end(), [&](const topology::Arc& arc) {
      return !occupancy.is_free_in_switch(arc.node, colour);
    });
    if (best != none && taken <= most) continue;
    best = i;
    most = taken;
  }
  return best;
}

std::optional<Tree> Planner::from_many_roots(const Occupancy& occupancy, const Ends& ends, uint32_t height,
                                             uint32_t ceiling, uint32_t colour) {
  tried_.clear();
  for (const Candidate& candidate : candidates_) tried_.push_back(candidate.sw);
  stopped_by_ceiling_ = false;
  const std::span<const uint32_t> all(tried_);
  for (std::size_t first = 0, end = first_roots; first < all.size(); first = end, end = all.size()) {
    const auto some = all.subspan(first, std::min(end, all.size()) - first);
    const uint64_t found = free_roots_.find(occupancy, ends, some, height, colour, ceiling);
    stopped_by_ceiling_ = stopped_by_ceiling_ || free_roots_.stopped_by_ceiling();
    if (found == 0) continue;
    const uint32_t best = most_taken_beside(occupancy, some, found, colour);
    ways_.find(some[best], free_roots_.row(some[best], ends), ends);
    ways_.is_free(occupancy, ends, ceiling, colour);
    return ways_.build(occupancy, ends, colour, Ways::Prefer::few_switches);
  }
  return std::nullopt;
}

std::optional<Tree> Planner::in_colour(const Occupancy& occupancy, const Ends& ends, const Roots& roots,
                                       uint32_t number, const Search& search, uint32_t colour) {
  const bool low = roots.height > 0 && roots.height <= low_height;
  stopped_by_ceiling_ = true;
  rank(occupancy, roots, number, low ? FreeRoots::most : search.roots, search.load, colour);
  return low ? from_many_roots(occupancy, ends, roots.height, search.ceiling, colour)
             : from_one_root(occupancy, ends, search, colour);
}

void Planner::rank_by_load(const Occupancy& occupancy, const Roots& roots) {
  candidates_.clear();
  for (const auto& root : roots.roots)
    candidates_.push_back({static_cast<float>(occupancy.switch_load(root.sw)), 0, root.sw});
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.sw) < std::tie(b.cost, b.sw);
  });
}

std::optional<Tree> Planner::build_then_colour(const Occupancy& occupancy, const Ends& ends,
                                               const Roots& roots) {
  rank_by_load(occupancy, roots);
  for (const Candidate& candidate : candidates_) {
    find(ways_, candidate.sw, ends);
    Tree tree = ways_.build(occupancy, ends, none, Ways::Prefer::light_links);
    common_.assign(occupancy.words(), ~uint64_t{0});
    const bool of_switch = occupancy.tables() == Tables::of_switch;
    for (const uint32_t id : of_switch ? tree.switches : tree.links) {
      const uint64_t* free = of_switch ? occupancy.free_in_switch(id) : occupancy.free_in_link(id);
      for (std::size_t w = 0; w < common_.size(); ++w) common_[w] &= free[w];
    }
    tree.colour = lowest(common_);
    if (tree.colour != none) return tree;
  }
  return std::nullopt;
}

std::optional<Tree> Planner::colour_then_build(const Occupancy& occupancy, const Ends& ends,
                                               const Roots& roots) {
  rank_by_load(occupancy, roots);
  const uint32_t possible = least_possible(occupancy, ends);
  uint32_t best = none, root = none;
  for (const Candidate& candidate : candidates_) {
    if (best == possible) break;
    find(ways_, candidate.sw, ends);
    const uint32_t colour = lowest(ways_.free_colours(occupancy, ends));
    if (colour >= best) continue;
    best = colour;
    root = candidate.sw;
  }
  if (best == none) return std::nullopt;
  find(ways_, root, ends);
  ways_.free_colours(occupancy, ends);
  return ways_.build(occupancy, ends, best, Ways::Prefer::light_links);
}

}  // namespace weft::mcast
