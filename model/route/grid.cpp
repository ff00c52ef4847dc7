// SPDX-License-Identifier: Apache-2.0
// The two-dimensional fat tree and what of it is alive.
#include "route/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace weft::route {

namespace {

/// Numbers with these characters between them, and nothing else.
std::optional<std::vector<uint32_t>> numbers(std::string_view text, std::string_view between) {
  std::vector<uint32_t> found;
  for (std::size_t i = 0; i <= between.size(); ++i) {
    uint32_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    found.push_back(number);
    if (i == between.size()) break;
    if (text.empty() || text.front() != between[i]) return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(found) : std::nullopt;
}

}  // namespace

Grid grid_of(const std::string& spec) {
  constexpr std::string_view name = "kfat2d:";
  const std::string forms = spec + ": must be kfat2d:RxC:H or kfat2d:RxC:H:ExS";
  if (!spec.starts_with(name)) throw Fault(forms);
  const auto text = std::string_view(spec).substr(name.size());
  const auto whole = numbers(text, "x:"), with_trees = numbers(text, "x::x");
  if (!whole && !with_trees) throw Fault(forms + " with whole numbers");
  const auto& sizes = whole ? *whole : *with_trees;
  Grid grid{sizes[0], sizes[1], sizes[2]};
  const auto check = [&spec](const char* what, uint32_t value, uint32_t most) {
    if (value < 1 || value > most)
      throw Fault(fmt::format("{}: {} is {}, must be 1 to {}", spec, what, value, most));
  };
  check("R", grid.rows, most_lines);
  check("C", grid.columns, most_lines);
  check("H", grid.hosts, 65533);
  if (whole) return grid;
  grid.edges = sizes[3];
  grid.spines = sizes[4];
  check("E", grid.edges, std::min(grid.rows, grid.columns));
  if (grid.rows % grid.edges != 0 || grid.columns % grid.edges != 0)
    throw Fault(fmt::format("{}: E must divide R and C", spec));
  check("S", grid.spines, most_ports - std::max(grid.rows, grid.columns) / grid.edges);
  return grid;
}

std::string spec_of(const Grid& grid) {
  const std::string spec = fmt::format("kfat2d:{}x{}:{}", grid.rows, grid.columns, grid.hosts);
  return grid.trees() ? fmt::format("{}:{}x{}", spec, grid.edges, grid.spines) : spec;
}

Root Grid::root(uint32_t number) const {
  const uint32_t line = number / roots_of_line();
  const bool row = line < rows;
  return {row ? Dimension::row : Dimension::column, row ? line : line - rows, number % roots_of_line()};
}

uint32_t Grid::fewest_switches(Leaf from, Leaf to) const {
  uint32_t switches = 1;
  for (const Dimension dimension : {Dimension::row, Dimension::column}) {
    const uint32_t one = from.port(dimension), other = to.port(dimension);
    if (one == other) continue;
    const bool over_spine = one / leaves_at_edge(dimension) != other / leaves_at_edge(dimension);
    switches += over_spine ? 4 : 2;
  }
  return switches;
}

Health::Health(const Grid& grid)
    : grid_(grid),
      leaf_(grid.leaves(), true),
      roots_(grid.roots(), true),
      spine_links_(std::size_t{grid.roots()} * grid.spines, true) {
  for (auto& links : links_) links.assign(grid.leaves(), true);
}

bool Health::joined(const Root& edge, const Root& other) const {
  if (edge == other) return true;
  for (uint32_t spine = 0; spine < grid_.spines; ++spine)
    if (attached(edge, spine) && attached(other, spine)) return true;
  return false;
}

PortSet Health::ports(const Root& root) const {
  PortSet ports;
  if (grid_.is_spine(root)) {
    for (uint32_t edge = 0; edge < grid_.edges; ++edge)
      ports[edge] = attached(Root{root.dimension, root.line, edge}, root.number - grid_.edges);
    return ports;
  }
  const uint32_t leaves = grid_.leaves_at_edge(root.dimension);
  for (uint32_t port = 0; port < leaves; ++port)
    ports[port] = attached(grid_.leaf_below(root, port), root.dimension);
  for (uint32_t spine = 0; spine < grid_.spines; ++spine) ports[leaves + spine] = attached(root, spine);
  return ports;
}

uint32_t Health::live_leaves() const {
  return static_cast<uint32_t>(std::count(leaf_.begin(), leaf_.end(), true));
}

namespace {

/// Throws Fault unless the value is one of `count`.
void inside(const std::string& where, const std::string& name, uint32_t value, uint32_t count) {
  if (value >= count)
    throw Fault(fmt::format("'{}': there is no {} {}, the last is {}", where, name, value, count - 1));
}

const char* name_of(Dimension dimension) { return dimension == Dimension::row ? "row" : "column"; }

const char* switch_form(const Grid& grid, Dimension dimension) {
  if (!grid.trees()) return "a whole number";
  return dimension == Dimension::row ? "R,N with whole numbers" : "C,N with whole numbers";
}

void fail_switch(Health& health, Dimension dimension, const std::string& where) {
  const Grid& grid = health.grid();
  const auto found = numbers(where, grid.trees() ? "," : "");
  if (!found) throw Fault(fmt::format("'{}': a fault is {}", where, switch_form(grid, dimension)));
  inside(where, name_of(dimension), (*found)[0], grid.lines(dimension));
  if (grid.trees()) inside(where, "switch", (*found)[1], grid.roots_of_line());
  health.fail_switch({dimension, (*found)[0], grid.trees() ? (*found)[1] : 0});
}

/// @return whether it is a link of a fat tree
bool fail_tree_link(Health& health, Dimension dimension, const std::string& where) {
  const Grid& grid = health.grid();
  const auto found = grid.trees() ? numbers(where, ",,") : std::nullopt;
  if (!found) return false;
  inside(where, name_of(dimension), (*found)[0], grid.lines(dimension));
  inside(where, "edge switch", (*found)[1], grid.edges);
  inside(where, "spine switch", (*found)[2], grid.spines);
  health.fail_link({dimension, (*found)[0], (*found)[1]}, (*found)[2]);
  return true;
}

}  // namespace

void fail(Health& health, What what, const std::string& where) {
  const Grid& grid = health.grid();
  if (what == What::row_switch) return fail_switch(health, Dimension::row, where);
  if (what == What::column_switch) return fail_switch(health, Dimension::column, where);
  const auto dimension = what == What::row_link ? Dimension::row : Dimension::column;
  if (what != What::leaf && fail_tree_link(health, dimension, where)) return;
  const auto found = numbers(where, ",");
  if (!found) throw Fault(fmt::format("'{}': a fault is R,C with whole numbers", where));
  inside(where, "row", (*found)[0], grid.rows);
  inside(where, "column", (*found)[1], grid.columns);
  const Leaf leaf{(*found)[1], (*found)[0]};
  if (what == What::leaf) return health.fail_leaf(leaf);
  health.fail_link(leaf, dimension);
}

}  // namespace weft::route
