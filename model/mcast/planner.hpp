// SPDX-License-Identifier: Apache-2.0
// A tree and its colour for one group, beside the trees that are there: weft's own way, and the paper's FBTC
// and FCTB (MR4LMS paper, Alg. 1 to 3, 5).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mcast/free_roots.hpp"
#include "mcast/hops.hpp"
#include "mcast/occupancy.hpp"
#include "mcast/roots.hpp"
#include "mcast/tree.hpp"
#include "mcast/ways.hpp"

namespace weft::mcast {

inline constexpr uint32_t low_height = 4;  ///< of trees for which many roots are tried at once

/// How roots and colours are tried.
struct Search {
  /// Roots that are tried at most, and switches on all ways from them: the first root is always tried.
  uint32_t roots = 8;
  std::size_t switches = 4000;
  /// What a group that passes a root counts, where 1 is a link on the way from the root to a member.
  float load = 1;
  /// Links between switches that so many groups use already are not used.
  uint32_t ceiling = 4;
};

class Planner {
 public:
  explicit Planner(const Hops& hops);

  /// All colours at once, from several roots with short ways and little load: the lowest colour in which a
  /// tree of the least height can be had from one of them. Nothing if there is none.
  /// @param number of the group: of roots that are equally good, groups try different ones
  std::optional<Tree> lowest_colour(const Occupancy& occupancy, const Ends& ends, const Roots& roots,
                                    uint32_t number, const Search& search);
  /// After lowest_colour() has found a tree: the ways that it is of. Others come in their place.
  void take_ways(Ways& kept) { std::swap(kept, best_ways_); }
  /// Beside what was taken meanwhile: the lowest colour along the ways of `tree` that were taken.
  static std::optional<Tree> along(Ways& kept, const Tree& tree, const Occupancy& occupancy, const Ends& ends,
                                   const Search& search);

  /// The same in one colour only. Low trees are tried from many roots at once, and by ways that are as long
  /// as the height allows; they begin beside what is taken already, so that room is left for others.
  std::optional<Tree> in_colour(const Occupancy& occupancy, const Ends& ends, const Roots& roots,
                                uint32_t number, const Search& search, uint32_t colour);
  /// Whether in_colour() might have found more with a higher ceiling.
  bool stopped_by_ceiling() const { return stopped_by_ceiling_; }

  /// FBTC: from each root, least loaded first, the tree of least loaded links, then its lowest free colour.
  std::optional<Tree> build_then_colour(const Occupancy& occupancy, const Ends& ends, const Roots& roots);

  /// FCTB: for each colour, lowest first, and each root: whether a tree of the least height is free.
  std::optional<Tree> colour_then_build(const Occupancy& occupancy, const Ends& ends, const Roots& roots);

 private:
  struct Candidate {
    float cost = 0;
    uint32_t order = 0, sw = 0;
  };

  void find(Ways& ways, uint32_t root, const Ends& ends) { ways.find(root, hops_.from(root, room_), ends); }
  void rank(const Occupancy& occupancy, const Roots& roots, uint32_t number, std::size_t most, float per_load,
            uint32_t colour = none);
  void rank_by_load(const Occupancy& occupancy, const Roots& roots);
  std::optional<Tree> from_one_root(const Occupancy& occupancy, const Ends& ends, const Search& search,
                                    uint32_t colour);
  std::optional<Tree> from_many_roots(const Occupancy& occupancy, const Ends& ends, uint32_t height,
                                      uint32_t ceiling, uint32_t colour);
  uint32_t most_taken_beside(const Occupancy& occupancy, std::span<const uint32_t> roots, uint64_t among,
                             uint32_t colour) const;
  uint32_t least_possible(const Occupancy& occupancy, const Ends& ends);

  const Hops& hops_;
  Hops::Room room_;
  Ways ways_, best_ways_;
  FreeRoots free_roots_;
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> tried_;  // roots
  bool stopped_by_ceiling_ = false;
  std::vector<uint64_t> common_;
};

}  // namespace weft::mcast
