// SPDX-License-Identifier: Apache-2.0
// Management packets.
#include "switch/management.hpp"

#include <algorithm>

#include "common/record_words.hpp"

namespace weft::switch_lookup {
namespace {

using formats::ManagementDrop;
using formats::ManagementOpcode;

formats::Management head_of(std::span<const uint32_t> packet) {
  return formats::unpack_management(bytes_of<formats::management_bytes>(packet));
}

bool is_start(const formats::Management& head) {
  return head.opcode == static_cast<uint8_t>(ManagementOpcode::start);
}

bool is_well_formed(std::span<const uint32_t> packet) {
  if (packet.size() < management_head_words) return false;
  const formats::Management head = head_of(packet);
  const bool start = is_start(head) && head.words == 0 && head.offset == 0;
  const bool data = head.opcode == static_cast<uint8_t>(ManagementOpcode::data) && head.words >= 1 &&
                    head.words <= most_management_words;
  return head.magic == management_magic && head.reserved == 0 && head.reserved1 == 0 && (start || data) &&
         packet.size() == management_head_words + head.words;
}

ManagementPacket packet_of(ManagementOpcode opcode, uint64_t key, uint32_t offset,
                           std::span<const uint32_t> payload) {
  formats::Management head;
  head.magic = management_magic;
  head.opcode = static_cast<uint8_t>(opcode);
  head.words = static_cast<uint16_t>(payload.size());
  head.key = key;
  head.offset = offset;
  ManagementPacket packet;
  append_words(packet, formats::pack(head));
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

}  // namespace

std::vector<ManagementPacket> management_packets(std::span<const uint32_t> image, uint64_t key,
                                                 uint32_t words) {
  std::vector<ManagementPacket> packets{packet_of(ManagementOpcode::start, key, 0, {})};
  for (std::size_t offset = 0; offset < image.size(); offset += words)
    packets.push_back(packet_of(ManagementOpcode::data, key, static_cast<uint32_t>(offset),
                                image.subspan(offset, std::min<std::size_t>(words, image.size() - offset))));
  return packets;
}

std::optional<ManagementDrop> ManagementPort::fault_of(std::span<const uint32_t> packet) const {
  if (!is_well_formed(packet)) return ManagementDrop::malformed;
  const formats::Management head = head_of(packet);
  if (key_ == 0 || head.key != key_) return ManagementDrop::key;
  const bool follows = loader_.state() == formats::LoadState::load && head.offset == loader_.words();
  if (!is_start(head) && !follows) return ManagementDrop::order;
  return std::nullopt;
}

std::optional<ManagementDrop> ManagementPort::take(std::span<const uint32_t> packet) {
  const auto fault = fault_of(packet);
  if (fault) {
    ++drops_[static_cast<std::size_t>(*fault)];
  } else if (is_start(head_of(packet))) {
    loader_.begin();
  } else {
    for (const uint32_t word : packet.subspan(management_head_words)) loader_.take(word);
  }
  return fault;
}

}  // namespace weft::switch_lookup
