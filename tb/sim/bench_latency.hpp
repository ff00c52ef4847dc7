// SPDX-License-Identifier: Apache-2.0
// How long a message between two idle NICs takes, in clocks, from software to software.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/rdma_queues/formats.hpp"

namespace weft::sim {

/// One message of each length, from the doorbell in the driver's hands to the entry in a completion ring.
struct Latency {
  rdma_queues::formats::Opcode opcode{};
  uint32_t delay = 1;             ///< of the network, clocks
  std::vector<uint64_t> clocks;   ///< by length: until its completion
  std::vector<uint64_t> arrival;  ///< until that of the peer's RECV; empty: it has none
  std::string finding;            ///< what differed from the golden model, or did not come; empty: nothing

  bool ok() const { return finding.empty(); }
};

inline constexpr uint32_t latency_bytes[] = {32, 256, 4096, 65536};
inline constexpr const char* latency_build = "nic_default";

/// Every kind of message over a network of this delay.
std::vector<Latency> latencies(uint32_t delay);

/// Every kind of message, one of so many bytes, over a network of this delay that loses packets; whether the
/// right bytes have arrived is looked at, too.
std::vector<Latency> long_messages(uint32_t bytes, uint32_t delay, double loss);

}  // namespace weft::sim
