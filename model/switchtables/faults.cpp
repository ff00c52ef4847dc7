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

Dimension dimension_of(const route::Grid& grid, uint32_t line) {
  return line < grid.rows ? Dimension::row : Dimension::column;
}

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
  for (uint32_t line = 0; line < grid.rows + grid.columns; ++line) {
    const Dimension dimension = dimension_of(grid, line);
    if (!health.alive(dimension, dimension == Dimension::row ? line : line - grid.rows))
      faults.switches[grid.leaves() + line] = true;
  }
  for (uint32_t link = 0; link < graph.switch_links(); ++link) {
    const uint32_t leaf = graph.link(link).a, root = graph.link(link).b;
    if (!health.attached(grid.leaf(leaf), dimension_of(grid, root - grid.leaves())))
      faults.links[link] = true;
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
    const uint32_t line = sw - grid.leaves();
    const Dimension dimension = dimension_of(grid, line);
    health.fail_switch(dimension, dimension == Dimension::row ? line : line - grid.rows);
  }
  for (uint32_t link = 0; link < graph.switch_links(); ++link) {
    const uint32_t leaf = graph.link(link).a, root = graph.link(link).b;
    if (faults.links[link]) health.fail_link(grid.leaf(leaf), dimension_of(grid, root - grid.leaves()));
  }
  return health;
}

}  // namespace weft::switchtables
