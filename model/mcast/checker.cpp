// SPDX-License-Identifier: Apache-2.0
// Packets along tables.
#include "mcast/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace weft::mcast {

namespace {

class Walker {
 public:
  Walker(const topology::Graph& graph, const Groups& groups, const FabricTables& tables)
      : graph_(graph),
        groups_(groups),
        tables_(tables),
        owner_(graph.switches()),
        visit_(graph.switches()),
        copies_(graph.hosts()),
        arrived_(graph.hosts()),
        on_tree_(graph.hosts()) {
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      owner_[sw].assign(tables.switches[sw].size(), none);
      visit_[sw].assign(tables.switches[sw].size(), 0);
    }
  }

  std::vector<std::string> run() {
    if (tables_.groups.size() != groups_.count())
      return {fmt::format("tables for {} groups, there are {}", tables_.groups.size(), groups_.count())};
    check_entries();
    std::map<uint32_t, std::vector<uint32_t>> trees;
    for (uint32_t group = 0; group < groups_.count(); ++group) {
      if (groups_.is_local(group)) continue;
      if (tables_.groups[group].colour == none)
        say(fmt::format("group {} has no color", group));
      else
        trees[tables_.groups[group].tree].push_back(group);
    }
    for (const auto& [tree, groups] : trees) {
      if (findings_.size() >= most_findings) break;
      check_tree(tree, groups);
    }
    return std::move(findings_);
  }

 private:
  void say(std::string what) {
    const bool known = std::find(findings_.begin(), findings_.end(), what) != findings_.end();
    if (!known && findings_.size() < most_findings) findings_.push_back(std::move(what));
  }

  /// By number, and name if it has one.
  static std::string name_of(const char* kind, uint32_t number, const topology::Node& node) {
    return fmt::format("{} {}{}", kind, number, node.name.empty() ? "" : fmt::format(" \"{}\"", node.name));
  }
  std::string switch_name(uint32_t sw) const { return name_of("switch", sw, graph_.switch_info(sw)); }
  std::string host_name(uint32_t host) const { return name_of("host", host, graph_.host_info(host)); }

