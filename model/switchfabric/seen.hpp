// SPDX-License-Identifier: Apache-2.0
// Which packets have arrived: each is told by its host and the clock in which that sent it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "switchfabric/switch_fabric.hpp"

namespace weft::switchfabric {

class Seen {
 public:
  Seen() = default;
  /// @param clocks in which hosts send, from 0 on
  Seen(uint32_t hosts, uint32_t clocks) : clocks_(clocks), seen_(std::size_t{hosts} * clocks) {}

  /// Notes that it has arrived. @return whether it had before
  bool again(const Packet& packet) {
    const std::size_t number = std::size_t{packet.from} * clocks_ + packet.sent;
    const bool before = seen_.at(number);
    seen_[number] = true;
    return before;
  }

 private:
  uint32_t clocks_ = 0;
  std::vector<bool> seen_;
};

}  // namespace weft::switchfabric
