// SPDX-License-Identifier: Apache-2.0
// Searches through the switches, one or 64 at a time.
#include "topology/distances.hpp"

#include <algorithm>

namespace weft::topology {

std::vector<uint32_t> hops_from(const Graph& graph, uint32_t sw) {
  std::vector<uint32_t> hops(graph.switches(), unreachable);
  std::vector<uint32_t> queue{sw};
  hops[sw] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const uint32_t at = queue[next];
    for (const Arc& arc : graph.neighbours(at)) {
      if (hops[arc.node] != unreachable) continue;
      hops[arc.node] = hops[at] + 1;
      queue.push_back(arc.node);
    }
  }
  return hops;
}

namespace {

/// Searches from up to 64 switches; bit i of a word is about the one that begins at `first` + i.
class Searches {
 public:
  Searches(const Graph& graph, uint32_t first, uint32_t count)
      : graph_(graph), seen_(graph.switches()), next_(graph.switches()) {
    for (uint32_t i = 0; i < count; ++i) seen_[first + i] = uint64_t{1} << i;
    all_ = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  }

  /// One link further; false if nothing new was found.
  bool step() {
    bool grew = false;
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      uint64_t word = seen_[sw];
      if (word != all_) {
        for (const Arc& arc : graph_.neighbours(sw)) word |= seen_[arc.node];
        grew = grew || word != seen_[sw];
      }
      next_[sw] = word;
    }
    seen_.swap(next_);
    return grew;
  }

  bool complete() const {
    return std::all_of(seen_.begin(), seen_.end(), [this](uint64_t word) { return word == all_; });
  }

 private:
  const Graph& graph_;
  std::vector<uint64_t> seen_, next_;
  uint64_t all_ = 0;
};

}  // namespace

uint32_t diameter(const Graph& graph, const std::function<void(uint32_t, uint32_t)>& progress) {
  uint32_t longest = 0;
  for (uint32_t first = 0; first < graph.switches(); first += 64) {
    Searches searches(graph, first, std::min(64u, graph.switches() - first));
    uint32_t steps = 0;
    while (searches.step()) steps++;
    if (!searches.complete()) return unreachable;
    longest = std::max(longest, steps);
    if (progress) progress(first, graph.switches());
  }
  return longest;
}

std::optional<CutOff> first_cut_off(const Graph& graph) {
  const auto hops = hops_from(graph, 0);
  const auto cut = std::find(hops.begin(), hops.end(), unreachable);
  if (cut != hops.end()) return CutOff{false, static_cast<uint32_t>(cut - hops.begin())};
  for (uint32_t host = 0; host < graph.hosts(); ++host)
    if (graph.attachments(host).empty()) return CutOff{true, host};
  return std::nullopt;
}

}  // namespace weft::topology
