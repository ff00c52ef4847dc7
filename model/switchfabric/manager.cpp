// SPDX-License-Identifier: Apache-2.0
// The subnet manager while a fabric runs.
#include "switchfabric/manager.hpp"

#include <utility>

namespace weft::switchfabric {

SubnetManager::SubnetManager(SwitchFabric& fabric, const route::Tables& tables, const ManagerConfig& config)
    : fabric_(fabric), config_(config), random_(config.seed, 2), newest_(&tables), known_(fabric.alive()) {}

void SubnetManager::fault() { heard_.push_back({fabric_.alive(), fabric_.now() + config_.notice_clocks}); }

/// Of the tables under way the rest is written first.
void SubnetManager::step() {
  while (queue_.empty() && !heard_.empty() && heard_.front().clock <= fabric_.now()) plan();
  if (queue_.empty() || fabric_.now() < next_) return;
  fabric_.rewrite(queue_.back(), number_);
  queue_.pop_back();
  ++rewritten_;
  last_ = fabric_.now();
  next_ = last_ + config_.rewrite_clocks;
}

/// Tables for the last of what has been heard of.
void SubnetManager::plan() {
  while (heard_.size() > 1 && heard_[1].clock <= fabric_.now()) heard_.pop_front();
  tables_.push_back(update_tables(*newest_, known_, heard_.front().alive).tables);
  known_ = heard_.front().alive;
  heard_.pop_front();
  for (const uint32_t image : tables_.back().changed_from(*newest_)) {
    if (!known_.alive_switch(image)) continue;
    const auto [first, count] = fabric_.switches_of(image);
    for (uint32_t i = 0; i < count; ++i) queue_.push_back(first + i);
  }
  for (std::size_t left = queue_.size(); left > 1; --left)
    std::swap(queue_[left - 1], queue_[random_.below(left)]);
  newest_ = &tables_.back();
  number_ = fabric_.add_tables(*newest_);
}

}  // namespace weft::switchfabric
