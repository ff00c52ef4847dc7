// SPDX-License-Identifier: Apache-2.0
// From members up to the root, level by level; then colours down again.
#include "mcast/ways.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace weft::mcast {

namespace {

constexpr std::size_t ahead = 6;  // nodes, of which the links are fetched

/// Into the cache; as a rule what is beyond the second line comes by itself.
void fetch(std::span<const topology::Arc> arcs) {
  __builtin_prefetch(arcs.data());
  __builtin_prefetch(arcs.data() + arcs.size() - 1);
}

std::size_t most_neighbours(const topology::Graph& graph) {
  std::size_t most = 0;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) most = std::max(most, graph.neighbours(sw).size());
  return most;
}

uint32_t lowest(std::span<const uint64_t> colours, std::size_t first_word) {
  for (std::size_t w = 0; w < colours.size(); ++w)
    if (colours[w] != 0)
      return static_cast<uint32_t>(64 * (first_word + w) +
                                   static_cast<unsigned>(std::countr_zero(colours[w])));
  return none;
}

}  // namespace

/// A link is on the ways in one direction only; what is beyond is room for those that are looked at.
Ways::Ways(const topology::Graph& graph)
    : graph_(&graph),
      index_(graph.switches()),
      nodes_(std::size_t{graph.switches()} + 1),
      ups_(graph.switch_links() + most_neighbours(graph)),
      needed_(graph.switches()) {
  order_.reserve(graph.switches());
}

void Ways::sort_ends(const uint8_t* row, const Ends& ends) {
  height_ = 0;
  for (const uint32_t sw : ends.switches) height_ = std::max<uint32_t>(height_, row[sw]);
  first_end_.assign(height_ + 2, 0);
  for (const uint32_t sw : ends.switches) first_end_[row[sw] + 1u]++;
  for (uint32_t level = 0; level <= height_; ++level) first_end_[level + 1] += first_end_[level];
  ends_.resize(ends.switches.size());
  for (uint32_t end = 0; end < ends_.size(); ++end) ends_[first_end_[row[ends.switches[end]]]++] = end;
  for (uint32_t level = height_ + 1; level > 0; --level) first_end_[level] = first_end_[level - 1];
  first_end_[0] = 0;
}

/// Without branches that nobody could foresee: what is no node yet becomes one, what is no way is
/// overwritten.
void Ways::find_ups(uint32_t index, uint8_t above, const uint8_t* row) {
  Up* const found = ups_.data() + ways_;
  std::size_t count = 0;
  for (const topology::Arc& arc : graph_->neighbours(nodes_[index].sw)) {
    found[count] = {arc.node, arc.link};
    count += row[arc.node] == above ? 1 : 0;
  }
  const uint64_t serves = nodes_[index].serves;
  for (std::size_t i = 0; i < count; ++i) {
    const uint32_t sw = found[i].node, known = index_[sw];
    const bool is_new = known == none;
    const auto node = is_new ? static_cast<uint32_t>(size_) : known;
    index_[sw] = node;
    nodes_[node].sw = sw;
    nodes_[node].serves |= serves;
    found[i].node = node;
    size_ += is_new ? 1 : 0;
    nodes_[size_].serves = 0;
  }
  nodes_[index].first_up = static_cast<uint32_t>(ways_);
  nodes_[index].ups = static_cast<uint32_t>(count);
  ways_ += count;
}

void Ways::find(uint32_t root, const uint8_t* row, const Ends& ends) {
  std::fill(index_.begin(), index_.end(), none);
  sort_ends(row, ends);
  size_ = 0;
  ways_ = 0;
  for (const uint32_t sw : ends.switches) {
    nodes_[size_] = {sw, 0, 0, uint64_t{1} << size_ % 64};
    index_[sw] = static_cast<uint32_t>(size_++);
  }
  root_ = index_[root];
  if (root_ == none) {
    root_ = index_[root] = static_cast<uint32_t>(size_);
    nodes_[size_++] = {root};
  }
  nodes_[size_].serves = 0;
  order_.clear();
  std::size_t first = size_;  // of the nodes of a level that are no ends
  for (uint32_t level = height_; level > 0; --level) {
    const std::size_t begin = order_.size(), next = size_;
    order_.insert(order_.end(), ends_.begin() + first_end_[level], ends_.begin() + first_end_[level + 1]);
    for (; first < next; ++first) order_.push_back(static_cast<uint32_t>(first));
    for (std::size_t i = begin; i < order_.size(); ++i) {
      if (i + ahead < order_.size()) fetch(graph_->neighbours(nodes_[order_[i + ahead]].sw));
      find_ups(order_[i], static_cast<uint8_t>(level - 1), row);
    }
  }
}

