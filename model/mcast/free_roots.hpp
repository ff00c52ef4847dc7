// SPDX-License-Identifier: Apache-2.0
// From which roots a tree of a given height is free in a colour: up to 64 roots at once, a bit each. Unlike
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
  static constexpr std::size_t most = 64;  ///< roots at a time

  explicit FreeRoots(const topology::Graph& graph);

  /// Bit i: each end is at most `height` links from roots[i], along links below the ceiling and switches in
  /// which the colour is free.
  /// @param roots at most `most`; @param height at least 1
  uint64_t find(const Occupancy& occupancy, const Ends& ends, std::span<const uint32_t> roots,
                uint32_t height, uint32_t colour, uint32_t ceiling);

  /// After find(): how many links each switch is from the i-th root that way, 255 where it does not matter.
  const uint8_t* row(uint32_t i, const Ends& ends);

 private:
  void begin(std::span<const uint32_t> roots);
  void step(uint32_t level);

  const topology::Graph& graph_;
  const Occupancy* occupancy_ = nullptr;
  uint32_t colour_ = 0, ceiling_ = 0, height_ = 0;
  std::vector<uint64_t> seen_;  // of each switch: roots that came to it; all if it is not free
  /// By level, of each switch: roots that are exactly so far; zero for those not touched.
  std::vector<std::vector<uint64_t>> at_;
  std::vector<std::vector<uint32_t>> touched_;  // by level: switches with such roots
  std::vector<uint8_t> row_;
};

}  // namespace weft::mcast
