// SPDX-License-Identifier: Apache-2.0
// The format in which OpenSM dumps multicast forwarding tables.
#include "mcast/mcfdbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "common/input_file.hpp"
#include "mcast/opensm_order.hpp"

namespace weft::mcast {

namespace {

constexpr std::string_view heading = "LID    : Out Port(s)";
constexpr uint32_t last_port = 254;

/// 0x and hexadecimal digits, no more than `digits`.
std::optional<uint64_t> parse_hex(std::string_view text, std::size_t digits) {
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 2 + digits) return std::nullopt;
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + 2, end, number, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

/// The next word of a line, and what follows it.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

/// The start of some text, fit for a message of one line.
std::string quotable(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, 40)) safe += c >= ' ' && c < '\x7f' ? c : '?';
  return safe;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  ForwardingTables read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      take_line(line);
    }
    if (want_heading_) fail("the file ends after the name of a switch");
    return std::move(tables_);
  }

 private:
  void take_line(std::string_view line) {
    if (want_heading_) {
      if (line != heading) fail(fmt::format("'{}', expected '{}'", quotable(line), heading));
      want_heading_ = false;
    } else if (line.starts_with("Switch ")) {
      take_switch(line.substr(7));
    } else if (line.starts_with("0x")) {
      take_entry(line);
    } else if (!line.empty()) {
      fail(fmt::format("'{}' is neither a switch nor an entry", quotable(line)));
    }
  }

  void take_switch(std::string_view text) {
    const auto guid = parse_hex(text, 16);
    if (!guid || *guid == 0) fail(fmt::format("'{}' is not the GUID of a switch", quotable(text)));
    const auto [at, is_new] = tables_.try_emplace(*guid);
    if (!is_new) fail(fmt::format("switch {:#018x} is there twice", *guid));
    entries_ = &at->second;
    want_heading_ = true;
  }

  void take_entry(std::string_view rest) {
    if (entries_ == nullptr) fail("an entry before the first switch");
    const std::string_view text = take_word(rest);
    const auto mlid = parse_hex(text, 4);
    if (!mlid || *mlid < first_mlid || *mlid > last_mlid)
      fail(fmt::format("'{}' is not an MLID, 0xC000 to 0xFFFE", quotable(text)));
    if (take_word(rest) != ":") fail("there is no ':' after the MLID");
    const auto [at, is_new] = entries_->try_emplace(static_cast<uint16_t>(*mlid));
    if (!is_new) fail(fmt::format("MLID 0x{:04X} is there twice in this switch", *mlid));
    take_ports(rest, at->second);
    if (at->second.empty()) fail("an entry without ports");
  }

  void take_ports(std::string_view rest, PortMask& mask) {
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      const auto port = parse_hex(word, 3);
      if (!port || *port > last_port) fail(fmt::format("'{}' is not a port, 0x000 to 0x0FE", quotable(word)));
      if (mask.test(static_cast<uint32_t>(*port))) fail(fmt::format("port {:#05x} is there twice", *port));
      mask.set(static_cast<uint32_t>(*port));
    }
  }

  [[noreturn]] void fail(const std::string& fault) const {
    throw Fault(fmt::format("{}:{}: {}", name_, line_, fault));
  }

  const std::string& name_;
  uint64_t line_ = 0;
  bool want_heading_ = false;
  ForwardingTables tables_;
  Entries* entries_ = nullptr;
};

std::vector<uint64_t> in_order_of_opensm(const ForwardingTables& tables) {
  std::vector<uint64_t> guids;
  for (const auto& [guid, entries] : tables)
    if (!entries.empty()) guids.push_back(guid);
  std::sort(guids.begin(), guids.end(), [](uint64_t a, uint64_t b) { return opensm_key(a) < opensm_key(b); });
  return guids;
}

}  // namespace

ForwardingTables read_mcfdbs(std::string_view text, const std::string& name) {
  return Reader(name).read(text);
}

ForwardingTables read_mcfdbs_file(const std::filesystem::path& file) {
  return read_mcfdbs(read_whole<Fault>(file), file.string());
}

std::string write_mcfdbs(const ForwardingTables& tables) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const uint64_t guid : in_order_of_opensm(tables)) {
    fmt::format_to(out, "\nSwitch {:#018x}\n{}\n", guid, heading);
    for (const auto& [mlid, mask] : tables.at(guid)) {
      fmt::format_to(out, "0x{:04X} :", mlid);
      mask.for_each([&out](uint32_t port) { fmt::format_to(out, " 0x{:03X} ", port); });
      text += '\n';
    }
  }
  return text;
}

}  // namespace weft::mcast
