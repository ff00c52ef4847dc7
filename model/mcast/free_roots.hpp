// SPDX-License-Identifier: Apache-2.0
// From which roots a tree of a given height is free in a colour: up to 63 roots at once, a bit each. Unlike
// Ways, which has all colours but shortest ways only, it goes around what is taken as long as the height
// allows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/occupancy.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

class FreeRoots {
 public:
  static constexpr std::size_t most = 63;  ///< roots at a time; the last bit marks what is taken

  explicit FreeRoots(const topology::Graph& graph);

  /// Bit i: each end is at most `height` links from roots[i], along links below the ceiling and switches in
  /// which the colour is free, as it must be at all ends.
  /// @param roots at most `most`; @param height at least 1
  uint64_t find(const Occupancy& occupancy, const Ends& ends, std::span<const uint32_t> roots,
                uint32_t height, uint32_t colour, uint32_t ceiling);

  /// Whether the last find() met links at the ceiling.
  bool stopped_by_ceiling() const { return stopped_by_ceiling_; }

  /// After find(): how many links each switch is from a root that way. 255 if more than the height; unless it
  /// is an end, also if as many as the height.
  const uint8_t* row(uint32_t root, const Ends& ends);

 private:
  void begin(std::span<const uint32_t> roots);
  void step();
  uint64_t at_end(uint32_t sw, uint64_t wanted, bool look_further);
  uint64_t beside(uint32_t sw, uint64_t wanted);
  bool is_below_ceiling(uint32_t link) {
    if (occupancy_->load(link) < ceiling_) return true;
    stopped_by_ceiling_ = true;
    return false;
  }

  const topology::Graph& graph_;
  const Occupancy* occupancy_ = nullptr;
  uint32_t colour_ = 0, ceiling_ = 0, height_ = 0;
  bool stopped_by_ceiling_ = false;
  std::vector<uint64_t> seen_;            // of each switch: roots that came to it; all bits if it is taken
  std::vector<uint64_t> next_;            // that come to it in this step; zero between steps
  std::vector<uint32_t> front_, behind_;  // switches to which roots came in the last step, come in this one
  std::vector<uint64_t> beside_;          // of switches beside ends: roots, one step further
  std::vector<uint32_t> known_;           // whether beside_ is of this search
  uint32_t now_ = 0;
  std::vector<uint8_t> row_;
};

}  // namespace weft::mcast
