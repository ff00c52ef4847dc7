// SPDX-License-Identifier: Apache-2.0
// One run of the fault campaign.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "rdma_system.hpp"
#include "scoreboard.hpp"
#include "soak_nics.hpp"
#include "soak_plan.hpp"

namespace weft::sim {

struct SoakOptions {
  std::string trace_dir;  ///< empty: no traces
  std::string waves;      ///< empty: no waves
};

struct SoakResult {
  uint64_t cycles = 0;
  uint64_t events = 0;         ///< compared with the golden model
  uint64_t given = 0;          ///< posts handed to a driver
  uint64_t accepted = 0;       ///< by an engine
  uint64_t lost = 0;           ///< with the node that posted them
  uint64_t excused = 0;        ///< ended with an error that the incident explains
  uint64_t settle_cycles = 0;  ///< from the last post and the end of the incident until nothing was left
  std::map<rdma::formats::Status, uint64_t> completions;
  std::array<uint64_t, tb::outcome_codes> outcomes{};  ///< of all nodes, also of lives that a reset ended
  fabric::NetworkCounters network;
  tb::Fates fates;           ///< by type of packet
  uint64_t header_hits = 0;  ///< packets with bit errors in the field drawn
  NicCounts nics;            ///< of NICs
  std::string finding;       ///< the first thing that was wrong; empty: none

  bool ok() const { return finding.empty(); }
};

SoakResult run_soak(const Plan& plan, const SoakOptions& options = {});

}  // namespace weft::sim
