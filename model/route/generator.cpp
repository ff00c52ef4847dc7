// SPDX-License-Identifier: Apache-2.0
// Tables from what is known to be dead (VTFTR, 2.1).
#include <algorithm>
#include <array>
#include <limits>

#include "route/tables.hpp"

namespace weft::route {

namespace {

constexpr uint32_t never = std::numeric_limits<uint32_t>::max();
constexpr uint32_t most_channels_passed = 16;

/// Most steps (up and down once) until a packet in this channel is delivered; `never` if it may be dropped.
uint32_t steps(const Walker& walker, const Channel& at, Leaf to, uint32_t depth = 0) {
  if (depth > most_channels_passed) return never;
  uint32_t most = 0;
  const Decision decision = walker.step(at, to, [&](const Channel& next) {
    if (most == never) return;
    const uint32_t rest = steps(walker, next, to, depth + 1);
    most = rest == never ? never : std::max(most, rest + (next.begins_step() ? 1 : 0));
  });
  return decision.outcome == Outcome::forward ? most : never;
}

/// What has to be made.
///
/// The entry of a row switch asks for leaves of its own row and of the destination's (`joins`, `leads_on`);
/// with entries of whole columns, for all rows. A packet of stable tables is at leaves of the rows and
/// columns of its two ends only (VTFTR, 2.1: at most row, column, row), and the entries that it meets are of
/// these switches. Where rows and columns are fat trees it also asks whether other columns' trees join the
/// two rows: what changes inside of a tree can matter to all.
class Scope {
 public:
  /// All.
  Scope() = default;
  /// What changes of these leaves and their links can matter to.
  Scope(const Health& before, const Health& after, const Options& options)
      : all_(options.masks == Masks::line || options.rules != RuleSet::vtftr ||
             (before.grid().trees() && !before.same_roots(after))) {
    const Grid& grid = before.grid();
    for (const Dimension dimension : {Dimension::row, Dimension::column})
      lines_[index(dimension)].resize(grid.lines(dimension));
    for (uint32_t number = 0; number < grid.leaves(); ++number) {
      const Leaf leaf = grid.leaf(number);
      const bool same = before.alive(leaf) == after.alive(leaf) &&
                        before.attached(leaf, Dimension::row) == after.attached(leaf, Dimension::row) &&
                        before.attached(leaf, Dimension::column) == after.attached(leaf, Dimension::column);
      if (same) continue;
      for (const Dimension dimension : {Dimension::row, Dimension::column})
        lines_[index(dimension)][leaf.line(dimension)] = true;
    }
  }

  bool touches(Leaf at, Leaf to) const {
    return touches(Dimension::row, at.y, to) || touches(Dimension::column, at.x, to);
  }
  bool touches(Dimension dimension, uint32_t line, Leaf to) const {
    return all_ || lines_[index(dimension)][line] || lines_[index(dimension)][to.line(dimension)];
  }

 private:
  static std::size_t index(Dimension dimension) { return static_cast<std::size_t>(dimension); }

  bool all_ = true;
  std::array<std::vector<bool>, 2> lines_;  // in which something changed
};

class Generator {
 public:
  Generator(const Health& known, Tables empty)
      : known_(known), grid_(known.grid()), tables_(std::move(empty)) {}

  Update make(const Scope& scope) && {
    if (known_.live_leaves() == 0) throw Fault("no leaf is alive");
    for (const Dimension dimension : {Dimension::row, Dimension::column}) make_roots(dimension, scope);
    tables_.known_dead.clear();
    if (tables_.options().rules == RuleSet::detour)
      for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf)
        tables_.known_dead.push_back(!known_.turns(grid_.leaf(leaf)));
    const Walker walker(tables_, known_);
    for (uint32_t at = 0; at < grid_.leaves(); ++at)
      for (uint32_t to = 0; to < grid_.leaves(); ++to)
        if (at != to && scope.touches(grid_.leaf(at), grid_.leaf(to))) {
          tables_.first(grid_.leaf(at), grid_.leaf(to)) = direction(walker, grid_.leaf(at), grid_.leaf(to));
          ++looked_at_;
        }
    return {std::move(tables_), looked_at_};
  }

 private:
  void make_roots(Dimension dimension, const Scope& scope) {
    std::vector<bool> whole;  // columns (or rows) in which every leaf turns
    for (uint32_t port = 0; port < grid_.ports(dimension); ++port) {
      bool all = true;
      for (uint32_t line = 0; line < grid_.lines(dimension); ++line)
        all = all && known_.turns(leaf_at(dimension, line, port));
      whole.push_back(all);
    }
    for (uint32_t line = 0; line < grid_.lines(dimension); ++line)
      for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf) {
        const Leaf to = grid_.leaf(leaf);
        if (tables_.options().masks == Masks::line && to.line(dimension) != 0) continue;
        if (!scope.touches(dimension, line, to)) continue;
        for (Root root{dimension, line}; root.number < grid_.roots_of_line(); ++root.number) {
          ++looked_at_;
          tables_.entry(root, to) = entry(root, to, whole);
        }
      }
  }

  /// Packets go up and down in a fat tree once, whatever the entries of others: the destination's own edge
  /// switch never sends them up, and spine switches send them to that one only.
  RootEntry entry(const Root& root, Leaf to, const std::vector<bool>& whole) const {
    const Root home = home_of(root, to);
    if (grid_.is_spine(root)) return {static_cast<uint8_t>(home.number), {}};
    if (root == home) return own_entry(root, to, whole);
    const PortSet aside = backups(root, to), up = spine_ports(root, home);
    const bool directly = leads_on(root.dimension, root.line, to);
    if (up.any() && (directly || (aside.none() && backups(home, to).any()))) return spread_out(up, to);
    return spread_out(aside, to);
  }

