// SPDX-License-Identifier: Apache-2.0
// Tables of switches and what the rules make of them.
#include "route/tables.hpp"

#include <fmt/format.h>

namespace weft::route {

Tables::Tables(const Grid& grid, const Options& options)
    : grid_(grid), options_(options), first_(std::size_t{grid.leaves()} * grid.leaves(), First::none) {
  for (const Dimension dimension : {Dimension::row, Dimension::column})
    roots_[static_cast<std::size_t>(dimension)].resize(grid.lines(dimension) * entries(dimension));
}

std::vector<uint32_t> Tables::changed_from(const Tables& before) const {
  std::vector<uint32_t> changed;
  uint32_t number = 0;
  const auto compare = [&](const auto& one, const auto& other, std::size_t size) {
    for (auto image = one.begin(), old = other.begin(); image != one.end(); ++number) {
      const auto length = static_cast<std::ptrdiff_t>(size);
      if (!std::equal(image, image + length, old)) changed.push_back(number);
      image += length;
      old += length;
    }
  };
  compare(first_, before.first_, grid_.leaves());
  for (const Dimension dimension : {Dimension::row, Dimension::column}) {
    const auto i = static_cast<std::size_t>(dimension);
    compare(roots_[i], before.roots_[i], entries(dimension));
  }
  return changed;
}

std::string name_of(const Channel& channel) {
  const char* kind = channel.dimension == Dimension::row ? "row" : "column";
  const std::string leaf = fmt::format("leaf-{}-{}", channel.leaf.x, channel.leaf.y);
  const std::string root = fmt::format("{}-{}", kind, channel.leaf.line(channel.dimension));
  return fmt::format("{} > {} VC {}", channel.down ? root : leaf, channel.down ? leaf : root, channel.vc);
}

Walker::Walker(const Tables& tables, const Health& alive) : tables_(tables), alive_(alive) {
  for (const Dimension dimension : {Dimension::row, Dimension::column})
    for (uint32_t line = 0; line < alive.grid().lines(dimension); ++line)
      ports_[static_cast<std::size_t>(dimension)].push_back(alive.ports(dimension, line));
}

Decision Walker::at_leaf(Leaf at, From from, uint8_t vc, Leaf to, First first) const {
  const Options& options = tables_.options();
  const LeafView view{at, options.channels, alive_.attached(at, Dimension::row),
                      alive_.attached(at, Dimension::column), options.rules};
  return leaf_rule(view, from, vc, to, first);
}

Decision Walker::at_root(Dimension dimension, Leaf from, uint8_t vc, Leaf to) const {
  const uint32_t line = from.line(dimension);
  const RootView view{dimension, line, ports_[static_cast<std::size_t>(dimension)][line],
                      tables_.options().rules};
  const RootEntry& entry = tables_.entry(dimension, line, to);
  if (view.rules != RuleSet::detour) return root_rule(view, from.port(dimension), vc, to, entry);
  const uint32_t next = aside(dimension, from, to);
  const PortSet backups = dimension == Dimension::row ? entry.backups : PortSet().set(next);
  return detour_rule(view, from.port(dimension), vc, to, backups, next == to.port(dimension));
}

/// Algorithm A: a packet that went aside in its row goes aside in the column, to the next row. The port that
/// it takes in a column switch.
uint32_t Walker::aside(Dimension dimension, Leaf from, Leaf to) const {
  const Grid& grid = tables_.grid();
  const bool went_aside = dimension == Dimension::column && to.x != from.x;
  if (!went_aside || !tables_.known_dead[grid.number({to.x, from.y})]) return to.port(dimension);
  for (uint32_t i = 1; i < grid.rows; ++i) {
    const uint32_t y = (from.y + i) % grid.rows;
    if (!tables_.known_dead[grid.number({from.x, y})] && !tables_.known_dead[grid.number({to.x, y})])
      return y;
  }
  return to.y;
}

}  // namespace weft::route
