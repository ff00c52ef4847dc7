// SPDX-License-Identifier: Apache-2.0
// Packets of barrier engines as bytes (docs/barrier_formats.md): 32, with a CRC-32 over all but the hops that
// routers count.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "barrier/engine.hpp"
#include "weft/barrier/formats.hpp"

namespace weft::barrier {

using PacketBytes = std::array<uint8_t, formats::packet_bytes>;

inline constexpr uint16_t packet_magic = 0x4257;

/// Whether these bytes from the network begin like a packet of a barrier; a NIC with a barrier engine gives
/// it all that do.
inline bool begins_like_packet(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && (bytes[0] | bytes[1] << 8) == packet_magic;
}

PacketBytes write_packet(const Packet& packet);

/// With the hops on the way in its length. Nothing: it does not hold together (Drop::malformed).
std::optional<Packet> read_packet(std::span<const uint8_t, formats::packet_bytes> bytes);

/// What a router does: one more hop, saturating.
void add_hop(PacketBytes& bytes);

/// With the check that its other bytes want.
PacketBytes checked(PacketBytes bytes);

}  // namespace weft::barrier
