// SPDX-License-Identifier: Apache-2.0
// All sets of few of many.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::test {

/// Calls use(leaves) for every set of up to `most` of `count` leaves.
template <typename Use>
void every_set(uint32_t count, uint32_t most, const Use& use, std::vector<uint32_t> chosen = {}) {
  use(chosen);
  if (chosen.size() == most) return;
  for (uint32_t next = chosen.empty() ? 0 : chosen.back() + 1; next < count; ++next) {
    chosen.push_back(next);
    every_set(count, most, use, chosen);
    chosen.pop_back();
  }
}

}  // namespace weft::test
