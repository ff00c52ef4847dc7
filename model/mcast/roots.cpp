// SPDX-License-Identifier: Apache-2.0
// One pass along all switches for each member.
#include "mcast/roots.hpp"

#include <algorithm>

namespace weft::mcast {

namespace {

constexpr std::size_t most_summed = 256;  // members: their sum fits into 16 bits
static_assert(most_summed * most_hops < 65536);

void raise(uint8_t* farthest, const uint8_t* row, std::size_t switches) {
  for (std::size_t sw = 0; sw < switches; ++sw) farthest[sw] = std::max(farthest[sw], row[sw]);
}

/// Wide enough to be done many at a time, which std::min_element is not.
uint8_t least(const std::vector<uint8_t>& values) {
  uint8_t found = 255;
  for (const uint8_t value : values) found = std::min(found, value);
  return found;
}

void add(uint16_t* sum, const uint8_t* row, std::size_t switches) {
  for (std::size_t sw = 0; sw < switches; ++sw) sum[sw] = static_cast<uint16_t>(sum[sw] + row[sw]);
}

}  // namespace

RootSearch::RootSearch(const Hops& hops)
    : hops_(hops), farthest_(hops.graph().switches()), sum_(hops.graph().switches()) {}

Roots RootSearch::find(std::span<const uint32_t> switches) {
  std::fill(farthest_.begin(), farthest_.end(), 0);
  std::fill(sum_.begin(), sum_.end(), 0);
  const std::size_t every = (switches.size() + most_summed - 1) / most_summed;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const uint8_t* row = hops_.from(switches[i], room_);
    raise(farthest_.data(), row, farthest_.size());
    if (i % every == 0) add(sum_.data(), row, sum_.size());
  }
  Roots found;
  found.height = least(farthest_);
  for (uint32_t sw = 0; sw < farthest_.size(); ++sw)
    if (farthest_[sw] == found.height) found.roots.push_back({sw, static_cast<uint32_t>(sum_[sw] * every)});
  return found;
}

}  // namespace weft::mcast
