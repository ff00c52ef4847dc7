// SPDX-License-Identifier: Apache-2.0
// A set of ports of one switch, as an entry of its multicast forwarding table holds it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace weft::mcast {

/// Ports 0 to 255 (InfiniBand: 0 is the switch itself, 1 to 254 have cables). InfiniBand moves masks in parts
/// of 16 ports, numbered by position (IBA 14.2.5.12, MulticastForwardingTable).
class PortMask {
 public:
  static constexpr uint32_t ports = 256;
  static constexpr uint32_t part_ports = 16;
  static constexpr uint32_t parts = ports / part_ports;

  void set(uint32_t port) { words_[port / 64] |= bit(port); }
  void clear(uint32_t port) { words_[port / 64] &= ~bit(port); }
  bool test(uint32_t port) const { return (words_[port / 64] & bit(port)) != 0; }

  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  uint32_t count() const {
    uint32_t sum = 0;
    for (const uint64_t word : words_) sum += static_cast<uint32_t>(std::popcount(word));
    return sum;
  }
  /// The highest port; not of an empty mask.
  uint32_t highest() const {
    uint32_t word = 3;
    while (word > 0 && words_[word] == 0) --word;
    return 64 * word + 63 - static_cast<uint32_t>(std::countl_zero(words_[word]));
  }

  /// Ports 16 * position to 16 * position + 15, the lowest as bit 0.
  uint16_t part(uint32_t position) const {
    return static_cast<uint16_t>(words_[position / 4] >> (16 * (position % 4)));
  }
  void set_part(uint32_t position, uint16_t bits) {
    const uint32_t shift = 16 * (position % 4);
    uint64_t& word = words_[position / 4];
    word = (word & ~(uint64_t{0xffff} << shift)) | (uint64_t{bits} << shift);
  }

  /// Calls `visit` with each port, rising.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (uint32_t word = 0; word < words_.size(); ++word)
      for (uint64_t rest = words_[word]; rest != 0; rest &= rest - 1)
        visit(64 * word + static_cast<uint32_t>(std::countr_zero(rest)));
  }

  bool operator==(const PortMask&) const = default;

 private:
  static uint64_t bit(uint32_t port) { return uint64_t{1} << (port % 64); }

  std::array<uint64_t, 4> words_{};
};

}  // namespace weft::mcast
