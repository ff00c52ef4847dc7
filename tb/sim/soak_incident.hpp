// SPDX-License-Identifier: Apache-2.0
// Makes the incident of a plan happen, and tells the ledger what it excuses.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rdma_system.hpp"
#include "soak_ledger.hpp"
#include "soak_plan.hpp"

namespace weft::sim {

class SoakIncident {
 public:
  struct Hooks {
    std::function<void(uint32_t node)> on_loss;  ///< before a node loses its state
    std::function<bool(uint32_t node)>
        bring_up;  ///< after a reset, its engine is ready: what is behind it, too?
  };

  SoakIncident(const Plan& plan, tb::RdmaSystem& system, SoakLedger& ledger, Hooks hooks)
      : plan_(plan), incident_(plan.incident), system_(system), ledger_(ledger), hooks_(std::move(hooks)) {
    if (incident_.kind == IncidentKind::none) phase_ = Phase::over;
  }

  /// Before each cycle of the round.
  void step();

  bool under_way() const { return phase_ == Phase::under_way || phase_ == Phase::restarting; }
  bool over() const { return phase_ == Phase::over; }
  bool dead(uint32_t node) const {
    return over() && incident_.kind == IncidentKind::death && node == incident_.node;
  }
  /// The node's driver takes no posts: between reset and restart.
  bool down(uint32_t node) const {
    return phase_ == Phase::under_way && incident_.kind == IncidentKind::reset && node == incident_.node;
  }

 private:
  enum class Phase : uint8_t { early, soon, under_way, restarting, over };
  void begin();
  void end();
  void lose_node();
  void set_links(bool cut);
  void excuse(uint32_t from, uint32_t to, bool queues_closed);
  void excuse_links();
  uint64_t after_each_other() const;
  void restart();

  const Plan& plan_;
  const Incident& incident_;
  tb::RdmaSystem& system_;
  SoakLedger& ledger_;
  Hooks hooks_;
  Phase phase_ = Phase::early;
  uint64_t next_ = 0;  // cycle of the next phase
  std::vector<SoakLedger::Key> must_end_;
};

}  // namespace weft::sim
