// SPDX-License-Identifier: Apache-2.0
// Packets from link to link.
#include "fabric/wires.hpp"

#include <algorithm>

namespace weft::fabric {

uint32_t Wires::add_link(double mbps, double delay_seconds) {
  links_.push_back({mbps, delay_seconds, 0});
  return static_cast<uint32_t>(links_.size() - 1);
}

void Wires::send(double seconds, const std::vector<uint32_t>& path, double megabits, uint32_t handle) {
  events_.push({seconds, order_++, &path, 0, handle, megabits});
}

std::optional<Wires::Arrival> Wires::next() {
  while (!events_.empty()) {
    Event event = events_.top();
    events_.pop();
    if (event.hop == event.path->size()) return Arrival{event.seconds, event.handle};
    Link& link = links_[(*event.path)[event.hop++]];
    link.free_at = std::max(link.free_at, event.seconds) + event.megabits / link.mbps;
    event.seconds = link.free_at + link.delay_seconds;
    event.order = order_++;
    events_.push(event);
  }
  return std::nullopt;
}

}  // namespace weft::fabric
