// SPDX-License-Identifier: Apache-2.0
// The tables of all switches of a two-dimensional fat tree, and what the rules make of them hop by hop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "route/channel.hpp"
#include "route/rules.hpp"

namespace weft::route {

/// What the backups of a row or column switch are kept for.
enum class Masks : uint8_t {
  line,         ///< one entry a column (of a row switch) or row: small, as printed (2.1)
  destination,  ///< one entry a destination: cuts no pair that two virtual channels can join
};

struct Options {
  RuleSet rules = RuleSet::vtftr;
  Masks masks = Masks::destination;
  uint8_t channels = 2;              ///< virtual channels, 1 to 4
  Dimension first = Dimension::row;  ///< of two ways that are as short, of the rules vtftr
};

/// Images of all tables. Everything else that a rule asks is wired (its place) or seen (live ports).
class Tables {
 public:
  /// Throws Fault for what fat trees in rows and columns cannot have: other rules than vtftr, masks of lines.
  Tables(const Grid& grid, const Options& options);

  const Grid& grid() const { return grid_; }
  const Options& options() const { return options_; }
  First& first(Leaf at, Leaf to) {
    return first_[std::size_t{grid_.number(at)} * grid_.leaves() + grid_.number(to)];
  }
  First first(Leaf at, Leaf to) const { return const_cast<Tables*>(this)->first(at, to); }
  RootEntry& entry(const Root& root, Leaf to) {
    const std::size_t in_root =
        options_.masks == Masks::line ? to.port(root.dimension) : std::size_t{grid_.number(to)};
    const std::size_t before = root.line * grid_.roots_of_line() + root.number;
    return roots_[static_cast<std::size_t>(root.dimension)][before * entries(root.dimension) + in_root];
  }
  const RootEntry& entry(const Root& root, Leaf to) const {
    return const_cast<Tables*>(this)->entry(root, to);
  }
  /// Entries of a row or column switch.
  std::size_t entries(Dimension dimension) const {
    return options_.masks == Masks::line ? grid_.ports(dimension) : grid_.leaves();
  }
  /// Leaves that algorithm A's column switches know to be dead; empty with other rules.
  std::vector<bool> known_dead;

  /// Switches whose image is another one, numbered: leaves, then roots; both are for the same fabric and
  /// options.
  std::vector<uint32_t> changed_from(const Tables& before) const;
  bool operator==(const Tables& tables) const {
    return grid_ == tables.grid_ && first_ == tables.first_ && roots_[0] == tables.roots_[0] &&
           roots_[1] == tables.roots_[1] && known_dead == tables.known_dead;
  }

 private:
  Grid grid_;
  Options options_;
  std::vector<First> first_;
  std::array<std::vector<RootEntry>, 2> roots_;
};

/// Tables for what is known to be dead. Throws Fault if no leaf is alive.
Tables make_tables(const Health& known, const Options& options);

struct Update {
  Tables tables;
  uint64_t looked_at = 0;  ///< entries of switches and directions of leaves that were made anew
};
/// The same tables as made from what is known after, from those for what was known before: only what a change
/// can matter to is made anew. Throws Fault if no leaf is alive.
Update update_tables(const Tables& tables, const Health& before, const Health& after);

/// What happens to a packet, hop by hop. Tables and live ports are those of this moment; both must outlive
/// it.
class Walker {
 public:
  Walker(const Tables& tables, const Health& alive);

  /// At the leaf: injected there (no `from`) or come in from above.
  Decision at_leaf(Leaf at, From from, uint8_t vc, Leaf to, First first) const;
  Decision at_leaf(Leaf at, From from, uint8_t vc, Leaf to) const {
    return at_leaf(at, from, vc, to, tables_.first(at, to));
  }
  /// At a row or column switch.
  Decision at_root(const RootPort& input, uint8_t vc, Leaf to) const;
  /// What follows when a packet has this channel; next(Channel) is called for each that it may take.
  template <typename Next>
  Decision step(const Channel& at, Leaf to, const Next& next) const {
    const bool to_leaf = at.down && at.at_leaf();
    const Decision decision =
        to_leaf ? at_leaf(at.leaf, at.dimension, at.vc, to) : at_root(end_of(alive_.grid(), at), at.vc, to);
    follow(at, decision, next);
    return decision;
  }
  /// Calls next(Channel) for what a decision at the end of a channel allows.
  template <typename Next>
  void follow(const Channel& at, const Decision& decision, const Next& next) const {
    if (decision.outcome != Outcome::forward || decision.deliver) return;
    if (at.down && at.at_leaf()) return next(Channel{at.leaf, *decision.up, false, decision.vc});
    const Grid& grid = alive_.grid();
    const Root root = end_of(grid, at).root;
    for (uint32_t port = 0; port < grid.root_ports(root); ++port)
      if (decision.ports[port]) next(channel_out(grid, {root, port}, decision.vc));
  }
  const Tables& tables() const { return tables_; }

 private:
  uint32_t aside(Dimension dimension, Leaf from, Leaf to) const;

  const Tables& tables_;
  const Health& alive_;
  std::vector<PortSet> ports_;  // by number of the root
};

}  // namespace weft::route
