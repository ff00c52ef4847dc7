// SPDX-License-Identifier: Apache-2.0
// What the rules make of packets at each input of a fabric's switches, each question put to them once.
#pragma once

#include <cstdint>
#include <vector>

#include "route/tables.hpp"

namespace weft::switchfabric {

/// Where a packet goes next.
struct Hop {
  enum class Way : uint16_t {
    unknown,  ///< not asked yet
    dropped,  ///< why: outcome
    host,
    row,      ///< up
    column,   ///< up
    port,     ///< of a row or column switch
    several,  ///< ports, which the rules tell
  };
  Way way : 3 = Way::unknown;
  uint16_t port : 6 = 0;
  uint16_t vc : 2 = 0;
  uint16_t outcome : 5 = 0;
};
static_assert(route::most_ports <= 1U << 6 && route::outcomes <= 1U << 5);

/// Of one set of tables and what is alive, both as they were when it was made; they must outlive it.
class Hops {
 public:
  Hops(const route::Tables& tables, const route::Health& alive);

  /// @param to number of a leaf
  Hop at_leaf(route::Leaf at, route::From from, uint8_t vc, uint32_t to);
  Hop at_root(const route::RootPort& input, uint8_t vc, uint32_t to);
  const route::Walker& rules() const { return rules_; }
  const route::Tables& tables() const { return rules_.tables(); }

 private:
  template <typename Ask>
  Hop remembered(std::size_t input, uint8_t vc, uint32_t to, const Ask& ask);

  route::Walker rules_;
  route::Grid grid_;
  uint8_t vcs_;
  std::vector<uint32_t> first_input_;  // by number of the root; those of leaves are before
  std::vector<Hop> hops_;  // by input (of leaves three: hosts, row, column), channel and destination; empty:
                           // they would be too many
};

}  // namespace weft::switchfabric
