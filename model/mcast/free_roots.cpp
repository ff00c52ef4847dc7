// SPDX-License-Identifier: Apache-2.0
// From all roots outwards, level by level; members look one link further by themselves.
#include "mcast/free_roots.hpp"

#include <algorithm>

namespace weft::mcast {

FreeRoots::FreeRoots(const topology::Graph& graph) : graph_(graph), row_(graph.switches()) {}

void FreeRoots::begin(std::span<const uint32_t> roots) {
  if (near_.size() < height_) {
    near_.resize(height_, std::vector<uint64_t>(graph_.switches()));
    touched_.resize(height_);
  }
  for (std::size_t level = 0; level < near_.size(); ++level) {
    for (const uint32_t sw : touched_[level]) near_[level][sw] = 0;
    touched_[level].clear();
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!occupancy_->is_free_in_switch(roots[i], colour_)) continue;
    near_[0][roots[i]] |= uint64_t{1} << i;
    touched_[0].push_back(roots[i]);
  }
}

/// Roots that come to a switch for the first time go one link further. near_[level] says of each switch which
/// come there first at this level.
void FreeRoots::step(uint32_t level) {
  auto& next = near_[level];
  for (const uint32_t sw : touched_[level - 1]) {
    const uint64_t roots = near_[level - 1][sw];
    for (const topology::Arc& arc : graph_.neighbours(sw)) {
      uint64_t fresh = roots;
      for (uint32_t before = 0; before < level; ++before) fresh &= ~near_[before][arc.node];
      if (fresh == 0 || occupancy_->load(arc.link) >= ceiling_ ||
          !occupancy_->is_free_in_switch(arc.node, colour_))
        continue;
      if (next[arc.node] == 0) touched_[level].push_back(arc.node);
      next[arc.node] |= fresh;
    }
  }
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
    uint64_t reached = 0;
    for (uint32_t level = 0; level < height_; ++level) reached |= near_[level][end];
    for (const topology::Arc& arc : graph_.neighbours(end)) {
      if ((all & ~reached) == 0) break;
      if (occupancy.load(arc.link) >= ceiling_) continue;
      for (uint32_t level = 0; level < height_; ++level) reached |= near_[level][arc.node];
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
      if (near_[level][sw] >> i & 1) row_[sw] = static_cast<uint8_t>(level);
  return row_.data();
}

}  // namespace weft::mcast
