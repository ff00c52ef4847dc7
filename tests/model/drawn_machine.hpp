// SPDX-License-Identifier: Apache-2.0
// Small machines that boot, drawn by rapidcheck.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "boot/machine.hpp"

namespace weft::boot {

inline Machine drawn_machine() {
  const auto upto = [](uint32_t most) { return *rc::gen::inRange<uint32_t>(1, most + 1); };
  Machine machine;
  machine.cpus_per_board = upto(4);
  machine.boards_per_supernode = upto(5);
  machine.supernodes = upto(5);
  machine.servers = upto(9);
  machine.servers_per_edge = upto(4);
  for (Link& link : machine.links) link = {static_cast<double>(upto(40)) * 25, upto(3)};
  const std::array<uint64_t, segments - 1> places = {machine.nodes(), machine.boards(), machine.supernodes,
                                                     machine.edges()};
  for (uint32_t segment = 0; segment < places.size(); ++segment) {
    if (upto(3) != 1) continue;
    for (uint64_t place = 0; place < places[segment]; ++place)
      machine.own_mbps[segment].push_back(upto(80) * 25);
  }
  for (uint32_t i = upto(4); i > 1; --i) {
    OwnLimits own;
    if (*rc::gen::arbitrary<bool>()) own.mbps = upto(5000);
    if (*rc::gen::arbitrary<bool>()) own.disk_mbps = upto(2000);
    machine.unequal_servers[upto(machine.servers) - 1] = own;
  }
  for (uint32_t i = upto(4); i > 1 && machine.failed_servers.size() + 1 < machine.servers; --i)
    machine.failed_servers.insert(upto(machine.servers) - 1);
  return machine;
}

/// Some of its nodes, in any order.
inline std::vector<uint32_t> drawn_cpus(const Machine& machine) {
  std::vector<uint32_t> cpus(machine.nodes());
  std::iota(cpus.begin(), cpus.end(), 0);
  const auto count = *rc::gen::inRange<std::size_t>(1, cpus.size() + 1);
  for (std::size_t i = 0; i < count; ++i)
    std::swap(cpus[i], cpus[*rc::gen::inRange<std::size_t>(i, cpus.size())]);
  cpus.resize(count);
  return cpus;
}

}  // namespace weft::boot
