// SPDX-License-Identifier: Apache-2.0
// How far switches are from each other, in links between switches.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "topology/graph.hpp"

namespace weft::topology {

inline constexpr uint32_t unreachable = std::numeric_limits<uint32_t>::max();

/// Links on the shortest way from this switch to each switch; `unreachable` if there is none.
std::vector<uint32_t> hops_from(const Graph& graph, uint32_t sw);

/// The longest of all shortest ways between two switches; `unreachable` if the fabric is not connected. 64
/// searches at a time, so about S / 64 * diameter steps along all links.
/// @param progress is told, if given, from how many of all switches searches are done
uint32_t diameter(const Graph& graph, const std::function<void(uint32_t, uint32_t)>& progress = {});

/// A node that is cut off from switch 0; ways lead through switches only.
struct CutOff {
  bool host = false;
  uint32_t node = 0;
};
/// The first switch or, if there is none, host that is; nothing if the fabric is connected.
std::optional<CutOff> first_cut_off(const Graph& graph);

}  // namespace weft::topology