  void check_entries() {
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      const auto& entries = tables_.switches[sw];
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].colour >= tables_.limit)
          say(fmt::format("{} has color {}, only 0 to {} are allowed", switch_name(sw), entries[i].colour,
                          tables_.limit - 1));
        const bool again = i > 0 && entries[i].colour == entries[i - 1].colour;
        if (again && tables_.kind == Tables::of_switch)
          say(fmt::format("{} has two entries for color {}", switch_name(sw), entries[i].colour));
      }
      if (tables_.kind == Tables::of_port) check_ports(sw);
      if (tables_.kind == Tables::of_switch && entries.size() > tables_.limit)
        say(fmt::format("{} has {} entries, only {} are allowed", switch_name(sw), entries.size(),
                        tables_.limit));
    }
  }

  /// Each of a switch's ports has at most one entry of a colour.
  void check_ports(uint32_t sw) {
    std::set<std::pair<uint32_t, uint16_t>> seen;
    for (const TableEntry& entry : tables_.switches[sw])
      for (const uint16_t port : entry.ports)
        if (!seen.insert({entry.colour, port}).second)
          say(fmt::format("port {} of {} has two entries for color {}", port, switch_name(sw), entry.colour));
  }

  void check_tree(uint32_t tree, const std::vector<uint32_t>& groups) {
    tree_ = tree;
    colour_ = tables_.groups[groups.front()].colour;
    std::map<uint32_t, std::vector<uint32_t>> of_host;  // its groups
    for (const uint32_t group : groups) {
      if (tables_.groups[group].colour != colour_)
        say(fmt::format("groups {} and {} share tree {} but not their color", groups.front(), group, tree));
      for (const uint32_t host : groups_.members(group)) of_host[host].push_back(group);
    }
    on_tree_now_++;
    for (const auto& [host, own] : of_host) on_tree_[host] = on_tree_now_;
    for (const auto& [host, own] : of_host) {
      send(host);
      for (const uint32_t group : own) check_members(host, group);
      if (findings_.size() >= most_findings) return;
    }
  }

  void check_members(uint32_t from, uint32_t group) {
    for (const uint32_t member : groups_.members(group)) {
      if (member == from) continue;
      const uint32_t copies = arrived_[member] == walk_ ? copies_[member] : 0;
      if (copies != 1)
        say(fmt::format("group {}: a packet from {} comes to {} {} times", group, host_name(from),
                        host_name(member), copies));
    }
  }

  struct Packet {
    uint32_t sw;
    uint16_t port;  // that it came in by
  };

  void send(uint32_t host) {
    ++walk_;
    const topology::Arc& arc = graph_.attachments(host).front();
    queue_.assign(1, {arc.node, arc.peer_port});
    for (std::size_t i = 0; i < queue_.size(); ++i) pass(host, queue_[i]);
  }

  /// The entry for a packet; beyond the last one if there is none.
  std::size_t entry_for(const Packet& packet) const {
    const auto& entries = tables_.switches[packet.sw];
    const auto fits = [&](const TableEntry& entry) {
      return entry.colour == colour_ &&
             std::binary_search(entry.ports.begin(), entry.ports.end(), packet.port);
    };
    return static_cast<std::size_t>(std::find_if(entries.begin(), entries.end(), fits) - entries.begin());
  }

  void pass(uint32_t from, const Packet packet) {
    const auto& entries = tables_.switches[packet.sw];
    const std::size_t index = entry_for(packet);
    if (index == entries.size())
      return say(fmt::format("tree {}: {} has no entry of color {} for port {}", tree_,
                             switch_name(packet.sw), colour_, packet.port));
    if (std::exchange(visit_[packet.sw][index], walk_) == walk_)
      return say(fmt::format("tree {}: a packet from {} comes to {} twice", tree_, host_name(from),
                             switch_name(packet.sw)));
    const uint32_t before = std::exchange(owner_[packet.sw][index], tree_);
    if (before != none && before != tree_)
      say(fmt::format("trees {} and {} share color {} in {}", before, tree_, colour_,
                      switch_name(packet.sw)));
    for (const uint16_t port : entries[index].ports)
      if (port != packet.port) copy(from, packet.sw, port);
  }

  void copy(uint32_t from, uint32_t sw, uint16_t port) {
    const uint32_t id = graph_.link_at(sw, port);
    if (id == topology::no_link)
      return say(fmt::format("tree {}: nothing is connected to port {} of {}", tree_, port, switch_name(sw)));
    const topology::Link& link = graph_.link(id);
    if (!graph_.is_host_link(id)) {
      const bool at_a = link.a == sw && link.a_port == port;
      queue_.push_back(at_a ? Packet{link.b, link.b_port} : Packet{link.a, link.a_port});
      return;
    }
    copies_[link.a] = std::exchange(arrived_[link.a], walk_) == walk_ ? copies_[link.a] + 1 : 1;
    if (on_tree_[link.a] != on_tree_now_ || link.a == from)
      say(fmt::format("tree {}: a packet from {} comes to {}", tree_, host_name(from), host_name(link.a)));
  }

  const topology::Graph& graph_;
  const Groups& groups_;
  const FabricTables& tables_;
  std::vector<std::string> findings_;
  uint32_t tree_ = 0, colour_ = 0, walk_ = 0, on_tree_now_ = 0;
  std::vector<std::vector<uint32_t>> owner_, visit_;  // of each entry: its tree; the last packet
  std::vector<uint32_t> copies_, arrived_;            // of each host: of the last packet that came
  std::vector<uint32_t> on_tree_;
  std::vector<Packet> queue_;
};

}  // namespace

std::vector<std::string> check(const topology::Graph& graph, const Groups& groups,
                               const FabricTables& tables) {
  return Walker(graph, groups, tables).run();
}

}  // namespace weft::mcast
