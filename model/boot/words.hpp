// SPDX-License-Identifier: Apache-2.0
// Numbers and words of what users write.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::boot {

inline std::optional<uint64_t> number(std::string_view text, int base = 10) {
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

inline std::string in_quotes(std::string_view word) {
  std::string safe;
  for (const char c : word.substr(0, 60)) safe += c >= ' ' && c <= '~' ? c : '?';
  return "'" + safe + "'";
}

inline std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

inline std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> found;
  while (line.find_first_not_of(blanks) != std::string_view::npos) {
    line.remove_prefix(line.find_first_not_of(blanks));
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    found.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return found;
}

}  // namespace weft::boot
