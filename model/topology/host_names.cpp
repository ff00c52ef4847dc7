// SPDX-License-Identifier: Apache-2.0
// Hosts by number, GUID or name.
#include "topology/host_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace weft::topology {

namespace {

constexpr std::size_t most_quoted = 60;  // bytes of a word in a message

/// A word of a file, fit for a message of one line.
std::string quoted(std::string_view word) {
  std::string safe;
  for (const char c : word.substr(0, most_quoted)) safe += c >= ' ' && c <= '~' ? c : '?';
  return fmt::format("'{}{}'", safe, word.size() > most_quoted ? "..." : "");
}

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

HostNames::HostNames(const Graph& graph) : graph_(graph) {
  for (uint32_t host = 0; host < graph.hosts(); ++host) {
    const auto [known, is_new] = by_name_.emplace(graph.host_info(host).name, host);
    if (!is_new) known->second = several;
    add_guid(graph.host_info(host).guid, {host, 0});
    const auto arcs = graph.attachments(host);
    for (const Arc& arc : arcs)
      add_guid(graph.port_guid(arc.link), {host, arc.port == arcs.front().port ? uint16_t{0} : arc.port});
  }
}

void HostNames::add_guid(uint64_t guid, const Owner& owner) {
  const auto [known, is_new] = by_guid_.emplace(guid, owner);
  if (!is_new && known->second.host != owner.host) known->second.host = several;
}

uint32_t HostNames::find_guid(uint64_t guid, std::string_view word) const {
  const auto known = by_guid_.find(guid);
  if (known == by_guid_.end()) throw Fault(fmt::format("there is no host with GUID {}", quoted(word)));
  const auto [host, port] = known->second;
  if (host == several) throw Fault(fmt::format("several hosts have GUID {}", quoted(word)));
  if (port == 0) return host;
  const uint16_t first = graph_.attachments(host).front().port;
  throw Fault(
      fmt::format("{:#x} is port {} of \"{}\", which takes part by port {} only: name the host, or port {}",
                  guid, port, graph_.host_info(host).name, first, first));
}

uint32_t HostNames::find(std::string_view word) const {
  if (const auto guid = word.starts_with("0x") ? number(word.substr(2), 16) : std::nullopt)
    return find_guid(*guid, word);
  if (const auto host = number(word, 10)) {
    if (*host >= graph_.hosts())
      throw Fault(fmt::format("there is no host {}, only 0 to {}", *host, graph_.hosts() - 1));
    return static_cast<uint32_t>(*host);
  }
  return find_name(word);
}

uint32_t HostNames::find_name(std::string_view name) const {
  const auto known = by_name_.find(std::string(name));
  if (known == by_name_.end()) throw Fault(fmt::format("there is no host {}", quoted(name)));
  if (known->second == several) throw Fault(fmt::format("several hosts are called {}", quoted(name)));
  return known->second;
}

}  // namespace weft::topology
