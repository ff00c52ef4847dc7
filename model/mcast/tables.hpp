// SPDX-License-Identifier: Apache-2.0
// What switches hold: for a colour, the ports that a packet is copied to. All that a fabric needs, and all
// that the checker looks at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mcast/forest.hpp"
#include "mcast/forwarding_tables.hpp"
#include "mcast/occupancy.hpp"
#include "topology/graph.hpp"

namespace weft::mcast {

/// A packet of this colour that comes in by one of the ports goes out by all others.
struct TableEntry {
  uint32_t colour = 0;
  std::vector<uint16_t> ports;  ///< ascending

  bool operator==(const TableEntry&) const = default;
};

struct FabricTables {
  /// With tables of ports a switch may have several entries of a colour, which have no port in common.
  Tables kind = Tables::of_switch;
  uint32_t limit = no_limit;                      ///< of colours
  std::vector<std::vector<TableEntry>> switches;  ///< entries of each, by colour
  struct Use {
    uint32_t colour = none;  ///< `none` if the group is local
    uint32_t tree = none;    ///< any number; groups with the same one share a tree

    bool operator==(const Use&) const = default;
  };
  std::vector<Use> groups;

  bool operator==(const FabricTables&) const = default;
};

FabricTables tables_of(const Forest& forest);

/// As JSON, and back (docs/mcast.md). Switches are found by their GUIDs, those that the text does not have
/// have empty tables. Reading throws Fault, "NAME:LINE: fault", also for a switch that the fabric does not
/// have.
std::string write_tables(const FabricTables& tables, const topology::Graph& graph);
FabricTables read_tables(std::string_view text, const std::string& name, const topology::Graph& graph);

/// OpenSM's dump of its tables (opensm.mcfdbs). Throws Fault if there are more colours than InfiniBand has
/// MLIDs, or tables of ports.
/// @param first MLID for colour 0
std::string write_mcfdbs(const FabricTables& tables, const topology::Graph& graph,
                         uint32_t first = first_mlid);

}  // namespace weft::mcast
