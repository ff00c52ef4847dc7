// SPDX-License-Identifier: Apache-2.0
// Words as $readmemh reads them: hexadecimal digits, a word a line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::selftest {

/// Bytes of one word, the lowest first.
inline std::string hex_line(std::span<const uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string line;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    line += digits[*byte >> 4];
    line += digits[*byte & 15];
  }
  return line + '\n';
}

/// Records with a pack().
template <typename Record>
std::string hex_text(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) text += hex_line(pack(record));
  return text;
}

inline std::string hex_text(const std::vector<uint32_t>& words) {
  std::string text;
  for (const uint32_t word : words) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(word >> (8 * i));
    text += hex_line(bytes);
  }
  return text;
}

}  // namespace weft::selftest
