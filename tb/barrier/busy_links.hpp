// SPDX-License-Identifier: Apache-2.0
// Links of a mesh on which packets wait for each other, with background traffic: as the comparison's model
// has them (barrier/timing.hpp). Each direction carries one packet at a time, first come first served, and
// has room for all that wait.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "barrier/mesh.hpp"
#include "fabric/random.hpp"

namespace weft::tb {

/// Every node sends packets to random nodes, y first.
struct Background {
  double load = 0;             ///< clocks of each node's injection, 0 to less than 1
  uint32_t packet_clocks = 9;  ///< that a packet occupies a link
};

class BusyLinks {
 public:
  /// Both must outlive it. @param hop clocks from one node's router to the next
  BusyLinks(const barrier::Mesh& mesh, const barrier::Routes& routes, const Background& background,
            uint32_t hop, uint64_t seed);

  /// A packet of one clock wants to go over this link in this clock. @return the clock in which it does
  uint64_t enter(barrier::Node at, barrier::Node next) { return occupy(at, next, now_, 1); }
  /// One clock passes.
  void step();

 private:
  /// A packet of the traffic is there, or its node sends one.
  struct Event {
    uint64_t clock, order;
    barrier::Node at, to;
    bool sends;
    bool operator>(const Event& other) const {
      return std::tie(clock, order) > std::tie(other.clock, other.order);
    }
  };

  uint64_t occupy(barrier::Node at, barrier::Node next, uint64_t from, uint32_t clocks);
  void push(uint64_t clock, barrier::Node at, barrier::Node to, bool sends) {
    events_.push({clock, order_++, at, to, sends});
  }
  uint64_t gap();
  void move_on(const Event& event);

  const barrier::Mesh& mesh_;
  const barrier::Routes& routes_;
  Background background_;
  uint32_t hop_;
  RandomStream random_;
  uint64_t now_ = 0, order_ = 0;
  std::vector<uint64_t> free_;  ///< by link and direction: clock from which on it is
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace weft::tb
