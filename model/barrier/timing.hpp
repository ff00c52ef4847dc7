// SPDX-License-Identifier: Apache-2.0
// How long a plan takes on a mesh: a model of links, engines and background traffic in clock cycles. Engines
// by default as the RTL's, by its tests.
//
// Every direction of a link carries one packet at a time, first come first served, and has room for all that
// wait. An engine takes one packet after the other. No packet is lost here; the protocol has its own tests.
#pragma once

#include <cstdint>

#include "barrier/mesh.hpp"
#include "barrier/plan.hpp"

namespace weft::barrier {

struct Timing {
  uint32_t hop = 5;          ///< cycles from one node's router to the next
  uint32_t packet = 1;       ///< cycles a barrier packet occupies a link
  uint32_t engine = 4;       ///< cycles an engine needs for a packet that comes, before it can answer
  uint32_t engine_next = 2;  ///< ... and until it takes the next one of the same group
  uint32_t send = 1;         ///< cycles between two packets that an engine sends
  double load = 0;           ///< background traffic: cycles of each node's injection, 0 to less than 1
  uint32_t load_packet = 9;  ///< cycles a packet of it occupies a link
};

/// Cycles from the last arrival (all arrive at once) to the last node that leaves.
/// @throws std::runtime_error if the barrier does not complete within `limit` cycles: the network is
/// overloaded
uint64_t cycles_of(const Plan& plan, const Mesh& mesh, const Routes& routes, const Timing& timing,
                   uint64_t seed, uint64_t limit = 10'000'000);

}  // namespace weft::barrier
