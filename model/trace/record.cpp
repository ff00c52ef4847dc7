// SPDX-License-Identifier: Apache-2.0
// Records and their text.
#include "trace/record.hpp"

#include <algorithm>
#include <charconv>

#include "trace/text.hpp"

namespace weft::trace {
namespace {

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void check_field(const std::string& key, const std::string& value) {
  if (key.empty() || !printable(key) || key.find('=') != std::string::npos) {
    throw BadText("'" + quotable(key) + "' is not a key");
  }
  if (value.empty() || !printable(value))
    throw BadText("the value of '" + key + "' is empty or not printable");
}

}  // namespace

std::optional<std::string> value_of(const Record& record, std::string_view key) {
  if (key == "cycle") return std::to_string(record.cycle);
  if (key == "unit") return record.unit;
  for (const auto& [name, value] : record.fields) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string to_line(const Record& record) {
  std::string line = "cycle=" + std::to_string(record.cycle) + " unit=" + record.unit;
  for (const auto& [key, value] : record.fields) line.append(" ").append(key).append("=").append(value);
  return line;
}

std::string quotable(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string result;
  for (const char c : text.substr(0, most)) result += c >= ' ' && c < 0x7f ? c : '?';
  return text.size() > most ? result + "..." : result;
}

Fields parse_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) throw BadText("'" + quotable(word) + "' is not key=value");
    fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    text.remove_prefix(word.size());
    if (text == " ") throw BadText("a blank at the end of the line");
    if (!text.empty()) text.remove_prefix(1);
  }
  check_fields(fields);
  return fields;
}

void check_fields(const Fields& fields) {
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    check_field(field->first, field->second);
    const bool again =
        std::any_of(fields.begin(), field, [&](const auto& f) { return f.first == field->first; });
    if (again) throw BadText("'" + field->first + "' comes twice");
  }
}

uint64_t parse_number(std::string_view text, const std::string& what) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadText(what + " '" + quotable(text) + "' is not a number");
  }
  return value;
}

Record parse_record(std::string_view line) {
  Record record;
  Fields fields = parse_fields(line);
  if (fields.size() < 2 || fields[0].first != "cycle" || fields[1].first != "unit") {
    throw BadText("a record starts with cycle= and unit=");
  }
  record.cycle = parse_number(fields[0].second, "cycle");
  record.unit = fields[1].second;
  check_unit(record.unit);
  record.fields.assign(std::make_move_iterator(fields.begin() + 2), std::make_move_iterator(fields.end()));
  return record;
}

void check_unit(const std::string& unit) {
  if (std::ranges::find(units, unit) == units.end())
    throw BadText("unit '" + quotable(unit) + "' is none of rx, tx, inbox, queues, network");
}

}  // namespace weft::trace
