// SPDX-License-Identifier: Apache-2.0
// 64 searches at a time, a bit each.
#include "mcast/hops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/fault.hpp"
#include "mcast/parallel.hpp"
#include "topology/distances.hpp"

namespace weft::mcast {

namespace {

constexpr uint32_t batch = 64;
constexpr uint8_t not_reached = 255;

std::size_t width_of_row(const topology::Graph& graph) {
  return (std::size_t{graph.switches()} + 63) / 64 * 64;
}

/// No way between two switches is longer than twice the longest from any one.
void check_reach(const topology::Graph& graph) {
  const auto hops = topology::hops_from(graph, 0);
  const uint32_t farthest = *std::max_element(hops.begin(), hops.end());
  if (farthest == topology::unreachable) throw Fault("the switches are not connected");
  if (2 * farthest <= most_hops) return;
  const uint32_t diameter = topology::diameter(graph);
  if (diameter > most_hops)
    throw Fault(fmt::format("switches are up to {} links apart, must be at most {}", diameter, most_hops));
}

}  // namespace

Hops::Hops(const topology::Graph& graph, uint32_t threads, uint64_t table_bytes) : graph_(graph) {
  check_reach(graph);
  const std::size_t stride = width_of_row(graph);
  if (stride * graph.switches() > table_bytes) return;
  stride_ = stride;
  table_.assign(stride * graph.switches(), not_reached);
  share(threads, (graph.switches() + batch - 1) / batch, [this](uint32_t, uint32_t i) {
    fill_rows(i * batch, std::min(batch, graph_.switches() - i * batch));
  });
}

void Hops::fill_rows(uint32_t first, uint32_t count) {
  std::vector<uint64_t> seen(graph_.switches()), next(graph_.switches());
  for (uint32_t i = 0; i < count; ++i) {
    seen[first + i] = uint64_t{1} << i;
    table_[(first + i) * stride_ + first + i] = 0;
  }
  bool grew = true;
  for (uint32_t hops = 1; grew; ++hops) {
    grew = false;
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      uint64_t word = seen[sw];
      for (const topology::Arc& arc : graph_.neighbours(sw)) word |= seen[arc.node];
      next[sw] = word;
      for (uint64_t fresh = word & ~seen[sw]; fresh != 0; fresh &= fresh - 1) {
        table_[(first + static_cast<uint32_t>(std::countr_zero(fresh))) * stride_ + sw] =
            static_cast<uint8_t>(hops);
        grew = true;
      }
    }
    seen.swap(next);
  }
}

void Hops::search(uint32_t sw, Room& room) const {
  room.assign(width_of_row(graph_), not_reached);
  std::vector<uint32_t> queue{sw};
  queue.reserve(graph_.switches());
  room[sw] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const topology::Arc& arc : graph_.neighbours(queue[i])) {
      if (room[arc.node] != not_reached) continue;
      room[arc.node] = static_cast<uint8_t>(room[queue[i]] + 1);
      queue.push_back(arc.node);
    }
}

const uint8_t* Hops::from(uint32_t sw, Room& room) const {
  if (stride_ != 0) return table_.data() + sw * stride_;
  search(sw, room);
  return room.data();
}

}  // namespace weft::mcast
