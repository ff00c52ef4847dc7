// SPDX-License-Identifier: Apache-2.0
// A boot packet by packet over the links N5 to N1 (model/fabric): what the flows of flows.hpp leave out, a
// packet's way through the queues of switches.
//
// All nodes begin at once; links send what comes first; nothing is lost but what a dead server or node has
// under way. Seconds of a node that dies are infinite. All functions throw Fault if there would be more than
// 100 million packets, or if nobody is left to give a node its image.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "boot/flows.hpp"
#include "boot/machine.hpp"
#include "boot/multicast.hpp"
#include "boot/peers.hpp"
#include "boot/plan.hpp"

namespace weft::boot {

struct Packets {
  double payload_bytes = 1448, header_bytes = 90;
  uint32_t window = 22;       ///< packets under way to a node: 32 KiB
  double answer_seconds = 0;  ///< from a packet's arrival to the next one that is sent for it
  std::optional<Death> death = {};
};

/// Each node has a window of packets under way from its server; if that dies, it begins again at its backup.
Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
                       const Packets& packets);

/// Each node gives on what it has; who has to go elsewhere goes on with the next packet.
Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
                       const Packets& packets);

/// Senders send at their rates along their trees; if one dies, nodes that have not all of it fetch its part
/// from their planned servers, as in simulate_multicast().
/// @param plan servers and backups of each node
Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Multicast& multicast,
                       const Plan& plan, const Packets& packets);

}  // namespace weft::boot
