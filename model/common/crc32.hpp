// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 over words, little endian, or bytes: begins with all ones, ends inverted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weft {

constexpr uint32_t crc32_bits(uint32_t crc, int bits) {
  for (int bit = 0; bit < bits; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  return crc;
}

constexpr uint32_t crc32_word(uint32_t crc, uint32_t word) { return crc32_bits(crc ^ word, 32); }

constexpr uint32_t crc32_of(std::span<const uint32_t> words) {
  uint32_t crc = 0xffffffff;
  for (const uint32_t word : words) crc = crc32_word(crc, word);
  return ~crc;
}

constexpr uint32_t crc32_of(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes) crc = crc32_bits(crc ^ static_cast<unsigned char>(byte), 8);
  return ~crc;
}

}  // namespace weft
