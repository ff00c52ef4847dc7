// SPDX-License-Identifier: Apache-2.0
// Links on which packets wait for each other.
#include "busy_links.hpp"

#include <algorithm>

namespace weft::tb {

using barrier::Node;

BusyLinks::BusyLinks(const barrier::Mesh& mesh, const barrier::Routes& routes, const Background& background,
                     uint32_t hop, uint64_t seed)
    : mesh_(mesh),
      routes_(routes),
      background_(background),
      hop_(hop),
      random_(seed, 0x6c6f6164),
      free_(std::size_t{mesh.links()} * 2) {
  for (Node node = 0; node < mesh.nodes() && background.load > 0; node++) push(gap(), node, node, true);
}

/// Clocks between two packets of a node, uniform with the mean that the load asks for.
uint64_t BusyLinks::gap() {
  return 1 + random_.below(2 * static_cast<uint64_t>(background_.packet_clocks / background_.load));
}

uint64_t BusyLinks::occupy(Node at, Node next, uint64_t from, uint32_t clocks) {
  const auto neighbours = mesh_.neighbours(at);
  const auto way = std::ranges::find(neighbours, next, &barrier::Mesh::Neighbour::node);
  uint64_t& free = free_[std::size_t{way->link} * 2 + (at < next ? 1 : 0)];
  const uint64_t start = std::max(from, free);
  free = start + clocks;
  return start;
}

void BusyLinks::move_on(const Event& event) {
  if (event.at == event.to) return;
  const Node next = routes_.next(event.at, event.to).node;
  const uint64_t start = occupy(event.at, next, event.clock, background_.packet_clocks);
  push(start + hop_ + background_.packet_clocks - 1, next, event.to, false);
}

void BusyLinks::step() {
  now_++;
  while (!events_.empty() && events_.top().clock <= now_) {
    Event event = events_.top();
    events_.pop();
    if (event.sends) {
      push(event.clock + gap(), event.at, event.at, true);
      event.to = static_cast<Node>(random_.below(mesh_.nodes()));
    }
    move_on(event);
  }
}

}  // namespace weft::tb
