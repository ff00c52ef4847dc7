// SPDX-License-Identifier: Apache-2.0
// Tables of switches and what the rules make of them.
#include "route/tables.hpp"

namespace weft::route {

Tables::Tables(const Grid& grid, const Options& options)
    : grid_(grid), options_(options), first_(std::size_t{grid.leaves()} * grid.leaves(), First::none) {
  if (grid.trees() && (options.rules != RuleSet::vtftr || options.masks != Masks::destination))
    throw Fault("fat trees in rows and columns: only rules vtftr, masks destination");
  for (const Dimension dimension : {Dimension::row, Dimension::column})
    roots_[static_cast<std::size_t>(dimension)].resize(grid.lines(dimension) * grid.roots_of_line() *
                                                       entries(dimension));
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

Walker::Walker(const Tables& tables, const Health& alive) : tables_(tables), alive_(alive) {
  const Grid& grid = alive.grid();
  for (uint32_t root = 0; root < grid.roots(); ++root) ports_.push_back(alive.ports(grid.root(root)));
}

Decision Walker::at_leaf(Leaf at, From from, uint8_t vc, Leaf to, First first) const {
  const Options& options = tables_.options();
  const LeafView view{at, options.channels, alive_.attached(at, Dimension::row),
                      alive_.attached(at, Dimension::column), options.rules};
  return leaf_rule(view, from, vc, to, first);
}

Decision Walker::at_root(const RootPort& input, uint8_t vc, Leaf to) const {
  const Grid& grid = alive_.grid();
  const auto [dimension, line, number] = input.root;
  const RootView view{dimension, line, grid.trees(), ports_[grid.number(input.root)],
                      tables_.options().rules};
  const RootEntry& entry = tables_.entry(input.root, to);
  if (view.rules != RuleSet::detour) return root_rule(view, input.port, vc, to, entry);
  const uint32_t next = aside(dimension, leaf_at(dimension, line, input.port), to);
  const PortSet backups = dimension == Dimension::row ? entry.backups : PortSet().set(next);
  return detour_rule(view, input.port, vc, to, backups, next == to.port(dimension));
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
