// SPDX-License-Identifier: Apache-2.0
// JSON files of which each fault is told with its line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fault.hpp"

namespace weft::json_text {

using nlohmann::json;

/// Under this key each object keeps the line that it begins in.
inline constexpr const char* line_key = "\nline";

/// The line of the last character that was read, from 1.
struct Place {
  uint64_t line = 1;
  bool at_end = false;  ///< of the line
};

/// Characters of a text, that note where the reader is.
class Characters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Characters(const char* at, Place& place) : at_(at), place_(&place) {}
  reference operator*() const {
    if (std::exchange(place_->at_end, false)) ++place_->line;
    return *at_;
  }
  Characters& operator++() {
    place_->at_end = *at_ == '\n';
    ++at_;
    return *this;
  }
  bool operator==(const Characters& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  Place* place_;
};

/// Throws Fault, "NAME:LINE: is no JSON".
inline json parse(std::string_view text, const std::string& name) {
  Place place;
  std::vector<uint64_t> begins;
  const auto note_lines = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) begins.push_back(place.line);
    if (event == json::parse_event_t::object_end) {
      parsed[line_key] = begins.back();
      begins.pop_back();
    }
    return true;
  };
  try {
    const char* begin = text.data();
    return json::parse(Characters(begin, place), Characters(begin + text.size(), place), note_lines);
  } catch (const json::exception&) {
    throw Fault(fmt::format("{}:{}: is no JSON", name, place.line));
  }
}

/// What an exception of the library says, without its number.
inline std::string_view words_of(const std::exception& error) {
  const std::string_view what = error.what();
  return what.starts_with("[json.") ? what.substr(std::min(what.find(' ') + 1, what.size())) : what;
}

/// Does something with an object of the file; exceptions other than Fault become one that names its line.
/// @param more words between the line and what is wrong
template <typename Work>
void within(const json& object, const std::string& name, Work&& work, std::string_view more = "") {
  try {
    std::forward<Work>(work)();
  } catch (const Fault&) {
    throw;
  } catch (const std::exception& error) {
    const uint64_t line = object.is_object() ? object.at(line_key).get<uint64_t>() : 1;
    throw Fault(fmt::format("{}:{}: {}{}", name, line, more, words_of(error)));
  }
}

/// A value, fit for a message of one line.
inline std::string quotable(const json& value) {
  if (value.is_structured()) return value.type_name();
  const std::string text = value.dump();
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

}  // namespace weft::json_text
