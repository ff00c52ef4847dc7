// SPDX-License-Identifier: Apache-2.0
// Packets of barrier engines as bytes.
#include "barrier/packet.hpp"

#include <algorithm>
#include <array>

#include "common/crc32.hpp"

namespace weft::barrier {
namespace {

constexpr size_t hops_byte = 26, check_byte = 28;

uint32_t check_of(std::span<const uint8_t, formats::packet_bytes> bytes) {
  std::array<uint32_t, check_byte / 4> words{};
  for (size_t i = 0; i < hops_byte; i++) words[i / 4] |= uint32_t{bytes[i]} << (8 * (i % 4));
  return crc32_of(words);
}

}  // namespace

PacketBytes checked(PacketBytes bytes) {
  const uint32_t check = check_of(bytes);
  for (size_t i = 0; i < 4; i++) bytes[check_byte + i] = static_cast<uint8_t>(check >> (8 * i));
  return bytes;
}

PacketBytes write_packet(const Packet& packet) {
  formats::Packet raw;
  raw.magic = packet_magic;
  raw.kind = static_cast<uint8_t>(packet.type);
  raw.failed = packet.failed ? 1 : 0;
  raw.has_named = packet.has_named ? 1 : 0;
  raw.multicast = packet.multicast ? 1 : 0;
  raw.holding = packet.memory.holding ? 1 : 0;
  raw.group = static_cast<uint8_t>(packet.group);
  raw.from = static_cast<uint16_t>(packet.from);
  raw.to = static_cast<uint16_t>(packet.to);
  raw.number = static_cast<uint16_t>(packet.number);
  raw.inst = packet.instance;
  raw.digest = packet.digest;
  raw.epoch = packet.epoch;
  raw.length = packet.length;
  raw.named = static_cast<uint16_t>(packet.named);
  raw.offset = static_cast<uint16_t>(packet.memory.offset);
  raw.best_offset = static_cast<uint16_t>(packet.memory.best_offset);
  raw.best_length = static_cast<uint16_t>(packet.memory.best_length);
  raw.tries_left = static_cast<uint8_t>(packet.memory.tries_left);
  return checked(formats::pack(raw));
}

std::optional<Packet> read_packet(std::span<const uint8_t, formats::packet_bytes> bytes) {
  const formats::Packet raw = formats::unpack_packet(bytes);
  if (raw.magic != packet_magic || raw.reserved0 != 0) return std::nullopt;
  if (raw.multicast != 0 && (static_cast<Type>(raw.kind) != Type::release || raw.failed != 0))
    return std::nullopt;
  if (raw.check != check_of(bytes)) return std::nullopt;
  Packet packet;
  packet.type = static_cast<Type>(raw.kind);
  packet.failed = raw.failed != 0;
  packet.has_named = raw.has_named != 0;
  packet.multicast = raw.multicast != 0;
  packet.memory = {raw.offset, raw.best_offset, raw.best_length, raw.tries_left, raw.holding != 0};
  packet.group = raw.group;
  packet.from = raw.from;
  packet.to = raw.to;
  packet.number = raw.number;
  packet.instance = raw.inst;
  packet.digest = raw.digest;
  packet.epoch = raw.epoch;
  const uint32_t hops = packet.type == Type::wait ? 0 : raw.hops;  // of a way
  packet.length = static_cast<uint16_t>(std::min<uint32_t>(raw.length + hops, length_limit));
  packet.named = raw.named;
  return packet;
}

void add_hop(PacketBytes& bytes) {
  const uint32_t hops = std::min<uint32_t>(bytes[hops_byte] + 256U * bytes[hops_byte + 1] + 1, length_limit);
  bytes[hops_byte] = static_cast<uint8_t>(hops);
  bytes[hops_byte + 1] = static_cast<uint8_t>(hops >> 8);
}

}  // namespace weft::barrier
