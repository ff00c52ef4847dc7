// SPDX-License-Identifier: Apache-2.0
// The lookup rules of a leaf, row or column switch: tables, live ports and a packet's header give the ports
// it may leave by, its virtual channel, or why it is dropped. Pure functions; a switch draws one of the
// ports.
//
// VTFTR, algorithm 1 and 2.1, with two drops and "not the input port", without which packets of several
// switches can wait for each other in a ring while tables are being rewritten.
#pragma once

#include <cstdint>
#include <optional>

#include "route/grid.hpp"

namespace weft::route {

enum class RuleSet : uint8_t {
  vtftr,    ///< with the drops that keep it free of deadlock at any time
  literal,  ///< as printed
  detour,   ///< algorithm A: every packet that meets a fault takes the same two steps aside, then row, column
};

enum class Drop : uint8_t {
  none,
  dead,         ///< nothing is alive that leads to the destination from its own row or column switch
  second_turn,  ///< would turn from column to row, and is on the last virtual channel already
  no_backup,    ///< the port is dead and the table has no backup that is alive
  unreachable,  ///< the table of the leaf where it was injected has no direction for it
  port_down,    ///< a leaf's port to the row or column switch is dead
};
inline constexpr uint32_t drop_reasons = 6;

/// What a leaf's table says of a destination.
enum class First : uint8_t { none, row, column };

/// What the table of a row or column switch says of a destination, or of all in one of its columns (rows).
struct RootEntry {
  PortSet backups;
  bool direct = true;  ///< a packet that has to turn there may use the destination's own port
  bool operator==(const RootEntry&) const = default;
};

/// Where a packet goes next: any of `ports` of a row or column switch; of a leaf, `up` or its host.
struct Decision {
  PortSet ports;  ///< of a root
  std::optional<Dimension> up;
  bool deliver = false;
  uint8_t vc = 0;
  Drop drop = Drop::none;
};

/// Input of a leaf: from a host (nothing), or from its row or column switch.
using From = std::optional<Dimension>;

struct LeafView {
  Leaf self;
  uint8_t channels = 2;  ///< virtual channels of the fabric
  bool row_alive = true, column_alive = true;
  RuleSet rules = RuleSet::vtftr;
};

inline Decision dropped(Drop why) {
  Decision decision;
  decision.drop = why;
  return decision;
}

inline Decision leaf_up(const LeafView& view, Dimension dimension, uint8_t vc) {
  const bool alive = dimension == Dimension::row ? view.row_alive : view.column_alive;
  if (!alive) return dropped(Drop::port_down);
  Decision decision;
  decision.up = dimension;
  decision.vc = vc;
  return decision;
}

/// @param first of the leaf's table, for this destination; only asked for packets from hosts
inline Decision leaf_rule(const LeafView& view, From from, uint8_t vc, Leaf to, First first) {
  if (view.self == to) {
    Decision decision;
    decision.deliver = true;
    decision.vc = vc;
    return decision;
  }
  if (!from) {
    if (first == First::none) return dropped(Drop::unreachable);
    return leaf_up(view, first == First::row ? Dimension::row : Dimension::column, vc);
  }
  if (*from == Dimension::row) return leaf_up(view, Dimension::column, vc);
  const bool last = vc + 1 >= view.channels;
  if (last && view.rules == RuleSet::vtftr) return dropped(Drop::second_turn);
  return leaf_up(view, Dimension::row, static_cast<uint8_t>(last ? vc : vc + 1));
}

struct RootView {
  Dimension dimension = Dimension::row;
  uint32_t line = 0;  ///< its y or x
  PortSet alive;      ///< ports behind which a leaf answers
  uint8_t channels = 2;
  RuleSet rules = RuleSet::vtftr;
};

/// Algorithm A's choice: always the next one.
inline PortSet first_behind(uint32_t port, const PortSet& ports) {
  for (uint32_t i = 1; i < most_lines; ++i)
    if (ports[(port + i) % most_lines]) return PortSet().set((port + i) % most_lines);
  return {};
}

/// @param input the port that the packet came in by
inline Decision root_rule(const RootView& view, uint32_t input, uint8_t vc, Leaf to, const RootEntry& entry) {
  Decision decision;
  decision.vc = vc;
  const uint32_t port = to.port(view.dimension);
  const bool own_line = to.line(view.dimension) == view.line;
  const bool direct = own_line || entry.direct || view.rules == RuleSet::literal;
  if (view.alive[port] && direct) {
    decision.ports.set(port);
    return decision;
  }
  if (own_line && view.rules != RuleSet::literal) return dropped(Drop::dead);
  decision.ports = entry.backups & view.alive;
  if (view.rules != RuleSet::literal) {
    decision.ports.reset(input);
    decision.ports.reset(port);
  }
  if (decision.ports.none()) return dropped(Drop::no_backup);
  if (view.rules == RuleSet::detour) decision.ports = first_behind(port, decision.ports);
  return decision;
}

}  // namespace weft::route
