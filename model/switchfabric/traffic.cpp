// SPDX-License-Identifier: Apache-2.0
// Who sends to whom in a two-dimensional fat tree.
#include "switchfabric/traffic.hpp"

#include <algorithm>
#include <array>

namespace weft::switchfabric {

namespace {

constexpr double to_hot = 0.25;
constexpr uint32_t leaves_a_hot_one = 8;

}  // namespace

Traffic::Traffic(Pattern pattern, double load, const route::Health& alive, uint64_t seed)
    : pattern_(pattern), load_(load), grid_(alive.grid()), random_(seed, 1) {
  if (pattern == Pattern::transpose && grid_.rows != grid_.columns)
    throw Fault("transpose: the fabric must be square");
  see(alive);
  if (senders_.empty() || (pattern == Pattern::all_to_all && live_.size() < 2))
    throw Fault("traffic: there is nobody to send to");
}

void Traffic::silence(const route::Health& alive) {
  std::erase_if(senders_, [&](uint32_t host) { return !alive.alive(grid_.leaf(host / grid_.hosts)); });
}

void Traffic::see(const route::Health& alive) {
  live_.clear();
  for (uint32_t host = 0; host < grid_.leaves() * grid_.hosts; ++host)
    if (alive.alive(grid_.leaf(host / grid_.hosts))) live_.push_back(host);
  senders_ = live_;
  if (pattern_ == Pattern::transpose)
    std::erase_if(senders_,
                  [&](uint32_t host) { return !alive.alive(grid_.leaf(transposed(host) / grid_.hosts)); });
  if (pattern_ != Pattern::hotspot) return;
  std::vector<uint32_t> leaves;
  for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf)
    if (alive.alive(grid_.leaf(leaf))) leaves.push_back(leaf);
  hot_.clear();
  for (std::size_t left = std::max<std::size_t>(leaves.size() / leaves_a_hot_one, 1); left > 0; --left) {
    const std::size_t drawn = random_.below(leaves.size());
    for (uint32_t host = 0; host < grid_.hosts; ++host) hot_.push_back(leaves[drawn] * grid_.hosts + host);
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
}

uint32_t Traffic::transposed(uint32_t host) const {
  const route::Leaf leaf = grid_.leaf(host / grid_.hosts);
  return grid_.number({leaf.y, leaf.x}) * grid_.hosts + host % grid_.hosts;
}

uint32_t Traffic::partner(uint32_t sender) {
  switch (pattern_) {
    case Pattern::uniform:
      return any(live_);
    case Pattern::transpose:
      return transposed(senders_[sender]);
    case Pattern::hotspot:
      return any(random_.chance(to_hot) ? hot_ : live_);
    case Pattern::all_to_all:
      break;
  }
  const auto place = std::lower_bound(live_.begin(), live_.end(), senders_[sender]) - live_.begin();
  return live_[(static_cast<uint64_t>(place) + distance_) % live_.size()];
}

Pattern pattern_of(const std::string& name) {
  constexpr std::array names{"uniform", "transpose", "hotspot", "all-to-all"};
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Fault(name + ": is no pattern");
  return static_cast<Pattern>(found - names.begin());
}

}  // namespace weft::switchfabric
