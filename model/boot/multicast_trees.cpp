// SPDX-License-Identifier: Apache-2.0
// The machine as a graph, and multicast trees in it: it is a tree itself, so that each sender's is what leads
// from it to the nodes. MR4LMS finds the same (tested).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "boot/multicast.hpp"
#include "common/fault.hpp"

namespace weft::boot {

namespace {

/// A switch for the core, and for each supernode, board and edge switch that is in use.
class GraphMaker {
 public:
  topology::Graph make(const Machine& machine, const std::vector<uint32_t>& cpus,
                       const std::vector<Sender>& senders) {
    const uint32_t core = add_switch("core");
    for (const uint32_t cpu : cpus) {
      const uint32_t of_supernode = machine.supernode_of(cpu), of_board = machine.board_of(cpu);
      const uint32_t supernode =
          below(core, supernodes_, of_supernode, "supernode", machine.link_mbps(2, of_supernode));
      const uint32_t board = below(supernode, boards_, of_board, "board", machine.link_mbps(1, of_board));
      hang(board, fmt::format("node-{}", cpu), machine.link_mbps(0, cpu));
    }
    for (const Sender& sender : senders) {
      const uint32_t of_server = machine.edge_of(sender.server);
      const uint32_t edge = below(core, edges_, of_server, "edge", machine.link_mbps(3, of_server));
      hang(edge, fmt::format("server-{}", sender.server), machine.server_mbps(sender.server));
    }
    try {
      return topology::Graph(std::move(parts_));
    } catch (const std::invalid_argument& error) {
      throw Fault(fmt::format("boot: multicast trees: {}", error.what()));
    }
  }

 private:
  static constexpr uint64_t first_switch_guid = 0x1000000000, first_host_guid = 0x2000000000, guid_step = 16;

  uint32_t add_switch(std::string name) {
    const auto number = static_cast<uint32_t>(parts_.switches.size());
    parts_.switches.push_back({first_switch_guid + number, std::move(name), 0, false});
    return number;
  }

  uint16_t next_port(uint32_t sw) {
    if (parts_.switches[sw].ports == topology::most_ports)
      throw Fault("boot: multicast trees: a switch has too many links");
    return static_cast<uint16_t>(++parts_.switches[sw].ports);
  }

  static uint32_t whole(double mbps) {
    return static_cast<uint32_t>(std::clamp(std::round(mbps), 1.0, 4294967295.0));
  }

  uint32_t below(uint32_t above, std::map<uint32_t, uint32_t>& known, uint32_t number, const char* kind,
                 double mbps) {
    const auto [place, is_new] = known.emplace(number, 0);
    if (is_new) {
      place->second = add_switch(fmt::format("{}-{}", kind, number));
      parts_.switch_links.push_back(
          {above, place->second, next_port(above), next_port(place->second), whole(mbps)});
    }
    return place->second;
  }

  void hang(uint32_t sw, std::string name, double mbps) {
    const auto number = static_cast<uint32_t>(parts_.hosts.size());
    parts_.hosts.push_back({first_host_guid + guid_step * number, std::move(name), 1, false});
    parts_.host_links.push_back({number, sw, 1, next_port(sw), 0, whole(mbps)});
  }

  topology::Parts parts_;
  std::map<uint32_t, uint32_t> supernodes_, boards_, edges_;
};

/// How many different ones the nodes are in. @param all of the machine
template <typename PlaceOf>
uint64_t places_of(const std::vector<uint32_t>& cpus, uint64_t all, PlaceOf place_of) {
  std::vector<bool> used(all, false);
  for (const uint32_t cpu : cpus) used[place_of(cpu)] = true;
  return static_cast<uint64_t>(std::count(used.begin(), used.end(), true));
}

}  // namespace

topology::Graph graph_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                         const std::vector<Sender>& senders) {
  return GraphMaker().make(machine, cpus, senders);
}

Trees trees_of(const Machine& machine, const std::vector<uint32_t>& cpus, const Multicast& multicast) {
  constexpr uint64_t links_of_server = 2;  // to its edge switch, and on to the core
  Trees found;
  found.trees = static_cast<uint32_t>(multicast.senders.size());
  found.colours = found.trees;  // all go through the core
  found.height = 2;             // from the core to the boards
  const auto boards = places_of(cpus, machine.boards(), [&](uint32_t cpu) { return machine.board_of(cpu); });
  const auto supernodes =
      places_of(cpus, machine.supernodes, [&](uint32_t cpu) { return machine.supernode_of(cpu); });
  found.links = found.trees * (cpus.size() + boards + supernodes + links_of_server);
  for (const Sender& sender : multicast.senders) found.fullest_mbps += sender.mbps;  // of each node's link
  return found;
}

}  // namespace weft::boot
