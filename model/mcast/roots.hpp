// SPDX-License-Identifier: Apache-2.0
// Where the trees of a group can begin: all switches from which the farthest member is nearest (MR4LMS paper,
// 3.1.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/hops.hpp"

namespace weft::mcast {

struct Roots {
  uint32_t height = 0;  ///< the least that a tree for these members can have
  struct Root {
    uint32_t sw = 0;
    /// Of the distances to the members' switches, estimated from some of them if there are many.
    uint32_t sum = 0;
  };
  std::vector<Root> roots;  ///< by switch
};

/// Room for the search; one for each thread.
class RootSearch {
 public:
  explicit RootSearch(const Hops& hops);

  /// @param switches of the members
  Roots find(std::span<const uint32_t> switches);

 private:
  uint32_t look_from_few(std::span<const uint32_t> switches);
  void choose_blocks(std::span<const uint32_t> switches);

  const Hops& hops_;
  Hops::Room room_;
  std::vector<uint8_t> farthest_;
  std::vector<uint16_t> sum_;
  std::vector<uint32_t> blocks_;  // the first switch of each
};

}  // namespace weft::mcast
