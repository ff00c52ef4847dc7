// SPDX-License-Identifier: Apache-2.0
// What is dead of a fabric.
#include "switchtables/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft::switchtables {

namespace {

using route::Dimension;

std::optional<uint64_t> number(const std::string& text, std::size_t start, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + start, end, value, base);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

uint32_t find_switch(const topology::Graph& graph, const std::string& name) {
  if (const auto place = number(name, 0, 10); place && *place < graph.switches())
    return static_cast<uint32_t>(*place);
  const auto guid = name.starts_with("0x") ? number(name, 2, 16) : std::nullopt;
  std::optional<uint32_t> found;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    const topology::Node& info = graph.switch_info(sw);
    if (guid ? info.guid != *guid : info.name != name) continue;
    if (found) throw Fault(fmt::format("several switches are called '{}'", name));
    found = sw;
  }
  if (!found) throw Fault(fmt::format("there is no switch '{}'", name));
  return *found;
}

/// A link between two switches of a two-dimensional fat tree.
struct GridLink {
  const route::Grid& grid;
  const topology::Link& link;  // of a leaf and a root, or of an edge switch and a spine switch

  bool of_leaf() const { return link.a < grid.leaves(); }
  route::Leaf leaf() const { return grid.leaf(link.a); }
  Dimension dimension() const { return upper().dimension; }
  route::Root lower() const { return grid.root(link.a - grid.leaves()); }
  route::Root upper() const { return grid.root(link.b - grid.leaves()); }
  uint32_t spine() const { return upper().number - grid.edges; }
};

}  // namespace

void fail_switch(Faults& faults, const topology::Graph& graph, const std::string& name) {
  faults.switches[find_switch(graph, name)] = true;
}

void fail_link(Faults& faults, const topology::Graph& graph, const std::string& name) {
  const auto comma = name.rfind(',');
  if (comma == std::string::npos) throw Fault(fmt::format("'{}' is not SWITCH,PORT", name));
  const uint32_t sw = find_switch(graph, name.substr(0, comma));
  const auto port = number(name, comma + 1, 10);
  const auto arcs = graph.neighbours(sw);
  const auto arc = std::ranges::find_if(arcs, [&](const topology::Arc& each) { return each.port == port; });
  if (arc == arcs.end()) throw Fault(fmt::format("'{}': no link to another switch is there", name));
  faults.links[arc->link] = true;
}

void add_faults(Faults& faults, const topology::Graph& graph, const route::Health& health) {
  const route::Grid& grid = health.grid();
  for (uint32_t leaf = 0; leaf < grid.leaves(); ++leaf)
    if (!health.alive(grid.leaf(leaf))) faults.switches[leaf] = true;
  for (uint32_t root = 0; root < grid.roots(); ++root)
    if (!health.alive(grid.root(root))) faults.switches[grid.leaves() + root] = true;
  for (uint32_t i = 0; i < graph.switch_links(); ++i) {
    const GridLink link{grid, graph.link(i)};
    if (link.of_leaf() ? !health.attached(link.leaf(), link.dimension())
                       : !health.attached(link.lower(), link.spine()))
      faults.links[i] = true;
  }
}

route::Health health_of(const route::Grid& grid, const topology::Graph& graph, const Faults& faults) {
  route::Health health(grid);
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
    if (!faults.switches[sw]) continue;
    if (sw < grid.leaves()) {
      health.fail_leaf(grid.leaf(sw));
      continue;
    }
    health.fail_switch(grid.root(sw - grid.leaves()));
  }
  for (uint32_t i = 0; i < graph.switch_links(); ++i) {
    if (!faults.links[i]) continue;
    const GridLink link{grid, graph.link(i)};
    if (link.of_leaf())
      health.fail_link(link.leaf(), link.dimension());
    else
      health.fail_link(link.lower(), link.spine());
  }
  return health;
}

}  // namespace weft::switchtables
