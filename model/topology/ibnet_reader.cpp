// SPDX-License-Identifier: Apache-2.0
// From the text of ibnetdiscover or ibsim to a graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/input_file.hpp"
#include "topology/distances.hpp"
#include "topology/ibnet.hpp"
#include "topology/ibnet_lines.hpp"

namespace weft::topology {

namespace {

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Graph read(std::string_view text) {
    read_lines(text);
    if (parts_.switches.empty()) throw Fault(name_ + ": there is no switch in it");
    if (parts_.hosts.empty()) throw Fault(name_ + ": there is no host in it");
    check_guids();
    for (const Plug& plug : plugs_) connect(plug);
    check_port_guids();
    return finish();
  }

 private:
  /// A switch or host as it stands in the file.
  struct Entry {
    Kind kind;
    uint32_t number;  ///< among switches or hosts
    std::string id;
    std::size_t line;
  };
  /// A port that is connected.
  struct Plug {
    uint32_t entry;
    PortLine text;
    std::size_t line;
  };

  [[noreturn]] void fail(std::size_t line, const std::string& fault) const {
    throw Fault(fmt::format("{}:{}: {}", name_, line, fault));
  }

  void read_lines(std::string_view text) {
    for (line_ = 1; !text.empty(); ++line_) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      try {
        Line parsed = parse_line(line);
        std::visit([this](auto& content) { take(content); }, parsed);
      } catch (const BadLine& bad) {
        fail(line_, bad.what());
      }
    }
  }

  void take(std::monostate) {}
  void take(const GuidLine& line) { given_[index(line.kind)] = line.guid; }

  void take(const NodeLine& line) {
    const auto entry = static_cast<uint32_t>(entries_.size());
    const auto [known, is_new] = number_of_.emplace(line.id, entry);
    if (!is_new)
      fail(line_, fmt::format("\"{}\" for the second time, first in line {}", quotable(line.id),
                              entries_[known->second].line));
    auto& nodes = line.kind == Kind::sw ? parts_.switches : parts_.hosts;
    entries_.push_back({line.kind, static_cast<uint32_t>(nodes.size()), line.id, line_});
    nodes.push_back({next_guid(line), line.name, line.ports, line.kind == Kind::router});
  }

  void take(PortLine& line) {
    if (entries_.empty()) fail(line_, "a port, but no switch or host before it");
    const auto entry = static_cast<uint32_t>(entries_.size() - 1);
    check_port(line_, "", entry, line.port);
    if (!line.peer) return;
    const auto [known, is_new] = plug_at_.emplace(place(entry, line.port), plugs_.size());
    if (!is_new)
      fail(line_, fmt::format("port {} for the second time, first in line {}", line.port,
                              plugs_[known->second].line));
    plugs_.push_back({entry, std::move(line), line_});
  }

