// SPDX-License-Identifier: Apache-2.0
// Where a directed subnet management datagram goes to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace weft::test {

/// Number of hops, and the ports on the way (IBA 14.2.1.2); the same in a request and its answer.
using DirectedRoute = std::array<uint8_t, 65>;

inline DirectedRoute route_of(const uint8_t* mad) {
  constexpr std::size_t hops_at = 7, path_at = 128;
  DirectedRoute route{};
  route[0] = mad[hops_at];
  std::copy_n(mad + path_at, std::min<std::size_t>(mad[hops_at] + 1, route.size() - 1), route.begin() + 1);
  return route;
}

}  // namespace weft::test
