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

/// Of a two-dimensional fat tree: leaf switches, row switches, column switches.
bool switch_alive(const route::Health& health, uint32_t sw) {
  const route::Grid& grid = health.grid();
  if (sw < grid.leaves()) return health.alive(grid.leaf(sw));
  const uint32_t line = sw - grid.leaves();
  return line < grid.rows ? health.alive(route::Dimension::row, line)
                          : health.alive(route::Dimension::column, line - grid.rows);
}

/// Of a leaf switch and a row or column switch.
bool link_alive(const route::Health& health, const topology::Link& link) {
  const route::Grid& grid = health.grid();
  const uint32_t leaf = std::min(link.a, link.b), line = std::max(link.a, link.b) - grid.leaves();
  return health.attached(grid.leaf(leaf),
                         line < grid.rows ? route::Dimension::row : route::Dimension::column);
}

}  // namespace

Fabric::Fabric(const std::string& spec) : graph_(topology::load(spec)), grid_(grid_if_any(spec)) {
  look_behind();
  if (most_ports() > most_switch_ports)
    throw Fault(fmt::format("{}: switches have up to {} ports, lookup blocks at most {}", spec, most_ports(),
                            most_switch_ports));
}

Fabric::Fabric(topology::Graph graph, std::optional<route::Grid> grid, std::vector<uint32_t> switches,
               std::vector<uint32_t> hosts)
    : graph_(std::move(graph)),
      grid_(grid),
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

Fabric Fabric::alive_of(const route::Health& health) const {
  if (!grid_) throw Fault("switches and links can fail in a kfat2d only");
  std::vector<bool> switch_stays(graph_.switches()), host_stays(graph_.hosts());
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw) switch_stays[sw] = switch_alive(health, sw);
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
      if (new_host[link.a] != gone)
        parts.host_links.push_back(
            {new_host[link.a], new_switch[link.b], link.a_port, link.b_port, graph_.port_guid(i)});
    } else if (link_alive(health, link)) {
      parts.switch_links.push_back({new_switch[link.a], new_switch[link.b], link.a_port, link.b_port});
    }
  }
  if (hosts.empty()) throw Fault("no leaf switch is left");
  topology::Graph graph(std::move(parts));
  if (topology::first_cut_off(graph)) throw Fault("without what is dead the fabric is not connected");
  return {std::move(graph), grid_, std::move(switches), std::move(hosts)};
}

}  // namespace weft::switchtables
