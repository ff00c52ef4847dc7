// SPDX-License-Identifier: Apache-2.0
// Why no packet of a pair arrives: a set of places that holds the source, not the destination, and that
// nothing leads out of.
#include <fmt/format.h>

#include <algorithm>

#include "route/checker.hpp"

namespace weft::route {

namespace {

/// Of ways that the rules take.
constexpr std::size_t most_steps(RuleSet rules) { return rules == RuleSet::detour ? 4 : 3; }

/// Search over (leaf, how it came in, turns from column to row). Without a limit of turns: the plain graph.
/// `by_rules`: in fat trees a step ends at the edge switch where it began, or at that of the destination.
class Search {
 public:
  Search(const Health& alive, uint32_t turns, bool by_rules = false)
      : alive_(alive), turns_(turns), by_rules_(by_rules) {}

  /// The way to a leaf, or nothing.
  std::vector<Leaf> way(const Pair& pair) {
    const Grid& grid = alive_.grid();
    to_ = pair.to;
    before_.assign(std::size_t{grid.leaves()} * 3 * (turns_ + 1), unseen);
    const uint32_t start = place(grid.number(pair.from), 2, 0);
    before_[start] = start;
    places_.assign(1, start);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const uint32_t at = places_[i];
      if (grid.leaf(leaf_of(at)) == pair.to) return back(at);
      for (const Dimension dimension : {Dimension::row, Dimension::column}) leave(at, dimension);
    }
    return {};
  }
  uint32_t reached() const {
    std::vector<uint32_t> leaves;
    for (const uint32_t at : places_) leaves.push_back(leaf_of(at));
    std::sort(leaves.begin(), leaves.end());
    return static_cast<uint32_t>(std::unique(leaves.begin(), leaves.end()) - leaves.begin());
  }

 private:
  static constexpr uint32_t unseen = ~0u;

  uint32_t place(uint32_t leaf, uint32_t from, uint32_t turns) const {
    return (leaf * 3 + from) * (turns_ + 1) + turns;
  }
  uint32_t leaf_of(uint32_t place) const { return place / (turns_ + 1) / 3; }

  void leave(uint32_t at, Dimension dimension) {
    const Grid& grid = alive_.grid();
    const Leaf leaf = grid.leaf(leaf_of(at));
    const uint32_t from = at / (turns_ + 1) % 3, turns = at % (turns_ + 1);
    const auto into = static_cast<uint32_t>(dimension);
    const bool turn = dimension == Dimension::row && from == 1;
    if (!alive_.attached(leaf, dimension) || from == into || (turn && turns == turns_)) return;
    for (uint32_t port = 0; port < grid.ports(dimension); ++port) {
      const Leaf to = leaf_at(dimension, leaf.line(dimension), port);
      const uint32_t next = place(grid.number(to), into, turns + (turn ? 1 : 0));
      if (to == leaf || !alive_.attached(to, dimension) || before_[next] != unseen) continue;
      if (!alive_.joined(leaf, to, dimension) || !allowed(leaf, to, dimension)) continue;
      before_[next] = at;
      places_.push_back(next);
    }
  }

  bool allowed(Leaf from, Leaf next, Dimension dimension) const {
    if (!by_rules_) return true;
    const uint32_t at_edge = alive_.grid().leaves_at_edge(dimension), edge = next.port(dimension) / at_edge;
    return edge == from.port(dimension) / at_edge || edge == to_.port(dimension) / at_edge;
  }

  std::vector<Leaf> back(uint32_t at) const {
    std::vector<Leaf> found{alive_.grid().leaf(leaf_of(at))};
    for (; before_[at] != at; at = before_[at]) found.push_back(alive_.grid().leaf(leaf_of(before_[at])));
    std::reverse(found.begin(), found.end());
    return found;
  }

  const Health& alive_;
  uint32_t turns_;
  bool by_rules_;
  Leaf to_;
  std::vector<uint32_t> before_, places_;
};

}  // namespace

Proof prove_unreachable(const Pair& pair, const Health& alive, const Options& options) {
  const Grid& grid = alive.grid();
  Proof proof;
  proof.most_steps = most_steps(options.rules);
  // A way in the graph needs to enter no leaf twice, so it never turns more often than there are leaves.
  Search graph(alive, std::min(grid.leaves(), grid.rows + grid.columns));
  if (graph.way(pair).empty()) {
    proof.reached = graph.reached();
    return proof;
  }
  Search limited(alive, options.channels - 1u);
  proof.way = limited.way(pair);
  proof.reached = limited.reached();
  const std::vector<Leaf> by_rules = Search(alive, options.channels - 1u, true).way(pair);
  const bool in_time = !by_rules.empty() && by_rules.size() <= proof.most_steps + 1;
  if (in_time) proof.way = by_rules;
  proof.obstacle = proof.way.empty() ? Obstacle::channels : in_time ? Obstacle::tables : Obstacle::rules;
  return proof;
}

std::string to_text(const Proof& proof) {
  if (proof.obstacle == Obstacle::graph)
    return fmt::format("no path in the graph: live links lead to {} leaves only, counting its own",
                       proof.reached);
  if (proof.obstacle == Obstacle::channels)
    return fmt::format("no path with these virtual channels: they lead to {} leaves, counting its own",
                       proof.reached);
  std::string text = proof.obstacle == Obstacle::tables ? "no path by these tables, which lack"
                                                        : "no path under the rules; the shortest is";
  for (const Leaf& leaf : proof.way) text += fmt::format(" leaf-{}-{}", leaf.x, leaf.y);
  if (proof.obstacle != Obstacle::rules) return text;
  const std::size_t steps = proof.way.size() - 1;
  if (steps > proof.most_steps)
    return text + fmt::format(", {} steps, at most {} allowed", steps, proof.most_steps);
  return text + ", of which a step ends at an edge switch that is neither its own nor the destination's";
}

}  // namespace weft::route
