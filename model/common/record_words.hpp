// SPDX-License-Identifier: Apache-2.0
// Records as 32-bit words, lowest bits first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

template <std::size_t bytes>
void append_words(std::vector<uint32_t>& words, const std::array<uint8_t, bytes>& packed) {
  for (std::size_t i = 0; i < bytes; i += 4)
    words.push_back(uint32_t{packed[i]} | uint32_t{packed[i + 1]} << 8 | uint32_t{packed[i + 2]} << 16 |
                    uint32_t{packed[i + 3]} << 24);
}

template <std::size_t bytes>
std::vector<uint32_t> record_words(const std::array<uint8_t, bytes>& packed) {
  std::vector<uint32_t> words;
  append_words(words, packed);
  return words;
}

/// @param words at least as many as the record has
template <std::size_t bytes>
std::array<uint8_t, bytes> bytes_of(std::span<const uint32_t> words) {
  std::array<uint8_t, bytes> packed{};
  for (std::size_t i = 0; i < bytes; ++i) packed[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
  return packed;
}

}  // namespace weft
