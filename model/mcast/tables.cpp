// SPDX-License-Identifier: Apache-2.0
// From trees to tables.
#include "mcast/tables.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::mcast {

namespace {

/// Ports of one tree, each with its switch.
std::vector<std::pair<uint32_t, uint16_t>> ports_of(const Tree& tree, const topology::Graph& graph) {
  std::vector<std::pair<uint32_t, uint16_t>> ports;
  for (const uint32_t id : tree.links) {
    const topology::Link& link = graph.link(id);
    ports.emplace_back(link.b, link.b_port);
    if (!graph.is_host_link(id)) ports.emplace_back(link.a, link.a_port);
  }
  std::sort(ports.begin(), ports.end());
  return ports;
}

}  // namespace

FabricTables tables_of(const Forest& forest) {
  FabricTables tables;
  tables.kind = forest.occupancy().tables();
  tables.limit = forest.occupancy().limit();
  tables.switches.resize(forest.graph().switches());
  for (uint32_t group = 0; group < forest.groups(); ++group) {
    const uint32_t tree = forest.tree_of(group);
    tables.groups.push_back({tree == none ? none : forest.tree(tree).colour, tree});
  }
  for (uint32_t number = 0; number < forest.trees(); ++number) {
    if (!forest.stands(number)) continue;
    uint32_t before = none;
    for (const auto& [sw, port] : ports_of(forest.tree(number), forest.graph())) {
      if (sw != before) tables.switches[sw].push_back({forest.tree(number).colour, {}});
      tables.switches[sw].back().ports.push_back(port);
      before = sw;
    }
  }
  for (auto& entries : tables.switches)
    std::sort(entries.begin(), entries.end(), [](const TableEntry& a, const TableEntry& b) {
      return std::tie(a.colour, a.ports) < std::tie(b.colour, b.ports);
    });
  return tables;
}

}  // namespace weft::mcast
