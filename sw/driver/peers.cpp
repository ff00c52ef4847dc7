// SPDX-License-Identifier: Apache-2.0
#include "driver/peers.hpp"

#include <algorithm>

namespace weft::driver {

void Peers::meet(const Application& one, const Application& other) {
  if (one == other) return;
  known_.emplace(one, other);
  known_.emplace(other, one);
}

void Peers::go(const Application& who, bool died, uint64_t cycle) {
  std::erase_if(deaths_, [&](const Death& death) { return death.told == who; });
  if (died) {
    for (const auto& [one, other] : known_) {
      if (one == who) deaths_.push_back({other, who.node, cycle + grace});
    }
  }
  std::erase_if(known_, [&](const auto& pair) { return pair.first == who || pair.second == who; });
}

std::optional<uint32_t> Peers::take_death(const Application& who, uint64_t cycle) {
  const auto found = std::ranges::find_if(
      deaths_, [&](const Death& death) { return death.told == who && cycle >= death.from; });
  if (found == deaths_.end()) return std::nullopt;
  const uint32_t node = found->node;
  deaths_.erase(found);
  return node;
}

}  // namespace weft::driver