  /// The edge switch of this line that the destination, or the leaf of its column (row), hangs on.
  Root home_of(const Root& root, Leaf to) const {
    return grid_.edge_of(leaf_at(root.dimension, root.line, to.port(root.dimension)), root.dimension);
  }

  /// Of the edge switch, or row or column switch, that has a port of the destination's column (row).
  RootEntry own_entry(const Root& root, Leaf to, const std::vector<bool>& whole) const {
    const bool by_line = tables_.options().masks == Masks::line;
    const uint32_t port = grid_.edge_port(to, root.dimension);
    RootEntry entry;
    entry.primary = static_cast<uint8_t>(port);
    entry.backups = by_line ? others(port, whole) : backups(root, to);
    if (!by_line && !leads_on(root.dimension, root.line, to)) entry.primary = spread(entry.backups, to);
    return entry;
  }

  static PortSet others(uint32_t port, const std::vector<bool>& whole) {
    PortSet ports;
    for (uint32_t other = 0; other < whole.size(); ++other) ports[other] = other != port && whole[other];
    return ports;
  }

  /// Ports of an edge switch (row or column switch) at which packets may go aside.
  PortSet backups(const Root& edge, Leaf to) const {
    PortSet ports;
    for (uint32_t port = 0; port < grid_.leaves_at_edge(edge.dimension); ++port) {
      const uint32_t of_line = grid_.leaf_below(edge, port).port(edge.dimension);
      ports[port] = of_line != to.port(edge.dimension) && joins(edge.dimension, edge.line, of_line, to);
    }
    return ports;
  }

  /// Ports to spine switches from which a packet comes to the other edge switch.
  PortSet spine_ports(const Root& edge, const Root& other) const {
    PortSet ports;
    for (uint32_t spine = 0; spine < grid_.spines; ++spine)
      ports[grid_.leaves_at_edge(edge.dimension) + spine] =
          known_.attached(edge, spine) && known_.attached(other, spine);
    return ports;
  }

  /// One of these ports first, the others if it is dead.
  RootEntry spread_out(const PortSet& ports, Leaf to) const {
    RootEntry entry{spread(ports, to), ports};
    if (entry.primary != RootEntry::none) entry.backups.reset(entry.primary);
    return entry;
  }

  /// Whether a packet may leave by the destination's own port: no leaf is alive there, or it is the
  /// destination, or it leads on.
  bool leads_on(Dimension dimension, uint32_t line, Leaf to) const {
    const Leaf behind = leaf_at(dimension, line, to.port(dimension));
    if (behind == to || !known_.attached(behind, dimension)) return true;
    return known_.turns(behind) && known_.attached(to, other(dimension)) &&
           known_.joined(behind, to, other(dimension));
  }

  /// One of the backups, another for each destination; none if there are none.
  uint8_t spread(const PortSet& backups, Leaf to) const {
    if (backups.none()) return RootEntry::none;
    auto skip = grid_.number(to) % backups.count();
    for (uint8_t port = 0;; ++port)
      if (backups[port] && skip-- == 0) return port;
  }

  /// Whether a packet that goes aside at `backup` reaches the destination by its own row (or column).
  bool joins(Dimension dimension, uint32_t line, uint32_t backup, Leaf to) const {
    const Leaf here = leaf_at(dimension, line, backup);
    const Leaf there = leaf_at(dimension, to.line(dimension), backup);
    return here != there && known_.turns(here) && known_.turns(there) && known_.attached(to, dimension) &&
           known_.joined(here, there, other(dimension)) && known_.joined(there, to, dimension);
  }

  First direction(const Walker& walker, Leaf at, Leaf to) const {
    if (tables_.options().rules != RuleSet::vtftr) return as_printed(at, to);
    if (!known_.alive(at) || !known_.alive(to)) return First::none;
    const auto cost = [&](Dimension dimension) {
      return known_.attached(at, dimension) ? steps(walker, {at, dimension, false, 0}, to) : never;
    };
    const uint32_t by_row = at.x == to.x && at.y != to.y ? never : cost(Dimension::row);
    const bool as_good_by_column =
        tables_.options().first == Dimension::column && at.x != to.x && at.y != to.y;
    if (by_row == 0 || (by_row == 1 && at.x != to.x && at.y != to.y && !as_good_by_column)) return First::row;
    const uint32_t by_column = cost(Dimension::column);
    if (as_good_by_column && by_column != never && by_column <= by_row) return First::column;
    if (at.x == to.x && by_column == never && cost(Dimension::row) != never) return First::row;
    if (by_row == never && by_column == never) return First::none;
    return by_row <= by_column ? First::row : First::column;
  }

  /// Row, then column; column, then row, if only that leads past known faults.
  First as_printed(Leaf at, Leaf to) const {
    if (at.x == to.x) return First::column;
    if (at.y == to.y || tables_.options().rules == RuleSet::detour) return First::row;
    const bool row = known_.turns({to.x, at.y}), column = known_.turns({at.x, to.y});
    return row || !column ? First::row : First::column;
  }

  const Health& known_;
  const Grid grid_;
  Tables tables_;
  uint64_t looked_at_ = 0;
};

}  // namespace

Tables make_tables(const Health& known, const Options& options) {
  return Generator(known, Tables(known.grid(), options)).make(Scope()).tables;
}

Update update_tables(const Tables& tables, const Health& before, const Health& after) {
  return Generator(after, tables).make(Scope(before, after, tables.options()));
}

}  // namespace weft::route
