// SPDX-License-Identifier: Apache-2.0
// What becomes of a packet at a leaf, row or column switch. The rules are those of the switch lookup block
// (switch/lookup.hpp, `decide`; VTFTR, algorithm 1 and 2.1); here stand the questions put to it and all
// answers that it may draw.
#pragma once

#include <cstdint>
#include <optional>

#include "route/grid.hpp"
#include "switch/lookup.hpp"

namespace weft::route {

using switch_lookup::formats::Outcome;
inline constexpr uint32_t outcomes = static_cast<uint32_t>(Outcome::no_backup) + 1;

enum class RuleSet : uint8_t {
  vtftr,    ///< the block's: with the drops that keep it free of deadlock at any time
  literal,  ///< as printed: nothing is dropped while a backup is alive, inputs are backups too
  detour,   ///< algorithm A: every packet that meets a fault takes the same two steps aside, then row, column
};

/// What a leaf's table says of a destination.
enum class First : uint8_t { none, row, column };

/// What the table of a row or column switch says of a destination, or of all in one of its columns (rows).
struct RootEntry {
  static constexpr uint8_t none = 0xff;

  uint8_t primary = none;  ///< port that a packet takes if it is alive; none: there is no entry
  PortSet backups;         ///< of which it takes any otherwise
  bool operator==(const RootEntry&) const = default;
};

/// Where a packet goes next: any of `ports` of a row or column switch; of a leaf, `up` or its host.
struct Decision {
  PortSet ports;  ///< of a root
  std::optional<Dimension> up;
  bool deliver = false;
  uint8_t vc = 0;
  Outcome outcome = Outcome::forward;  ///< anything else: dropped
};

/// As the place of a row or column switch: all destinations are elsewhere.
inline constexpr uint16_t nowhere = 0xfff;

/// Input of a leaf: from a host (nothing), or from its row or column switch.
using From = std::optional<Dimension>;

struct LeafView {
  Leaf self;
  uint8_t channels = 2;  ///< virtual channels of the fabric
  bool row_alive = true, column_alive = true;
  RuleSet rules = RuleSet::vtftr;
};

/// @param first of the leaf's table, for this destination; only asked for packets from hosts
Decision leaf_rule(const LeafView& view, From from, uint8_t vc, Leaf to, First first);

struct RootView {
  Dimension dimension = Dimension::row;
  uint32_t line = 0;     ///< its y or x
  bool in_tree = false;  ///< it may have other ways to a leaf of its line
  PortSet alive;         ///< ports behind which a leaf, or switch, answers
  RuleSet rules = RuleSet::vtftr;
};

/// @param input the port that the packet came in by
/// @return with every port that it may leave by
Decision root_rule(const RootView& view, uint32_t input, uint8_t vc, Leaf to, const RootEntry& entry);

/// Slots of the lookup block for entries, ports numbered from 1.
std::optional<switch_lookup::Slot> slot_of(const RootEntry& entry);
std::optional<switch_lookup::Slot> slot_of(First first, uint8_t row_port, uint8_t column_port);

/// Algorithm A, which has no table that the block could hold: the way aside depends on the input.
/// @param direct the destination's own port may be taken if it is alive
Decision detour_rule(const RootView& view, uint32_t input, uint8_t vc, Leaf to, const PortSet& backups,
                     bool direct);

}  // namespace weft::route
