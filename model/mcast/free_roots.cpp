// SPDX-License-Identifier: Apache-2.0
// From all roots outwards, level by level; members look one link further by themselves.
#include "mcast/free_roots.hpp"

#include <algorithm>

namespace weft::mcast {

FreeRoots::FreeRoots(const topology::Graph& graph)
    : graph_(graph), seen_(graph.switches()), row_(graph.switches()) {}

void FreeRoots::begin(std::span<const uint32_t> roots) {
  if (at_.size() < height_) {
    at_.resize(height_, std::vector<uint64_t>(graph_.switches()));
    touched_.resize(height_);
  }
  for (std::size_t level = 0; level < at_.size(); ++level) {
    for (const uint32_t sw : touched_[level]) at_[level][sw] = 0;
    touched_[level].clear();
  }
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw)
    seen_[sw] = occupancy_->is_free_in_switch(sw, colour_) ? 0 : ~uint64_t{0};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (seen_[roots[i]] == ~uint64_t{0}) continue;
    at_[0][roots[i]] |= uint64_t{1} << i;
    touched_[0].push_back(roots[i]);
  }
  for (const uint32_t sw : touched_[0]) seen_[sw] = at_[0][sw];
}

/// Roots go one link further.
void FreeRoots::step(uint32_t level) {
  auto& next = at_[level];
  auto& touched = touched_[level];
  for (const uint32_t sw : touched_[level - 1]) {
    const uint64_t roots = at_[level - 1][sw];
    for (const topology::Arc& arc : graph_.neighbours(sw)) {
      const uint64_t fresh = roots & ~(seen_[arc.node] | next[arc.node]);
      if (fresh == 0 || occupancy_->load(arc.link) >= ceiling_) continue;
      if (next[arc.node] == 0) touched.push_back(arc.node);
      next[arc.node] |= fresh;
    }
  }
  for (const uint32_t sw : touched) seen_[sw] |= next[sw];
}

uint64_t FreeRoots::find(const Occupancy& occupancy, const Ends& ends, std::span<const uint32_t> roots,
                         uint32_t height, uint32_t colour, uint32_t ceiling) {
  occupancy_ = &occupancy;
  colour_ = colour;
  ceiling_ = ceiling;
  height_ = height;
  begin(roots);
  for (uint32_t level = 1; level < height_; ++level) step(level);
  uint64_t all = ~uint64_t{0};
  for (const uint32_t end : ends.switches) {
    uint64_t reached = seen_[end];
    for (const topology::Arc& arc : graph_.neighbours(end)) {
      if ((all & ~reached) == 0) break;
      if ((all & ~reached & seen_[arc.node]) != 0 && seen_[arc.node] != ~uint64_t{0} &&
          occupancy.load(arc.link) < ceiling)
        reached |= seen_[arc.node];
    }
    all &= reached;
    if (all == 0) break;
  }
  return all;
}

const uint8_t* FreeRoots::row(uint32_t i, const Ends& ends) {
  std::fill(row_.begin(), row_.end(), 255);
  for (const uint32_t end : ends.switches) row_[end] = static_cast<uint8_t>(height_);
  for (uint32_t level = 0; level < height_; ++level)
    for (const uint32_t sw : touched_[level])
      if (at_[level][sw] >> i & 1) row_[sw] = static_cast<uint8_t>(level);
  return row_.data();
}

}  // namespace weft::mcast
