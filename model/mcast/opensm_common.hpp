// SPDX-License-Identifier: Apache-2.0
// What OpenSM's engines share. Not for use outside this folder.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "topology/graph.hpp"

namespace weft::mcast {

/// Orders numbers as OpenSM does GUIDs, on a little-endian machine: by their last byte, then by the one
/// before it and so on.
uint64_t opensm_key(uint64_t guid);

/// Switches in OpenSM's order.
std::vector<uint32_t> opensm_switches(const topology::Graph& graph);

/// The first connected port of a host.
const topology::Arc& opensm_port(const topology::Graph& graph, uint32_t host);

/// Switches with members, in the order of the members, each once.
std::vector<uint32_t> member_switches(const topology::Graph& graph, std::span<const uint32_t> hosts);

/// Hops between switches, a byte each.
class HopMatrix {
 public:
  explicit HopMatrix(uint32_t switches)
      : switches_(switches), hops_(std::size_t{switches} * switches, unknown) {}

  static constexpr uint8_t unknown = 255;

  void set(uint32_t from, uint32_t to, uint8_t hops) { hops_[std::size_t{to} * switches_ + from] = hops; }
  uint8_t get(uint32_t from, uint32_t to) const { return hops_[std::size_t{to} * switches_ + from]; }

 private:
  uint32_t switches_;
  std::vector<uint8_t> hops_;
};

/// The first switch, in OpenSM's order, from which the farthest member is nearest.
uint32_t opensm_root(const std::vector<uint32_t>& order, std::span<const uint32_t> member_switches,
                     const HopMatrix& hops);

}  // namespace weft::mcast
