// SPDX-License-Identifier: Apache-2.0
// Who sends which bytes to whom in a simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rdma_run.hpp"

namespace weft::sim {

/// A transfer; addresses are those of host memory.
struct PlannedTransfer {
  uint32_t to;
  uint64_t offset;  ///< of its bytes in those that its node sends
  uint64_t source, destination;
  uint32_t bytes;
};

/// By node, and by tag. What different nodes send to one lies in different places there.
struct TrafficPlan {
  std::vector<std::vector<PlannedTransfer>> nodes;
  uint64_t destination_base = 0, destination_bytes = 0;  ///< where all of them lie, whole payloads
  uint64_t most_received = 0;                            ///< bytes that come to one node

  uint64_t transfers() const;
  uint64_t bytes() const;
};

inline constexpr uint64_t source_base = 0x1000'0000;

/// Cuts the bytes that each node sends into transfers of whole packets. Throws BadInput for what cannot be
/// had.
TrafficPlan plan_traffic(const RunConfig& config, uint64_t bytes, uint32_t payload);

/// As --pattern and JSON have it.
const char* pattern_name(Pattern pattern);

}  // namespace weft::sim
