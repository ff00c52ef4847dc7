// SPDX-License-Identifier: Apache-2.0
// Windows of packets from servers to nodes.
#include "boot/packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/fault.hpp"
#include "fabric/wires.hpp"

namespace weft::boot {

namespace {

constexpr double most_packets = 1e8;

/// Links that are in use, and each node's way over them.
class Ways {
 public:
  Ways(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan, fabric::Wires& wires)
      : machine_(machine), wires_(wires) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const uint32_t server = plan.servers[i], cpu = cpus[i];
      paths_.push_back({link(4, server), link(3, machine.edge_of(server)), link(2, machine.supernode_of(cpu)),
                        link(1, machine.board_of(cpu)), link(0, cpu)});
    }
  }

  const std::vector<uint32_t>& path(std::size_t node) const { return paths_[node]; }

 private:
  uint32_t link(uint32_t segment, uint32_t number) {
    const auto [place, is_new] = known_.emplace(std::pair(segment, number), 0);
    if (is_new)
      place->second =
          wires_.add_link(segment == 4 ? machine_.server_mbps(number) : machine_.links[segment].total());
    return place->second;
  }

  const Machine& machine_;
  fabric::Wires& wires_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
  std::vector<std::vector<uint32_t>> paths_;
};

}  // namespace

Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
                       const Packets& packets) {
  const double each = std::ceil(machine.image_megabits * 1e6 / 8 / packets.payload_bytes);
  if (each * static_cast<double>(cpus.size()) > most_packets)
    throw Fault(fmt::format("boot: {:.0f} packets for each of {} nodes are too many: take a smaller image",
                            each, cpus.size()));
  const auto of_each = static_cast<uint32_t>(each);
  const double megabits = (packets.payload_bytes + packets.header_bytes) * 8 / 1e6;
  fabric::Wires wires;
  const Ways ways(machine, cpus, plan, wires);
  std::vector<uint32_t> sent(cpus.size(), std::min(packets.window, of_each));
  for (uint32_t packet = 0; packet < std::min(packets.window, of_each); ++packet)
    for (uint32_t node = 0; node < cpus.size(); ++node) wires.send(0, ways.path(node), megabits, node);
  Boots boots;
  boots.seconds.resize(cpus.size());
  while (const auto arrival = wires.next()) {
    const uint32_t node = arrival->handle;
    boots.seconds[node] = arrival->seconds;
    if (sent[node] == of_each) continue;
    ++sent[node];
    wires.send(arrival->seconds + packets.answer_seconds, ways.path(node), megabits, node);
  }
  return boots;
}

}  // namespace weft::boot
