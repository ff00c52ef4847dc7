// SPDX-License-Identifier: Apache-2.0
// The subnet manager while a fabric runs: hears of faults late, makes tables for all it has heard of, and
// rewrites the switches that change one after the other, in an order drawn anew each time (VTFTR, 2.1).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "switchfabric/switch_fabric.hpp"

namespace weft::switchfabric {

struct ManagerConfig {
  uint32_t notice_clocks = 2000;  ///< from a fault until the first switch may be rewritten
  uint32_t rewrite_clocks = 100;  ///< between one switch and the next
  uint64_t seed = 1;
};

class SubnetManager {
 public:
  /// @param tables those of the fabric at the start, for what is alive then
  SubnetManager(SwitchFabric& fabric, const route::Tables& tables, const ManagerConfig& config);

  /// What is alive has changed in this clock.
  void fault();
  /// Before each clock of the fabric.
  void step();
  /// All switches that are alive have tables for what is.
  bool done() const { return heard_.empty() && queue_.empty(); }
  bool rewriting() const { return !queue_.empty(); }
  uint64_t rewritten() const { return rewritten_; }
  /// Clock of the last switch rewritten.
  uint64_t last() const { return last_; }

 private:
  void plan();

  struct News {
    route::Health alive;
    uint64_t clock = 0;  // from which on it is heard of
  };
  SwitchFabric& fabric_;
  ManagerConfig config_;
  RandomStream random_;
  std::deque<route::Tables> tables_;  // by number but the first, which are the caller's
  const route::Tables* newest_;
  route::Health known_;  // what they were made for
  uint32_t number_ = 0;  // of the newest
  std::deque<News> heard_;
  std::vector<uint32_t> queue_;  // switches to rewrite, the next one last
  uint64_t next_ = 0, last_ = 0, rewritten_ = 0;
};

}  // namespace weft::switchfabric
