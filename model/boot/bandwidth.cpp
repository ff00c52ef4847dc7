// SPDX-License-Identifier: Apache-2.0
// Shares of links.
#include "boot/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace weft::boot {

namespace {

/// CPUs that use each link of a segment.
template <typename IndexOf>
std::vector<uint32_t> loads(uint64_t links, std::size_t cpus, IndexOf index_of) {
  std::vector<uint32_t> load(links, 0);
  for (std::size_t i = 0; i < cpus; ++i) ++load[index_of(i)];
  return load;
}

double least_share(const Machine& machine, uint32_t segment, const std::vector<uint32_t>& loads) {
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t link = 0; link < loads.size(); ++link)
    if (loads[link] != 0) least = std::min(least, machine.link_mbps(segment, link) / loads[link]);
  return least;
}

double least_of_nodes(const Machine& machine, const std::vector<uint32_t>& cpus) {
  if (machine.own_mbps[0].empty()) return machine.links[0].total();
  double least = std::numeric_limits<double>::infinity();
  for (const uint32_t cpu : cpus) least = std::min(least, machine.link_mbps(0, cpu));
  return least;
}

/// N1 to N3, which no mapping changes.
std::array<double, 3> compute_side(const Machine& machine, const std::vector<uint32_t>& cpus) {
  const auto boards =
      loads(machine.boards(), cpus.size(), [&](std::size_t i) { return machine.board_of(cpus[i]); });
  const auto supernodes =
      loads(machine.supernodes, cpus.size(), [&](std::size_t i) { return machine.supernode_of(cpus[i]); });
  return {least_of_nodes(machine, cpus), least_share(machine, 1, boards),
          least_share(machine, 2, supernodes)};
}

/// What all servers that are alive can give at the same time.
double all_servers_mbps(const Machine& machine) {
  std::vector<double> edges(machine.edges(), 0);
  for (uint32_t server = 0; server < machine.servers; ++server) {
    if (!machine.failed_servers.contains(server))
      edges[machine.edge_of(server)] += machine.server_mbps(server);
  }
  double all_mbps = 0;
  for (uint32_t edge = 0; edge < edges.size(); ++edge)
    all_mbps += std::min(edges[edge], machine.link_mbps(3, edge));
  return all_mbps;
}

}  // namespace

Bandwidth bandwidth_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                       const std::vector<uint32_t>& servers) {
  const auto near = compute_side(machine, cpus);
  const auto edges =
      loads(machine.edges(), cpus.size(), [&](std::size_t i) { return machine.edge_of(servers[i]); });
  const auto by_server = loads(machine.servers, cpus.size(), [&](std::size_t i) { return servers[i]; });
  Bandwidth found;
  found.mbps = {near[0], near[1], near[2], least_share(machine, 3, edges),
                least_share(machine, 4, by_server)};
  found.least_mbps = *std::min_element(found.mbps.begin(), found.mbps.end());
  found.boot_seconds = machine.image_megabits / found.least_mbps;
  found.limiting = limiting_of(found.mbps);
  return found;
}

double flow_bound(const Machine& machine, const std::vector<uint32_t>& cpus) {
  const auto near = compute_side(machine, cpus);
  return std::min(*std::min_element(near.begin(), near.end()),
                  all_servers_mbps(machine) / static_cast<double>(cpus.size()));
}

std::array<double, 3> least_links(const Machine& machine, const std::vector<uint32_t>& cpus) {
  std::array<double, 3> least = {least_of_nodes(machine, cpus), machine.links[1].total(),
                                 machine.links[2].total()};
  const std::array<std::function<uint32_t(uint32_t)>, 3> place = {
      nullptr, [&](uint32_t cpu) { return machine.board_of(cpu); },
      [&](uint32_t cpu) { return machine.supernode_of(cpu); }};
  for (uint32_t segment = 1; segment < 3; ++segment) {
    if (machine.own_mbps[segment].empty()) continue;
    least[segment] = std::numeric_limits<double>::infinity();
    for (const uint32_t cpu : cpus)
      least[segment] = std::min(least[segment], machine.link_mbps(segment, place[segment](cpu)));
  }
  return least;
}

double replication_bound(const Machine& machine, const std::vector<uint32_t>& cpus) {
  if (cpus.empty()) return 0;
  const auto least = least_links(machine, cpus);
  return std::min(*std::min_element(least.begin(), least.end()), all_servers_mbps(machine));
}

std::string limiting_of(const std::array<double, segments>& mbps) {
  const double least = *std::min_element(mbps.begin(), mbps.end());
  std::string limiting;
  for (uint32_t segment = 0; segment < segments; ++segment) {
    if (mbps[segment] > least * (1 + 1e-12)) continue;  // rounding
    limiting += fmt::format("{}N{}", limiting.empty() ? "" : ",", segment + 1);
  }
  return limiting;
}

double hundredths(double value) { return std::floor(value * 100 + 0.5) / 100; }

}  // namespace weft::boot
