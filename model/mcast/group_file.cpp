// SPDX-License-Identifier: Apache-2.0
// Groups from a file, one a line.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/input_file.hpp"
#include "mcast/groups.hpp"
#include "topology/host_names.hpp"

namespace weft::mcast {

namespace {

constexpr std::string_view blanks = " \t\r,";

struct Word {
  std::string_view text;
  bool marked;  ///< by quotation marks
};

/// The next word of a line; nothing if there is none.
std::optional<Word> next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  if (line.empty() || line.front() == '#') return std::nullopt;
  const bool marked = line.front() == '"';
  if (marked) line.remove_prefix(1);
  const std::size_t end = marked ? line.find('"') : line.find_first_of(blanks);
  if (marked && end == line.npos) throw Fault("a quotation mark is not closed");
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(word.size() + (marked ? 1 : 0), line.size()));
  return Word{word, marked};
}

/// No hosts: a line without a group.
std::vector<uint32_t> parse_group(std::string_view line, const topology::HostNames& names) {
  std::vector<uint32_t> hosts;
  while (const auto word = next_word(line))
    hosts.push_back(word->marked ? names.find_name(word->text) : names.find(word->text));
  if (hosts.size() == 1) throw Fault("a group of one host");
  std::vector<uint32_t> sorted = hosts;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw Fault(fmt::format("host {} is there twice", *twice));
  return hosts;
}

}  // namespace

Groups read_groups(std::string_view text, const std::string& name, const topology::Graph& graph) {
  const topology::HostNames names(graph);
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
