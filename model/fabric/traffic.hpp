// SPDX-License-Identifier: Apache-2.0
// Packets of one length that every node sends to nodes drawn at random, itself included, and how long they
// take.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/random.hpp"
#include "fabric/torus.hpp"

namespace weft::fabric {

struct Load {
  double flits = 0.1;         ///< a node begins so many in a clock, on the average; 0 to 1
  uint32_t packet_flits = 1;  ///< 1 to 65,535
  uint64_t warmup = 3'000;    ///< clocks that are not measured
  uint64_t clocks = 20'000;   ///< that are, at least 1
};

struct Measured {
  uint64_t packets = 0;  ///< begun and arrived while it was measured
  double latency = 0;    ///< their mean, clocks from the one in which they are made, to their last flit
  uint64_t latency_median = 0, latency_p99 = 0, latency_max = 0;
  double accepted_flits = 0;  ///< that came out, a clock and node
  double hops = 0;            ///< links between routers that a flit crosses, on the average
  uint64_t flit_hops = 0;     ///< warmup included
  uint64_t lost_flits = 0;    ///< warmup included
  uint64_t clocks = 0;        ///< that were run, warmup included: all, or until the network stood still
  bool stands_still = false;  ///< flits are under way and none moves: a deadlock
};

/// Notices that flits are under way and none of them moves.
class Standstill {
 public:
  /// Clocks; more than a flit and its credit are on the longest of links.
  static constexpr uint64_t every = 4096;
  struct Seen {
    uint64_t under_way = 0;
    uint64_t moves = 0;  ///< a number that grows with each step of any flit
  };

  /// Once a clock. @param see asked every so many clocks only, as it looks at all nodes
  template <class See>
  bool look(uint64_t now, const See& see) {
    if (now % every != 0) return false;
    const Seen seen = see();
    const bool still = last_.under_way != 0 && seen.under_way != 0 && last_.moves == seen.moves;
    last_ = seen;
    return still;
  }

 private:
  Seen last_;
};

/// Ends early if the network stands still. Deterministic: the same for the same network, load and seed,
/// whatever the number of threads. Throws std::invalid_argument for a load that is none.
Measured measure(Torus& torus, const Load& load, uint64_t seed, uint32_t threads = 1);

}  // namespace weft::fabric
