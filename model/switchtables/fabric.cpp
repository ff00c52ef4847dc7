// SPDX-License-Identifier: Apache-2.0
// What is behind the ports of a fabric's switches.
#include "switchtables/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "topology/distances.hpp"
#include "topology/spec.hpp"

namespace weft::switchtables {

namespace {

constexpr uint32_t most_switch_ports = 64;
constexpr uint32_t gone = std::numeric_limits<uint32_t>::max();

std::optional<route::Grid> grid_if_any(const std::string& spec) {
  if (!spec.starts_with("kfat2d:")) return std::nullopt;
  return route::grid_of(spec);
}

/// New numbers of those that stay; `gone` for others. @param whole gets the old number of each
std::vector<uint32_t> numbered(const std::vector<bool>& stays, std::vector<uint32_t>& whole) {
  std::vector<uint32_t> numbers(stays.size(), gone);
  for (uint32_t i = 0; i < stays.size(); ++i) {
    if (!stays[i]) continue;
    numbers[i] = static_cast<uint32_t>(whole.size());
    whole.push_back(i);
  }
  return numbers;
}

/// Without hosts behind ports that lookup blocks cannot have. @param left_out gets how many these are
/// @param kept gets the others, if any are left out
topology::Graph within_blocks(topology::Graph graph, uint32_t& left_out, std::vector<uint32_t>& kept) {
  std::vector<bool> stays(graph.hosts());
  for (uint32_t host = 0; host < graph.hosts(); ++host)
    stays[host] = graph.attachments(host).front().peer_port <= most_switch_ports;
  std::vector<uint32_t> hosts;
  const auto new_host = numbered(stays, hosts);
  left_out = graph.hosts() - static_cast<uint32_t>(hosts.size());
  if (left_out == 0) return graph;
  kept = hosts;
  topology::Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    parts.switches.push_back(graph.switch_info(sw));
    uint32_t& ports = parts.switches.back().ports;
    const bool more = std::ranges::any_of(
        graph.neighbours(sw), [](const topology::Arc& arc) { return arc.port > most_switch_ports; });
    if (!more) ports = std::min(ports, most_switch_ports);
  }
  for (const uint32_t host : hosts) parts.hosts.push_back(graph.host_info(host));
  for (uint32_t i = 0; i < graph.links(); ++i) {
    const topology::Link& link = graph.link(i);
    if (!graph.is_host_link(i))
      parts.switch_links.push_back(link);
    else if (new_host[link.a] != gone && link.b_port <= most_switch_ports)
      parts.host_links.push_back(
          {new_host[link.a], link.b, link.a_port, link.b_port, graph.port_guid(i), link.mbps, graph.lids(i)});
  }
  return topology::Graph(std::move(parts));
}

}  // namespace

Fabric::Fabric(const std::string& spec)
    : graph_(within_blocks(topology::load(spec), left_out_, kept_)), grid_(grid_if_any(spec)) {
  look_behind();
  has_lids_ = graph_.lids(attachment(0).link).first != 0 && hosts_without_lid().empty();
  if (most_ports() > most_switch_ports)
    throw Fault(fmt::format("{}: switches have up to {} ports, lookup blocks at most {}", spec, most_ports(),
                            most_switch_ports));
}

Fabric::Fabric(topology::Graph graph, const Fabric& whole, std::vector<uint32_t> switches,
               std::vector<uint32_t> hosts)
    : has_lids_(whole.has_lids_),
      graph_(std::move(graph)),
      grid_(whole.grid_),
      whole_switches_(std::move(switches)),
      whole_hosts_(std::move(hosts)) {
  look_behind();
}

void Fabric::look_behind() {
  far_.resize(graph_.switches());
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
    auto& far = far_[sw];
    const auto add = [&far](const topology::Arc& arc, Far::Kind kind) {
      if (far.size() < arc.port) far.resize(arc.port);
      far[arc.port - 1u] = {kind, arc.node, arc.peer_port};
    };
    for (const topology::Arc& arc : graph_.neighbours(sw)) add(arc, Far::Kind::sw);
    for (const topology::Arc& arc : graph_.hosts_at(sw)) add(arc, Far::Kind::host);
  }
}

std::vector<uint32_t> Fabric::hosts_without_lid() const {
  std::vector<uint32_t> without;
  for (uint32_t host = 0; host < graph_.hosts(); ++host)
    if (graph_.lids(attachment(host).link).first == 0) without.push_back(host);
  if (without.size() == graph_.hosts()) without.clear();
  return without;
}

topology::Lids Fabric::lids(uint32_t host, const topology::Arc& at) const {
  if (has_lids_) return graph_.lids(at.link);
  if (whole_host(host) >= topology::most_unicast_lid)
    throw Fault(fmt::format("more than {} hosts: there are no more LIDs", topology::most_unicast_lid));
  return at == attachment(host) ? topology::Lids{static_cast<uint16_t>(whole_host(host) + 1), 0}
                                : topology::Lids();
}

uint32_t Fabric::most_ports() const {
  uint32_t most = 0;
  for (const auto& far : far_) most = std::max(most, static_cast<uint32_t>(far.size()));
  return most;
}

switch_lookup::Ports Fabric::alive(uint32_t sw) const {
  switch_lookup::Ports ports = 0;
  for (uint32_t port = 1; port <= far_[sw].size(); ++port)
    if (behind(sw, port).kind != Far::Kind::nothing) ports |= switch_lookup::port_bit(port);
  return ports;
}

Fabric Fabric::alive_of(const Faults& faults) const {
  std::vector<bool> switch_stays(graph_.switches()), host_stays(graph_.hosts());
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw) switch_stays[sw] = !faults.switches[sw];
  for (uint32_t host = 0; host < graph_.hosts(); ++host)
    host_stays[host] = switch_stays[attachment(host).node];
  std::vector<uint32_t> switches, hosts;
  const auto new_switch = numbered(switch_stays, switches), new_host = numbered(host_stays, hosts);
  topology::Parts parts;
  for (const uint32_t sw : switches) parts.switches.push_back(graph_.switch_info(sw));
  for (const uint32_t host : hosts) parts.hosts.push_back(graph_.host_info(host));
  for (uint32_t i = 0; i < graph_.links(); ++i) {
    const topology::Link& link = graph_.link(i);
    if (graph_.is_host_link(i)) {
      if (new_host[link.a] != gone && new_switch[link.b] != gone)
        parts.host_links.push_back({new_host[link.a], new_switch[link.b], link.a_port, link.b_port,
                                    graph_.port_guid(i), link.mbps, graph_.lids(i)});
    } else if (!faults.links[i] && new_switch[link.a] != gone && new_switch[link.b] != gone) {
      parts.switch_links.push_back({new_switch[link.a], new_switch[link.b], link.a_port, link.b_port});
    }
  }
  if (hosts.empty()) throw Fault("no switch with hosts is left");
  topology::Graph graph(std::move(parts));
  if (topology::first_cut_off(graph)) throw Fault("without what is dead the fabric is not connected");
  return {std::move(graph), *this, std::move(switches), std::move(hosts)};
}

}  // namespace weft::switchtables