  static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }
  static uint64_t place(uint32_t entry, uint32_t port) { return uint64_t{entry} << 8 | port; }

  const Node& node(const Entry& entry) const {
    return (entry.kind == Kind::sw ? parts_.switches : parts_.hosts)[entry.number];
  }

  void check_port(std::size_t line, const char* what, uint32_t entry, uint32_t port) const {
    const uint32_t ports = node(entries_[entry]).ports;
    if (port == 0 || port > ports)
      fail(line, fmt::format("{}port {} of \"{}\", which has 1 to {}", what, port,
                             quotable(entries_[entry].id), ports));
  }

  /// The line before; else what the id says; else one more than the last, as ibsim counts.
  uint64_t next_guid(const NodeLine& line) {
    std::optional<uint64_t>& given = given_[index(line.kind)];
    const std::optional<uint64_t> own = guid_of_id(line.id);
    uint64_t& next = next_guid_[index(line.kind)];
    const uint64_t guid = given ? *given : own ? *own : next;
    if (given || !own) next = guid + (line.kind == Kind::sw ? 1 : line.ports + 1);
    given.reset();
    if (guid == 0) fail(line_, "GUID 0");
    return guid;
  }

  void check_guids() const {
    std::unordered_map<uint64_t, const Entry*> owners;
    for (const Entry& entry : entries_) {
      const uint64_t guid = node(entry).guid;
      const auto [known, is_new] = owners.emplace(guid, &entry);
      if (!is_new)
        fail(entry.line, fmt::format("GUID {:#x} of \"{}\" is also that of \"{}\" in line {}", guid,
                                     quotable(entry.id), quotable(known->second->id), known->second->line));
    }
  }

  /// The other end of a link, if the file says the same about it there.
  const Plug& peer_of(const Plug& plug) const {
    const PortLine::Peer& peer = *plug.text.peer;
    const auto entry = number_of_.find(peer.id);
    if (entry == number_of_.end())
      fail(plug.line, fmt::format("a link to \"{}\", which is not there", quotable(peer.id)));
    check_port(plug.line, "a link to ", entry->second, peer.port);
    const std::string mirror =
        fmt::format("the link to \"{}\"[{}] is not mirrored: ", quotable(peer.id), peer.port);
    const auto found = plug_at_.find(place(entry->second, peer.port));
    if (found == plug_at_.end()) fail(plug.line, mirror + "nothing is connected there");
    const Plug& other = plugs_[found->second];
    if (other.text.peer->id != entries_[plug.entry].id || other.text.peer->port != plug.text.port)
      fail(plug.line, fmt::format("{}line {} says \"{}\"[{}]", mirror, other.line,
                                  quotable(other.text.peer->id), other.text.peer->port));
    return other;
  }

  /// Each link stands there twice: the first of its lines makes it.
  void connect(const Plug& plug) {
    const Plug& other = peer_of(plug);
    if (other.line <= plug.line) return;  // or the port itself
    const Entry& from = entries_[plug.entry];
    const Entry& to = entries_[other.entry];
    if (&from == &to) return;  // no way leads over a loop
    const auto port = static_cast<uint16_t>(plug.text.port),
               peer_port = static_cast<uint16_t>(other.text.port);
    if (from.kind == Kind::sw && to.kind == Kind::sw)
      parts_.switch_links.push_back({from.number, to.number, port, peer_port, rate(plug, other)});
    else if (to.kind == Kind::sw)
      parts_.host_links.push_back({from.number, to.number, port, peer_port, port_guid(plug, other),
                                   rate(plug, other), lids(plug, other)});
    else if (from.kind == Kind::sw)
      parts_.host_links.push_back({to.number, from.number, peer_port, port, port_guid(other, plug),
                                   rate(plug, other), lids(other, plug)});
    else
      fail(plug.line, "a link between two hosts");
  }

  /// What either end says; the lesser, if they do not agree.
  static uint32_t rate(const Plug& one, const Plug& other) {
    const uint32_t a = one.text.mbps, b = other.text.mbps;
    return a == 0 || b == 0 ? a + b : std::min(a, b);
  }

  /// Both lines may name the GUID of the host's port; without, it is counted up as ibsim does.
  uint64_t port_guid(const Plug& host, const Plug& at_switch) {
    const auto& own = host.text.guid;
    const auto& told = at_switch.text.peer->guid;
    if (own && told && *own != *told)
      fail(at_switch.line, fmt::format("port GUID {:#x}, which is {:#x} in line {}", *told, *own, host.line));
    const uint64_t guid = own ? *own : told ? *told : node(entries_[host.entry]).guid + host.text.port;
    port_guids_.emplace_back(guid, &host);
    return guid;
  }

  /// The host's line names them, the switch's line the first one again.
  Lids lids(const Plug& host, const Plug& at_switch) {
    static constexpr uint32_t permissive = 0xffff;  // of a port that has none yet, as is 0
    const auto known = [](std::optional<uint32_t> lid) { return lid == permissive ? 0 : lid.value_or(0); };
    const uint32_t own = known(host.text.lids.first), told = known(at_switch.text.peer_lid);
    if (own != 0 && told != 0 && own != told)
      fail(at_switch.line, fmt::format("LID {}, which is {} in line {}", told, own, host.line));
    const std::size_t line = own != 0 ? host.line : at_switch.line;
    const uint32_t first = own != 0 ? own : told, lmc = own != 0 ? host.text.lids.lmc.value_or(0) : 0;
    if (first == 0) return {};
    if (const std::string fault = fault_of_lids(first, lmc); !fault.empty()) fail(line, fault);
    const Lids lids{static_cast<uint16_t>(first), static_cast<uint8_t>(lmc)};
    for (uint32_t lid = lids.first; lid < lids.end(); ++lid)
      if (const auto [owner, is_new] = lid_lines_.emplace(lid, line); !is_new)
        fail(line, fmt::format("LID {} is also that of the port in line {}", lid, owner->second));
    return lids;
  }

  void check_port_guids() const {
    std::unordered_map<uint64_t, const Plug*> owners;
    for (const auto& [guid, plug] : port_guids_) {
      const auto [known, is_new] = owners.emplace(guid, plug);
      if (!is_new)
        fail(plug->line,
             fmt::format("port GUID {:#x} is also that of the port in line {}", guid, known->second->line));
    }
  }

  Graph finish() {
    try {
      Graph graph(std::move(parts_));
      if (const auto cut = first_cut_off(graph)) fail_cut_off(*cut);
      return graph;
    } catch (const std::invalid_argument& error) {
      throw Fault(name_ + ": " + error.what());
    }
  }

  const Entry& entry_of(bool host, uint32_t number) const {
    return *std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.number == number && (entry.kind != Kind::sw) == host;
    });
  }

  [[noreturn]] void fail_cut_off(const CutOff& cut) const {
    const Entry &first = entry_of(false, 0), &lost = entry_of(cut.host, cut.node);
    fail(lost.line, fmt::format("\"{}\" is not connected with \"{}\" in line {}", quotable(lost.id),
                                quotable(first.id), first.line));
  }

  const std::string& name_;
  std::size_t line_ = 0;
  Parts parts_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, uint32_t> number_of_;
  std::vector<Plug> plugs_;
  std::unordered_map<uint64_t, std::size_t> plug_at_;
  std::array<std::optional<uint64_t>, 3> given_;
  std::array<uint64_t, 3> next_guid_{0x200000, 0x100000, 0x300000};
  std::vector<std::pair<uint64_t, const Plug*>> port_guids_;
  std::unordered_map<uint32_t, std::size_t> lid_lines_;
};

}  // namespace

Graph read_ibnet(std::string_view text, const std::string& name) { return Reader(name).read(text); }

Graph read_ibnet_file(const std::filesystem::path& file) {
  return read_ibnet(read_whole<Fault>(file), file.string());
}

}  // namespace weft::topology
