// SPDX-License-Identifier: Apache-2.0
// Graphs drawn by rapidcheck: connected, with all that real fabrics have.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/graph.hpp"

namespace weft::topology::test {

class Drawing {
 public:
  /// Switches in a tree and further links between any two of them, hosts of one to three ports, some of them
  /// routers, some ports unused, odd GUIDs and names, rates of some links, LIDs of some ports.
  Parts draw() {
    const auto switches = static_cast<uint32_t>(number(1, 8)), hosts = static_cast<uint32_t>(number(1, 10));
    for (uint32_t sw = 0; sw < switches; ++sw) parts_.switches.push_back(node(1 + switches + 3 * hosts + 12));
    for (uint32_t sw = 1; sw < switches; ++sw) connect(sw, static_cast<uint32_t>(number(0, sw)));
    for (uint64_t more = switches > 1 ? number(0, 12) : 0; more > 0; --more) {
      const auto a = static_cast<uint32_t>(number(0, switches));
      connect(a, (a + static_cast<uint32_t>(number(1, switches))) % switches);
    }
    for (uint32_t host = 0; host < hosts; ++host) attach(host, switches);
    return std::move(parts_);
  }

 private:
  static uint64_t number(uint64_t least, uint64_t behind) {
    return *rc::gen::inRange<uint64_t>(least, behind);
  }

  uint64_t guid() {
    const uint64_t high = *rc::gen::element<uint64_t>(0, 0x0002c903, 0xfe800000, 0xffffffff);
    uint64_t drawn = high << 32 | number(1, 1u << 24);
    while (!guids_.insert(drawn).second) drawn++;
    return drawn;
  }

  Node node(uint32_t ports) {
    const auto name =
        *rc::gen::container<std::string>(rc::gen::element('a', ' ', '"', '#', '\\', '/', ';', '-', '\xc3'));
    return {guid(), name, ports};
  }

  static uint32_t rate() { return *rc::gen::element<uint32_t>(0, 1000, 8000, 54544, 200000, 0xffffffff); }

  uint16_t free_port(uint32_t sw) {
    auto port = static_cast<uint16_t>(number(1, parts_.switches[sw].ports + 1));
    while (!used_.insert({sw, port}).second) port = port % parts_.switches[sw].ports + 1;
    return port;
  }

  void connect(uint32_t a, uint32_t b) {
    if (used_ports(a) + 1 < most_used(a) && used_ports(b) + 1 < most_used(b))
      parts_.switch_links.push_back({a, b, free_port(a), free_port(b), rate()});
  }
  std::size_t used_ports(uint32_t sw) const {
    return static_cast<std::size_t>(
        std::count_if(used_.begin(), used_.end(), [sw](const auto& place) { return place.first == sw; }));
  }
  std::size_t most_used(uint32_t sw) const { return parts_.switches[sw].ports; }

  void attach(uint32_t host, uint32_t switches) {
    const auto ports = static_cast<uint32_t>(number(1, 4));
    parts_.hosts.push_back(node(ports));
    parts_.hosts.back().router = number(0, 4) == 0;
    const auto first = static_cast<uint32_t>(number(1, ports + 1));  // ports before it are unused
    for (uint32_t port = first; port <= ports; ++port) {
      const auto sw = static_cast<uint32_t>(number(0, switches));
      parts_.host_links.push_back(
          {host, sw, static_cast<uint16_t>(port), free_port(sw), guid(), rate(), lids()});
    }
  }

  Lids lids() {
    const auto lmc = static_cast<uint8_t>(number(0, 8));
    if (number(0, 3) == 0) return {};
    const uint32_t step = 1u << lmc;
    const Lids lids{static_cast<uint16_t>((next_lid_ + step - 1) / step * step), lmc};
    next_lid_ = lids.end() + static_cast<uint32_t>(number(0, 3));
    return lids;
  }

  Parts parts_;
  uint32_t next_lid_ = 1;
  std::set<uint64_t> guids_;
  std::set<std::pair<uint32_t, uint16_t>> used_;
};

/// In a property: a graph of its own each time.
inline Graph drawn_graph() { return Graph(Drawing().draw()); }

}  // namespace weft::topology::test
