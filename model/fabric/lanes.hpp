// SPDX-License-Identifier: Apache-2.0
// Lanes: the virtual channels of all ports of a router, numbered so that a set of them is a word.
#pragma once

#include <bit>
#include <cstdint>

#include "fabric/geometry.hpp"

namespace weft::fabric {

inline constexpr uint32_t max_channels = 8;  ///< of a port
inline constexpr uint32_t lane_count = port_count * max_channels;

using Lanes = uint64_t;
static_assert(lane_count <= 64 && max_channels == 8);

constexpr uint32_t lane(uint32_t port, uint32_t channel) { return port * max_channels + channel; }
constexpr uint32_t port_of(uint32_t lane) { return lane / max_channels; }
constexpr uint32_t channel_of(uint32_t lane) { return lane % max_channels; }
constexpr uint64_t only(uint32_t number) { return uint64_t{1} << number; }

constexpr Lanes lanes_of(uint32_t port) { return Lanes{0xff} << lane(port, 0); }

/// The first of a set that is not empty, from `start` on and round.
constexpr uint32_t next_of(uint64_t set, uint32_t start) {
  const uint64_t behind = set & (~uint64_t{0} << start);
  return static_cast<uint32_t>(std::countr_zero(behind ? behind : set));
}

/// Takes the lowest one out of a set that is not empty.
constexpr uint32_t take_first(uint64_t& set) {
  const auto first = static_cast<uint32_t>(std::countr_zero(set));
  set &= set - 1;
  return first;
}

}  // namespace weft::fabric
