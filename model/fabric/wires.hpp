// SPDX-License-Identifier: Apache-2.0
// Packets over links of different rates, in any arrangement: store and forward, a queue in front of each
// link.
//
// Queues are first in, first out, and have room for all that their users have under way. Time is in seconds;
// what happens is computed from event to event, in an order that is the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace weft::fabric {

class Wires {
 public:
  /// The number of a link of one direction.
  uint32_t add_link(double mbps, double delay_seconds = 0);

  /// A packet enters at its first link at this time, which is not before that of the last arrival.
  /// @param path links, which must stay where they are until it has arrived
  /// @param handle the caller's, told when it arrives
  void send(double seconds, const std::vector<uint32_t>& path, double megabits, uint32_t handle);

  struct Arrival {
    double seconds = 0;
    uint32_t handle = 0;
  };
  /// The next packet that comes out of its last link; nothing if none is under way.
  std::optional<Arrival> next();

 private:
  struct Link {
    double mbps = 0, delay_seconds = 0, free_at = 0;
  };
  struct Event {
    double seconds = 0;
    uint64_t order = 0;
    const std::vector<uint32_t>* path = nullptr;
    uint32_t hop = 0, handle = 0;
    double megabits = 0;
    bool operator<(const Event& other) const {
      return seconds != other.seconds ? seconds > other.seconds : order > other.order;
    }
  };

  std::vector<Link> links_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
};

}  // namespace weft::fabric
