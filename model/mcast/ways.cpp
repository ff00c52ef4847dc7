// SPDX-License-Identifier: Apache-2.0
// From members up to the root, level by level; then colours down again.
#include "mcast/ways.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace weft::mcast {

Ways::Ways(const topology::Graph& graph)
    : graph_(graph), index_(graph.switches()), stamp_(graph.switches()) {}

uint32_t Ways::node_of(uint32_t sw, uint32_t level) {
  if (stamp_[sw] == now_) return index_[sw];
  const auto index = static_cast<uint32_t>(nodes_.size());
  stamp_[sw] = now_;
  index_[sw] = index;
  nodes_.push_back({sw});
  levels_[level].push_back(index);
  return index;
}

void Ways::find_ups(uint32_t index, uint32_t level, const uint8_t* row) {
  const uint64_t serves = nodes_[index].serves;
  const auto neighbours = graph_.neighbours(nodes_[index].sw);
  const std::size_t first = ups_.size();
  ups_.resize(first + neighbours.size());
  Up* const found = ups_.data() + first;
  std::size_t count = 0;  // switches, not yet nodes; without a branch that nobody could foresee
  for (const topology::Arc& arc : neighbours) {
    found[count] = {arc.node, arc.link};
    count += row[arc.node] + 1u == level ? 1 : 0;
  }
  ups_.resize(first + count);
  for (std::size_t i = 0; i < count; ++i) {
    found[i].node = node_of(found[i].node, level - 1);
    nodes_[found[i].node].serves |= serves;
  }
  nodes_[index].first_up = static_cast<uint32_t>(first);
  nodes_[index].ups = static_cast<uint32_t>(count);
}

void Ways::find(uint32_t root, const uint8_t* row, const Ends& ends) {
  if (++now_ == 0) {
    std::fill(stamp_.begin(), stamp_.end(), 0);
    now_ = 1;
  }
  nodes_.clear();
  ups_.clear();
  height_ = 0;
  for (const uint32_t sw : ends.switches) height_ = std::max<uint32_t>(height_, row[sw]);
  if (levels_.size() <= height_) levels_.resize(height_ + 1);
  for (uint32_t level = 0; level <= height_; ++level) levels_[level].clear();
  uint32_t end = 0;
  for (const uint32_t sw : ends.switches) nodes_[node_of(sw, row[sw])].serves |= uint64_t{1} << end++ % 64;
  node_of(root, 0);
  for (uint32_t level = height_; level > 0; --level)
    for (std::size_t i = 0; i < levels_[level].size(); ++i) find_ups(levels_[level][i], level, row);
}

/// Colours that come down to a node: free in it, and there above it.
void Ways::find_reach(const Node& node, uint64_t* reach, const Occupancy& occupancy) const {
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

std::span<const uint64_t> Ways::free_colours(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling,
                                             std::size_t first_word, std::size_t words) {
  ceiling_ = ceiling;
  first_word_ = first_word;
  words_ = words;
  reach_.resize(nodes_.size() * words_);
  const uint32_t root = levels_[0].front();
  std::copy_n(occupancy.free_in_switch(nodes_[root].sw) + first_word_, words_, reach_.data() + root * words_);
  for (uint32_t level = 1; level <= height_; ++level)
    for (const uint32_t index : levels_[level])
      find_reach(nodes_[index], reach_.data() + index * words_, occupancy);
  common_.assign(words_, ~uint64_t{0});
  for (std::size_t end = 0; end < ends.switches.size(); ++end)
    for (std::size_t w = 0; w < words_; ++w) common_[w] &= reach_[end * words_ + w];
  if (occupancy.tables() == Tables::of_port)
    for (const uint32_t link : ends.host_links)
      for (std::size_t w = 0; w < words_; ++w) common_[w] &= occupancy.free_in_link(link)[first_word_ + w];
  return common_;
}

const Ways::Up& Ways::best_up(const Node& node, const Occupancy& occupancy, uint32_t colour,
                              Prefer prefer) const {
  uint32_t best = node.first_up;
  std::tuple least{std::numeric_limits<int>::max(), no_limit, no_limit};
  for (uint32_t i = node.first_up; i < node.first_up + node.ups; ++i) {
    const Up& up = ups_[i];
    if (!is_usable(up, occupancy, colour)) continue;
    const Node& above = nodes_[up.node];
    const int switches = above.needed ? -65 : -std::popcount(above.serves);
    const std::tuple cost{prefer == Prefer::few_switches ? switches : 0, occupancy.load(up.link),
                          occupancy.switch_load(above.sw)};
    if (cost >= least) continue;
    best = i;
    least = cost;
  }
  return ups_[best];
}

Tree Ways::build(const Occupancy& occupancy, const Ends& ends, uint32_t colour, Prefer prefer) {
  Tree tree;
  tree.root = nodes_[levels_[0].front()].sw;
  tree.height = height_;
  tree.colour = colour;
  for (Node& node : nodes_) node.needed = false;
  for (std::size_t end = 0; end < ends.switches.size(); ++end) nodes_[end].needed = true;
  nodes_[levels_[0].front()].needed = true;
  for (uint32_t level = height_; level > 0; --level)
    for (const uint32_t index : levels_[level]) {
      const Node& node = nodes_[index];
      if (!node.needed) continue;
      const Up& up = best_up(node, occupancy, colour, prefer);
      nodes_[up.node].needed = true;
      tree.links.push_back(up.link);
    }
  for (const Node& node : nodes_)
    if (node.needed) tree.switches.push_back(node.sw);
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
  return tree;
}

}  // namespace weft::mcast
