// SPDX-License-Identifier: Apache-2.0
// One pass along switches for each member; of many members, first for few, which leave few switches.
#include "mcast/roots.hpp"

#include <algorithm>
#include <cstring>

#include "mcast/wide.hpp"

namespace weft::mcast {

namespace {

constexpr std::size_t most_summed = 256;  // members: their sum fits into 16 bits
static_assert(most_summed * most_hops < 65536);
constexpr std::size_t least_passes = 4, members_a_pass = 16;  // how many members are looked at first
constexpr std::size_t least_members = 16;                     // with fewer that is not worth it

constexpr std::size_t block = 64;  // switches; a row of hops is that much wider than it must be, at most

void raise(uint8_t* farthest, const uint8_t* row) {
  for (std::size_t i = 0; i < block; ++i) farthest[i] = std::max(farthest[i], row[i]);
}

/// Wide enough to be done many at a time, which std::min_element is not.
uint8_t least(const uint8_t* values, std::size_t count) {
  uint8_t found = 255;
  for (std::size_t i = 0; i < count; ++i) found = std::min(found, values[i]);
  return found;
}

void add(uint16_t* sum, const uint8_t* row) {
  for (std::size_t i = 0; i < block; ++i) sum[i] = static_cast<uint16_t>(sum[i] + row[i]);
}

}  // namespace

RootSearch::RootSearch(const Hops& hops)
    : hops_(hops), farthest_((hops.graph().switches() + block - 1) / block * block), sum_(farthest_.size()) {}

/// Members that are far from the middle of those before, until it is the middle of all.
/// @return the least height that was met, which may still be too large; `farthest_` is never too large
WEFT_WIDE uint32_t RootSearch::look_from_few(std::span<const uint32_t> switches) {
  const auto from = [this](uint32_t sw) { return hops_.from(sw, room_); };
  std::copy_n(from(switches.front()), farthest_.size(), farthest_.begin());
  uint32_t met = most_hops;
  for (std::size_t pass = 0; pass < least_passes + switches.size() / members_a_pass; ++pass) {
    const uint8_t height = least(farthest_.data(), farthest_.size());
    if (height == met) break;
    const auto* middle = static_cast<const uint8_t*>(std::memchr(farthest_.data(), height, farthest_.size()));
    const uint8_t* row = from(static_cast<uint32_t>(middle - farthest_.data()));
    uint32_t farthest = switches.front();
    for (const uint32_t sw : switches)
      if (row[sw] > row[farthest]) farthest = sw;
    met = std::min<uint32_t>(met, row[farthest]);
    row = from(farthest);
    for (std::size_t at = 0; at < farthest_.size(); at += block) raise(farthest_.data() + at, row + at);
  }
  return met;
}

/// Blocks in which a root can be.
void RootSearch::choose_blocks(std::span<const uint32_t> switches) {
  uint32_t met = most_hops;
  if (hops_.has_table() && switches.size() >= least_members)
    met = look_from_few(switches);
  else
    std::fill(farthest_.begin(), farthest_.end(), 0);
  blocks_.clear();
  for (uint32_t at = 0; at < farthest_.size(); at += block)
    if (least(farthest_.data() + at, block) <= met) blocks_.push_back(at);
}

/// Sums only where roots are. Without a table of hops a row costs far more than to add it everywhere.
WEFT_WIDE Roots RootSearch::find(std::span<const uint32_t> switches) {
  choose_blocks(switches);
  std::fill(farthest_.begin(), farthest_.end(), 0);
  std::fill(sum_.begin(), sum_.end(), 0);
  const std::size_t every = (switches.size() + most_summed - 1) / most_summed;
  const bool at_once = !hops_.has_table();
  const auto add_row = [this](const uint8_t* row) {
    for (const uint32_t at : blocks_) add(sum_.data() + at, row + at);
  };
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const uint8_t* row = hops_.from(switches[i], room_);
    for (const uint32_t at : blocks_) raise(farthest_.data() + at, row + at);
    if (at_once && i % every == 0) add_row(row);
  }
  Roots found;
  found.height = 255;
  for (const uint32_t at : blocks_)
    found.height = std::min<uint32_t>(found.height, least(farthest_.data() + at, block));
  std::erase_if(blocks_, [&](uint32_t at) { return least(farthest_.data() + at, block) != found.height; });
  for (std::size_t i = 0; !at_once && i < switches.size(); i += every)
    add_row(hops_.from(switches[i], room_));
  for (const uint32_t at : blocks_)
    for (uint32_t sw = at; sw < at + block; ++sw)
      if (farthest_[sw] == found.height) found.roots.push_back({sw, static_cast<uint32_t>(sum_[sw] * every)});
  return found;
}

}  // namespace weft::mcast
