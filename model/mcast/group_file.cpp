// SPDX-License-Identifier: Apache-2.0
// Groups from a file, one a line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/input_file.hpp"
#include "mcast/groups.hpp"

namespace weft::mcast {

namespace {

constexpr std::string_view blanks = " \t\r,";
constexpr std::size_t most_quoted = 60;  // bytes of a word in a message

/// A word of the file, fit for a message of one line.
std::string quoted(std::string_view word) {
  std::string safe;
  for (const char c : word.substr(0, most_quoted)) safe += c >= ' ' && c <= '~' ? c : '?';
  return fmt::format("'{}{}'", safe, word.size() > most_quoted ? "..." : "");
}

/// Hosts by all that they can be called.
class Names {
 public:
  explicit Names(const topology::Graph& graph) : hosts_(graph.hosts()) {
    for (uint32_t host = 0; host < hosts_; ++host) {
      add(graph.host_info(host).name, host);
      by_guid_.emplace(graph.host_info(host).guid, host);
      for (const topology::Arc& arc : graph.attachments(host))
        by_guid_.emplace(graph.port_guid(arc.link), host);
    }
  }

  /// The host of this number, GUID (0x...) or name. Throws Fault without place if there is none, or several.
  uint32_t find(std::string_view word) const {
    if (const auto guid = word.starts_with("0x") ? number(word.substr(2), 16) : std::nullopt) {
      const auto known = by_guid_.find(*guid);
      if (known == by_guid_.end()) throw Fault(fmt::format("there is no host with GUID {}", quoted(word)));
      return known->second;
    }
    if (const auto host = number(word, 10)) {
      if (*host >= hosts_) throw Fault(fmt::format("there is no host {}, only 0 to {}", *host, hosts_ - 1));
      return static_cast<uint32_t>(*host);
    }
    const auto known = by_name_.find(std::string(word));
    if (known == by_name_.end()) throw Fault(fmt::format("there is no host {}", quoted(word)));
    if (known->second == several) throw Fault(fmt::format("several hosts are called {}", quoted(word)));
    return known->second;
  }

 private:
  static constexpr uint32_t several = topology::most_hosts;

  void add(const std::string& name, uint32_t host) {
    const auto [known, is_new] = by_name_.emplace(name, host);
    if (!is_new) known->second = several;
  }

  static std::optional<uint64_t> number(std::string_view text, int base) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
  }

  uint32_t hosts_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::unordered_map<uint64_t, uint32_t> by_guid_;
};

/// The next word of a line, with or without quotation marks; nothing if there is none.
std::optional<std::string_view> next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  if (line.empty() || line.front() == '#') return std::nullopt;
  const bool marked = line.front() == '"';
  if (marked) line.remove_prefix(1);
  const std::size_t end = marked ? line.find('"') : line.find_first_of(blanks);
  if (marked && end == line.npos) throw Fault("a quotation mark is not closed");
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(word.size() + (marked ? 1 : 0), line.size()));
  return word;
}

/// No hosts: a line without a group.
std::vector<uint32_t> parse_group(std::string_view line, const Names& names) {
  std::vector<uint32_t> hosts;
  while (const auto word = next_word(line)) hosts.push_back(names.find(*word));
  if (hosts.size() == 1) throw Fault("a group of one host");
  std::vector<uint32_t> sorted = hosts;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw Fault(fmt::format("host {} is there twice", *twice));
  return hosts;
}

}  // namespace

Groups read_groups(std::string_view text, const std::string& name, const topology::Graph& graph) {
  const Names names(graph);
  Groups groups;
  for (uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    try {
      auto hosts = parse_group(text.substr(0, end), names);
      if (!hosts.empty()) groups.add(std::move(hosts));
    } catch (const std::exception& fault) {
      throw Fault(fmt::format("{}:{}: {}", name, number, fault.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (groups.count() == 0) throw Fault(name + ": there is no group in it");
  return groups;
}

Groups read_groups_file(const std::filesystem::path& file, const topology::Graph& graph) {
  return read_groups(read_whole<Fault>(file), file.string(), graph);
}

}  // namespace weft::mcast
