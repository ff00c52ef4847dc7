// SPDX-License-Identifier: Apache-2.0
// From all roots outwards, step by step; the last step, or the last two if fewer links are looked at so, from
// the ends towards them.
#include "mcast/free_roots.hpp"

#include <algorithm>

namespace weft::mcast {

namespace {

constexpr uint64_t taken = ~uint64_t{0};
constexpr std::size_t front_per_end = 8;  // switches that take as long to step from as to look at one end

}  // namespace

FreeRoots::FreeRoots(const topology::Graph& graph)
    : graph_(graph),
      seen_(graph.switches()),
      next_(graph.switches()),
      beside_(graph.switches()),
      known_(graph.switches()),
      row_(graph.switches()) {}

void FreeRoots::begin(std::span<const uint32_t> roots) {
  if (++now_ == 0) {
    std::fill(known_.begin(), known_.end(), 0);
    now_ = 1;
  }
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw)
    seen_[sw] = occupancy_->is_free_in_switch(sw, colour_) ? 0 : taken;
  front_.clear();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (seen_[roots[i]] == taken) continue;
    if (seen_[roots[i]] == 0) front_.push_back(roots[i]);
    seen_[roots[i]] |= uint64_t{1} << i;
  }
  for (const uint32_t sw : front_) next_[sw] = seen_[sw];
}

/// In `next_` of those in front are the roots that came there in the step before.
void FreeRoots::step() {
  behind_.clear();
  for (const uint32_t sw : front_) {
    const uint64_t roots = next_[sw];
    for (const topology::Arc& arc : graph_.neighbours(sw)) {
      const uint64_t fresh = roots & ~seen_[arc.node];
      if (fresh == 0 || !is_below_ceiling(arc.link)) continue;
      if (known_[arc.node] != now_) {
        known_[arc.node] = now_;
        beside_[arc.node] = 0;
        behind_.push_back(arc.node);
      }
      beside_[arc.node] |= fresh;
    }
  }
  for (const uint32_t sw : front_) next_[sw] = 0;
  for (const uint32_t sw : behind_) {
    next_[sw] = beside_[sw];
    seen_[sw] |= beside_[sw];
    known_[sw] = 0;
  }
  front_.swap(behind_);
}

/// Roots, of those wanted, that come to a switch that is not taken in one step more.
uint64_t FreeRoots::beside(uint32_t sw, uint64_t wanted) {
  if (known_[sw] == now_) return beside_[sw];
  uint64_t reached = seen_[sw];
  for (const topology::Arc& arc : graph_.neighbours(sw)) {
    if ((wanted & ~reached) == 0) break;
    const uint64_t roots = seen_[arc.node];
    if (roots != taken && (wanted & ~reached & roots) != 0 && is_below_ceiling(arc.link)) reached |= roots;
  }
  known_[sw] = now_;
  beside_[sw] = reached;
  return reached;
}

uint64_t FreeRoots::at_end(uint32_t sw, uint64_t wanted, bool look_further) {
  uint64_t reached = seen_[sw];
  for (const topology::Arc& arc : graph_.neighbours(sw)) {
    if ((wanted & ~reached) == 0) break;
    if (seen_[arc.node] == taken) continue;
    const uint64_t roots = look_further ? beside(arc.node, wanted) : seen_[arc.node];
    if ((wanted & ~reached & roots) != 0 && is_below_ceiling(arc.link)) reached |= roots;
  }
  return reached & wanted;
}

uint64_t FreeRoots::find(const Occupancy& occupancy, const Ends& ends, std::span<const uint32_t> roots,
                         uint32_t height, uint32_t colour, uint32_t ceiling) {
  occupancy_ = &occupancy;
  colour_ = colour;
  ceiling_ = ceiling;
  height_ = height;
  stopped_by_ceiling_ = false;
  begin(roots);
  bool look_further = false;
  for (uint32_t level = 1; level < height_; ++level) {
    look_further = level + 1 == height_ && front_.size() > front_per_end * ends.switches.size();
    if (!look_further) step();
  }
  for (const uint32_t sw : front_) next_[sw] = 0;
  uint64_t all = ~taken;
  for (std::size_t i = 0; i < roots.size(); ++i) all |= uint64_t{1} << i;
  for (std::size_t i = 0; i < ends.switches.size() && all != 0; ++i)
    all = at_end(ends.switches[i], all, look_further);
  return all;
}

const uint8_t* FreeRoots::row(uint32_t root, const Ends& ends) {
  std::fill(row_.begin(), row_.end(), 255);
  row_[root] = 0;
  front_.assign(1, root);
  for (uint32_t level = 1; level < height_; ++level) {
    behind_.clear();
    for (const uint32_t sw : front_)
      for (const topology::Arc& arc : graph_.neighbours(sw)) {
        if (row_[arc.node] != 255 || seen_[arc.node] == taken || !is_below_ceiling(arc.link)) continue;
        row_[arc.node] = static_cast<uint8_t>(level);
        behind_.push_back(arc.node);
      }
    front_.swap(behind_);
  }
  for (const uint32_t end : ends.switches) row_[end] = std::min(row_[end], static_cast<uint8_t>(height_));
  return row_.data();
}

}  // namespace weft::mcast
