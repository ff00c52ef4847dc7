// SPDX-License-Identifier: Apache-2.0
// CRC-32 of IEEE 802.3 over words, little endian: begins with all ones, ends inverted.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

constexpr uint32_t crc32_word(uint32_t crc, uint32_t word) {
  crc ^= word;
  for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  return crc;
}

constexpr uint32_t crc32_of(std::span<const uint32_t> words) {
  uint32_t crc = 0xffffffff;
  for (const uint32_t word : words) crc = crc32_word(crc, word);
  return ~crc;
}

}  // namespace weft
