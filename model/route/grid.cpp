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
  if (!spec.starts_with(name)) throw Fault(fmt::format("{}: must be kfat2d:RxC:H", spec));
  const auto sizes = numbers(std::string_view(spec).substr(name.size()), "x:");
  if (!sizes) throw Fault(fmt::format("{}: must be kfat2d:RxC:H with whole numbers", spec));
  const Grid grid{(*sizes)[0], (*sizes)[1], (*sizes)[2]};
  const auto check = [&spec](const char* what, uint32_t value, uint32_t most) {
    if (value < 1 || value > most)
      throw Fault(fmt::format("{}: {} is {}, must be 1 to {}", spec, what, value, most));
  };
  check("R", grid.rows, most_lines);
  check("C", grid.columns, most_lines);
  check("H", grid.hosts, 65533);
  return grid;
}

Health::Health(const Grid& grid) : grid_(grid), leaf_(grid.leaves(), true) {
  for (const Dimension dimension : {Dimension::row, Dimension::column}) {
    links_[index(dimension)].assign(grid.leaves(), true);
    lines_[index(dimension)].assign(grid.lines(dimension), true);
  }
}

PortSet Health::ports(Dimension dimension, uint32_t line) const {
  PortSet ports;
  for (uint32_t port = 0; port < grid_.ports(dimension); ++port)
    ports[port] = attached(leaf_at(dimension, line, port), dimension);
  return ports;
}

uint32_t Health::live_leaves() const {
  return static_cast<uint32_t>(std::count(leaf_.begin(), leaf_.end(), true));
}

void fail(Health& health, What what, const std::string& where) {
  const Grid& grid = health.grid();
  const bool is_switch = what == What::row_switch || what == What::column_switch;
  const auto found = numbers(where, is_switch ? "" : ",");
  if (!found)
    throw Fault(
        fmt::format("'{}': a fault is {}", where, is_switch ? "a whole number" : "R,C with whole numbers"));
  const auto inside = [&](const char* name, uint32_t value, uint32_t count) {
    if (value >= count)
      throw Fault(fmt::format("'{}': there is no {} {}, the last is {}", where, name, value, count - 1));
  };
  if (is_switch) {
    const Dimension dimension = what == What::row_switch ? Dimension::row : Dimension::column;
    inside(dimension == Dimension::row ? "row" : "column", (*found)[0], grid.lines(dimension));
    return health.fail_switch(dimension, (*found)[0]);
  }
  inside("row", (*found)[0], grid.rows);
  inside("column", (*found)[1], grid.columns);
  const Leaf leaf{(*found)[1], (*found)[0]};
  if (what == What::leaf) return health.fail_leaf(leaf);
  health.fail_link(leaf, what == What::row_link ? Dimension::row : Dimension::column);
}

}  // namespace weft::route
