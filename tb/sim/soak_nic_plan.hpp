// SPDX-License-Identifier: Apache-2.0
// Draws what software of NICs does in a run of the fault campaign.
#pragma once

#include "soak_dice.hpp"
#include "soak_plan.hpp"

namespace weft::sim {

/// Each queue in use has, on every node, a region to send from, one that others may write and read, whose
/// writes with immediate it is told of, and one for buffers.
enum class NicRegion : uint8_t { source, target, buffers };
inline constexpr uint32_t nic_regions = 3;
constexpr uint32_t nic_region(uint32_t queue, NicRegion kind) {
  return nic_regions * queue + static_cast<uint32_t>(kind);
}
constexpr uint64_t nic_region_base(uint32_t region) {
  return soak_destination_base + (uint64_t{region} << 24);
}

/// The tag of an entry, all of whose bits are used.
constexpr uint64_t wide_tag(uint16_t tag) { return 0x0001'0001'0001'0001 * tag; }
/// The immediate of the message of that tag and node: no two have the same.
constexpr uint32_t message_immediate(uint32_t node, uint16_t tag) {
  return 0x9e37'79b1u * (node << 16 | tag);
}

/// Draws posts, queues and regions of the plan.
void draw_nic_posts(Dice& dice, Plan& plan);

}  // namespace weft::sim
