// SPDX-License-Identifier: Apache-2.0
// All shortest ways from a root to the switches of a group's members, and the colours in which they are free:
// all colours at once, a bit each. So to try every colour of the paper's G_color (3.2) costs about as much as
// to try one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/hops.hpp"
#include "mcast/occupancy.hpp"
#include "mcast/tree.hpp"

namespace weft::mcast {

class Ways {
 public:
  explicit Ways(const topology::Graph& graph);

  /// @param row hops from the root
  void find(uint32_t root, const uint8_t* row, const Ends& ends);

  /// Switches on the ways.
  std::size_t size() const { return size_; }
  /// Links on the ways.
  std::size_t ways() const { return ways_; }

  /// Colours in which a tree from this root to all ends along the ways is free; good until the next call.
  /// Links that `ceiling` groups use already are not used.
  std::span<const uint64_t> free_colours(const Occupancy& occupancy, const Ends& ends,
                                         uint32_t ceiling = no_limit) {
    return free_colours(occupancy, ends, ceiling, 0, occupancy.words());
  }
  /// The lowest of them, `none` if there is none; after it build() knows that colour.
  /// @param from no lower one is free, as is known
  /// @param below higher ones need not be found; `none`: any
  uint32_t lowest_colour(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling, uint32_t from,
                         uint32_t below);
  /// Whether one colour is among them.
  bool is_free(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling, uint32_t colour) {
    return free_colours(occupancy, ends, ceiling, colour / 64, 1).front() >> colour % 64 & 1;
  }

  /// What counts first at each switch on the way up: that few switches take part, or the link's load.
  enum class Prefer : uint8_t { few_switches, light_links };

  /// The tree in a colour of free_colours(), lowest_colour() or is_free(); or, if `colour` is none, whatever
  /// is free.
  Tree build(const Occupancy& occupancy, const Ends& ends, uint32_t colour, Prefer prefer);

 private:
  struct Node {
    uint32_t sw = 0;
    uint32_t first_up = 0, ups = 0;
    uint64_t serves = 0;  // members (modulo 64) that have a shortest way through it
  };
  struct Up {
    uint32_t node = 0, link = 0;
  };

  std::span<const uint64_t> free_colours(const Occupancy& occupancy, const Ends& ends, uint32_t ceiling,
                                         std::size_t first_word, std::size_t words);
  void sort_ends(const uint8_t* row, const Ends& ends);
  void find_ups(uint32_t index, uint8_t above, const uint8_t* row);
  void find_reach(const Occupancy& occupancy);
  void find_reach_in_word(const Occupancy& occupancy);
  bool is_usable(const Up& up, const Occupancy& occupancy, uint32_t colour) const {
    return colour == none || (is_reached(up.node, colour) && occupancy.is_free_in_link(up.link, colour) &&
                              occupancy.load(up.link) < ceiling_);
  }
  const Up& best_up(const Node& node, const Occupancy& occupancy, uint32_t colour, Prefer prefer) const;
  bool is_reached(uint32_t index, uint32_t colour) const {
    return reach_[index * words_ + colour / 64 - first_word_] >> colour % 64 & 1;
  }

  const topology::Graph* graph_;
  std::vector<uint32_t> index_;  // of each switch among nodes_, `none` if it is not there
  std::vector<Node> nodes_;      // first size_ of them: ends, then others from the farthest on
  std::vector<Up> ups_;          // first ways_ of them
  std::size_t size_ = 0, ways_ = 0;
  uint32_t root_ = 0;                       // a node
  std::vector<uint32_t> order_;             // nodes other than the root, the farthest from it first
  std::vector<uint32_t> ends_, first_end_;  // by their distance from the root; where each distance begins
  std::vector<uint8_t> needed_;             // of each node
  uint32_t height_ = 0;
  std::vector<uint64_t> reach_, common_;  // words_ of each node, of all ends
  std::size_t first_word_ = 0, words_ = 0;
  uint32_t ceiling_ = no_limit;
};

}  // namespace weft::mcast