/// Colours that come down to a node: free in it, and there above it.
void Ways::find_reach(const Occupancy& occupancy) {
  for (auto index = order_.rbegin(); index != order_.rend(); ++index) {
    const Node& node = nodes_[*index];
    uint64_t* const reach = reach_.data() + *index * words_;
    std::fill_n(reach, words_, 0);
    for (uint32_t i = node.first_up; i < node.first_up + node.ups; ++i) {
      if (occupancy.load(ups_[i].link) >= ceiling_) continue;
      const uint64_t* above = reach_.data() + ups_[i].node * words_;
      const uint64_t* link = occupancy.free_in_link(ups_[i].link) + first_word_;
      for (std::size_t w = 0; w < words_; ++w) reach[w] |= above[w] & link[w];
    }
    const uint64_t* own = occupancy.free_in_switch(node.sw) + first_word_;
    for (std::size_t w = 0; w < words_; ++w) reach[w] &= own[w];
  }
}

/// The same of one word, with tables of switches.
void Ways::find_reach_in_word(const Occupancy& occupancy) {
  for (auto index = order_.rbegin(); index != order_.rend(); ++index) {
    const Node& node = nodes_[*index];
    uint64_t reach = 0;
    for (uint32_t i = node.first_up; i < node.first_up + node.ups; ++i)
      reach |= occupancy.load(ups_[i].link) < ceiling_ ? reach_[ups_[i].node] : 0;
    reach_[*index] = reach & occupancy.free_in_switch(node.sw)[first_word_];
  }
}

std::span<const uint64_t> Ways::free_colours(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling,
                                             std::size_t first_word, std::size_t words) {
  ceiling_ = ceiling;
  first_word_ = first_word;
  words_ = words;
  if (reach_.size() < size_ * words_) reach_.resize(size_ * words_);
  std::copy_n(occupancy.free_in_switch(nodes_[root_].sw) + first_word_, words_,
              reach_.data() + root_ * words_);
  if (words_ == 1 && occupancy.tables() == Tables::of_switch)
    find_reach_in_word(occupancy);
  else
    find_reach(occupancy);
  common_.assign(words_, ~uint64_t{0});
  for (std::size_t end = 0; end < ends.switches.size(); ++end)
    for (std::size_t w = 0; w < words_; ++w) common_[w] &= reach_[end * words_ + w];
  if (occupancy.tables() == Tables::of_port)
    for (const uint32_t link : ends.host_links)
      for (std::size_t w = 0; w < words_; ++w) common_[w] &= occupancy.free_in_link(link)[first_word_ + w];
  return common_;
}

/// Mostly it is in the word of the lowest that is possible.
uint32_t Ways::lowest_colour(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling, uint32_t from,
                             uint32_t below) {
  const std::size_t first = from / 64;
  const std::size_t end = below == none ? occupancy.words() : below / 64 + std::size_t{1};
  const uint32_t found = lowest(free_colours(occupancy, ends, ceiling, first, 1), first);
  if (found != none || first + 1 >= end) return found;
  return lowest(free_colours(occupancy, ends, ceiling, first + 1, end - first - 1), first + 1);
}

const Ways::Up& Ways::best_up(const Node& node, const Occupancy& occupancy, uint32_t colour,
                              Prefer prefer) const {
  uint32_t best = node.first_up;
  if (node.ups == 1) return ups_[best];
  int fewest = std::numeric_limits<int>::max();
  uint32_t least = no_limit;
  for (uint32_t i = node.first_up; i < node.first_up + node.ups; ++i) {
    const Up& up = ups_[i];
    if (!is_usable(up, occupancy, colour)) continue;
    int switches = 0;
    if (prefer == Prefer::few_switches)
      switches = needed_[up.node] != 0 ? -65 : -std::popcount(nodes_[up.node].serves);
    if (switches > fewest) continue;
    const uint32_t load = occupancy.load(up.link);
    if (switches == fewest && load >= least) {
      const auto load_of = [&](uint32_t i) { return occupancy.switch_load(nodes_[ups_[i].node].sw); };
      if (load > least || load_of(i) >= load_of(best)) continue;
    }
    best = i;
    fewest = switches;
    least = load;
  }
  return ups_[best];
}

Tree Ways::build(const Occupancy& occupancy, const Ends& ends, uint32_t colour, Prefer prefer) {
  Tree tree;
  tree.root = nodes_[root_].sw;
  tree.height = height_;
  tree.colour = colour;
  tree.links.reserve(2 * ends.host_links.size());
  std::fill_n(needed_.begin(), size_, 0);
  std::fill_n(needed_.begin(), ends.switches.size(), 1);
  needed_[root_] = 1;
  for (const uint32_t index : order_) {
    if (needed_[index] == 0) continue;
    const Up& up = best_up(nodes_[index], occupancy, colour, prefer);
    needed_[up.node] = 1;
    tree.links.push_back(up.link);
  }
  tree.switches.reserve(tree.links.size() + 1);
  for (std::size_t index = 0; index < size_; ++index)
    if (needed_[index] != 0) tree.switches.push_back(nodes_[index].sw);
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
  return tree;
}

}  // namespace weft::mcast
