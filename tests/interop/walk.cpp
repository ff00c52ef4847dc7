// SPDX-License-Identifier: Apache-2.0
// Packets on multicast tables.
#include "walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

namespace weft::test {

using topology::Graph;

namespace {

const mcast::PortMask* mask_at(const Graph& graph, const mcast::ForwardingTables& tables, uint32_t sw,
                               uint16_t mlid) {
  const auto entries = tables.find(graph.switch_info(sw).guid);
  if (entries == tables.end()) return nullptr;
  const auto entry = entries->second.find(mlid);
  return entry == entries->second.end() ? nullptr : &entry->second;
}

/// Copies that hosts get of a packet that one of them sends; empty if it runs in a ring.
std::map<uint32_t, uint32_t> copies(const Graph& graph, const mcast::ForwardingTables& tables, uint16_t mlid,
                                    uint32_t from) {
  struct Arrival {
    uint32_t sw, port;
  };
  std::map<uint32_t, uint32_t> got;
  const topology::Arc& cable = graph.attachments(from).front();
  std::deque<Arrival> arrivals{{cable.node, cable.peer_port}};
  for (uint32_t steps = 0; !arrivals.empty(); ++steps) {
    if (steps > graph.switches()) return {};
    const Arrival at = arrivals.front();
    arrivals.pop_front();
    const mcast::PortMask* mask = mask_at(graph, tables, at.sw, mlid);
    if (mask == nullptr) continue;
    mask->for_each([&](uint32_t port) {
      if (port == at.port || port == 0) return;
      const uint32_t id = graph.link_at(at.sw, port);
      if (id == topology::no_link) return;
      const topology::Link& link = graph.link(id);
      if (graph.is_host_link(id)) {
        ++got[link.a];
      } else if (link.a == at.sw && link.a_port == port) {
        arrivals.push_back({link.b, link.b_port});
      } else {
        arrivals.push_back({link.a, link.a_port});
      }
    });
  }
  return got;
}

}  // namespace

std::string walk(const Graph& graph, const mcast::ForwardingTables& tables, uint16_t mlid,
                 const std::vector<uint32_t>& hosts) {
  for (const uint32_t from : hosts) {
    std::map<uint32_t, uint32_t> expected;
    for (const uint32_t host : hosts)
      if (host != from) expected[host] = 1;
    const auto got = copies(graph, tables, mlid, from);
    if (got != expected)
      return fmt::format(
          "MLID {:#06x}: of what host {} sends, {} hosts get copies, not exactly the {} others", mlid, from,
          got.size(), expected.size());
  }
  return "";
}

LargestEfi largest_efi(const Graph& graph, const mcast::ForwardingTables& tables) {
  std::vector<uint32_t> efi(graph.links(), 0);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const auto entries = tables.find(graph.switch_info(sw).guid);
    if (entries == tables.end()) continue;
    for (const auto& [mlid, mask] : entries->second)
      mask.for_each([&](uint32_t port) {
        const uint32_t id = port == 0 ? topology::no_link : graph.link_at(sw, port);
        if (id == topology::no_link) return;
        // a link between switches is in the masks of both
        if (graph.is_host_link(id) || (graph.link(id).a == sw && graph.link(id).a_port == port)) ++efi[id];
      });
  }
  LargestEfi largest;
  for (uint32_t id = 0; id < graph.links(); ++id) {
    largest.all = std::max(largest.all, efi[id]);
    if (!graph.is_host_link(id)) largest.between_switches = std::max(largest.between_switches, efi[id]);
  }
  return largest;
}

}  // namespace weft::test
