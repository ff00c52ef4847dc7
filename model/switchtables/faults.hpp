// SPDX-License-Identifier: Apache-2.0
// What is dead of any fabric, by the numbers of its graph; and the same of a two-dimensional fat tree as its
// routes know it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "route/grid.hpp"
#include "topology/graph.hpp"

namespace weft::switchtables {

struct Faults {
  std::vector<bool> switches, links;  ///< dead; links between switches only

  explicit Faults(const topology::Graph& graph) : switches(graph.switches()), links(graph.switch_links()) {}
  bool operator==(const Faults&) const = default;
};

/// @param name number, GUID (0x...) or name of a switch. Throws Fault for none, or several.
void fail_switch(Faults& faults, const topology::Graph& graph, const std::string& name);
/// @param name of a switch, a comma, a port of it that leads to another switch. Throws Fault for anything
/// else.
void fail_link(Faults& faults, const topology::Graph& graph, const std::string& name);

/// The graph: of topology::kfat2d.
void add_faults(Faults& faults, const topology::Graph& graph, const route::Health& health);
route::Health health_of(const route::Grid& grid, const topology::Graph& graph, const Faults& faults);

}  // namespace weft::switchtables
