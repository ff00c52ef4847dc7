// SPDX-License-Identifier: Apache-2.0
// Colours for groups whose trees are not known yet: groups with members at one switch get different ones.
// Those with the fewest colours left come first (Brelaz, New Methods to Color the Vertices of a Graph, 1979);
// each takes the colour in which it leaves most to the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mcast/conflicts.hpp"
#include "mcast/occupancy.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

class Colouring {
 public:
  static constexpr std::size_t most_items = Conflicts::most_items;

  struct Item {
    const Ends* ends = nullptr;
    uint32_t switches = 0;  ///< that its tree will have, about
  };
  /// @param items groups to be coloured, most_items at most, which outlive this
  /// @param occupancy of trees that are there already
  /// @param taken of each colour in use already: switches that its trees have
  /// @param room switches that the trees of a colour may have together; one group always fits
  Colouring(std::span<const Item> items, const Occupancy& occupancy, std::span<const uint32_t> taken,
            uint32_t room);

  struct Pick {
    uint32_t item = 0, colour = 0;
  };
  /// The next group, with its colour; nothing while all have one.
  std::optional<Pick> next();
  /// A group that has this colour has none now, and will get neither this one again nor one that is not free
  /// where its members are.
  void refuse(const Pick& pick, const Occupancy& occupancy);

 private:
  using Bits = std::vector<uint64_t>;  // one for each group
  struct Colour {
    Bits open;   // groups without a colour that may have this one
    Bits with;   // groups that have it
    Bits never;  // groups that must not have it, whoever else has
    uint32_t taken = 0;
  };

  void rule_out(uint32_t item, const Occupancy& occupancy);
  bool has_neighbour_in(uint32_t item, const Bits& groups) const;
  void add_colour(uint32_t taken);
  void open(uint32_t item, uint32_t colour);
  void close(uint32_t item, uint32_t colour);
  std::optional<uint32_t> most_urgent() const;
  uint32_t best_colour(uint32_t item) const;
  void give(uint32_t item, uint32_t colour);

  std::span<const Item> items_;
  uint32_t room_;
  Conflicts conflicts_;
  std::size_t words_;             // of a Bits
  std::vector<int32_t> degree_;   // neighbours of each group
  std::vector<int32_t> urgency_;  // closed colours, then neighbours; -1 of those that have a colour
  std::vector<Colour> colours_;
  Bits all_, uncoloured_;
};

}  // namespace weft::mcast
