// SPDX-License-Identifier: Apache-2.0
// A boot packet by packet over the links N5 to N1 (model/fabric): what the flows of flows.hpp leave out, a
// packet's way through the queues of switches.
#pragma once

#include <cstdint>
#include <vector>

#include "boot/flows.hpp"
#include "boot/machine.hpp"
#include "boot/plan.hpp"

namespace weft::boot {

struct Packets {
  double payload_bytes = 1448, header_bytes = 90;
  uint32_t window = 22;       ///< packets under way to a node: 32 KiB
  double answer_seconds = 0;  ///< from a packet's arrival to the next one that its server sends for it
};

/// All nodes begin at once; each has a window of packets under way from its server. Links send what comes
/// first; nothing is lost. Throws Fault if there would be more than 100 million packets.
Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
                       const Packets& packets);

}  // namespace weft::boot
