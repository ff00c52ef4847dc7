// SPDX-License-Identifier: Apache-2.0
// Bitmaps of free colours, counts of groups.
#include "mcast/occupancy.hpp"

#include <algorithm>
#include <utility>

namespace weft::mcast {

namespace {

/// Colours of a word that the limit allows.
uint64_t allowed(uint32_t limit, std::size_t word) {
  if (limit / 64 > word) return ~uint64_t{0};
  return limit / 64 == word ? (uint64_t{1} << limit % 64) - 1 : 0;
}

}  // namespace

Occupancy::Occupancy(const topology::Graph& graph, uint32_t colours, Tables tables)
    : tables_(tables),
      limit_(colours),
      rows_(1 + std::size_t{tables == Tables::of_port ? graph.links() : graph.switches()}),
      free_(rows_, allowed(colours, 0)),
      load_(graph.links()),
      switch_load_(graph.switches()) {}

void Occupancy::set(uint32_t resource, uint32_t colour, bool free) {
  uint64_t& word = free_[(std::size_t{resource} + 1) * stride_ + colour / 64];
  const uint64_t bit = uint64_t{1} << colour % 64;
  word = free ? word | bit : word & ~bit;
}

/// One word more in use; rows are laid out anew where there is no room.
void Occupancy::widen() {
  if (words_ < stride_) {
    words_++;
    return;
  }
  const std::size_t wider = 2 * stride_;
  std::vector<uint64_t> free(rows_ * wider);
  for (std::size_t row = 0; row < rows_; ++row)
    for (std::size_t w = 0; w < wider; ++w)
      free[row * wider + w] = w < stride_ ? free_[row * stride_ + w] : allowed(limit_, w);
  free_ = std::move(free);
  stride_ = wider;
  words_++;
}

void Occupancy::take(std::span<const uint32_t> switches, std::span<const uint32_t> links, uint32_t colour) {
  while (colour / 64 + 1 >= words_ && words_ * 64 < limit_) widen();
  for (const uint32_t resource : of_port() ? links : switches) set(resource, colour, false);
}

void Occupancy::give_back(std::span<const uint32_t> switches, std::span<const uint32_t> links,
                          uint32_t colour) {
  for (const uint32_t resource : of_port() ? links : switches) set(resource, colour, true);
}

void Occupancy::add_load(std::span<const uint32_t> switches, std::span<const uint32_t> links,
                         int32_t groups) {
  for (const uint32_t sw : switches) switch_load_[sw] += static_cast<uint32_t>(groups);
  for (const uint32_t link : links) load_[link] += static_cast<uint32_t>(groups);
}

}  // namespace weft::mcast
