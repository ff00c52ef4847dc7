// SPDX-License-Identifier: Apache-2.0
// Several groups on one tree, where colours do not suffice (MR4LMS paper, 3.3, Alg. 4 and 5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mcast/forest.hpp"
#include "mcast/hops.hpp"
#include "mcast/roots.hpp"
#include "mcast/tree.hpp"
#include "mcast/ways.hpp"

namespace weft::mcast {

struct Merging {
  /// What becomes of the trees that are merged: built anew, or joined by branches and else left alone. With
  /// tables of ports they are always built anew, as two of one colour may cross.
  enum class How : uint8_t { rebuild, graft } how = How::rebuild;
  /// With which tree: the most similar one, by formula (1), or all that are in the way in the colour that has
  /// the fewest groups.
  enum class With : uint8_t { similar, least_loaded } with = With::similar;
};

class Merger {
 public:
  Merger(const Hops& hops, const Merging& merging);

  /// Of one forest only. Puts a group of two hosts or more, for which no colour is free, onto a tree with
  /// others.
  void merge(Forest& forest, uint32_t group, RootSearch& roots);

  /// A shortest way from one of these switches to one that is marked, through what is free in a colour: its
  /// links, the last one first; empty if there is none. @param marked switches, not needed to be free
  std::vector<uint32_t> free_way(const Forest& forest, uint32_t colour, std::span<const uint32_t> from,
                                 const std::vector<uint8_t>& marked);

 private:
  struct Virtual {  // the group of all that are merged
    uint32_t colour = none;
    std::vector<uint32_t> groups;
    std::vector<Tree> trees;  // that were theirs
    Ends ends;
  };

  struct Place {
    uint32_t sw = 0, hosts = 0;
  };
  struct Places {  // of a tree's members
    uint64_t planting = 0;
    uint32_t hosts = 0;
    std::vector<Place> at;
  };

  uint32_t most_similar(const Forest& forest, const Ends& ends);
  const Places& places_of(const Forest& forest, uint32_t tree);
  void take_in(Forest& forest, Virtual& all, uint32_t tree);
  void take_in_what_is_in_the_way(Forest& forest, Virtual& all, RootSearch& roots);
  bool is_connected(const Forest& forest, const Virtual& all);
  Tree rebuilt(const Forest& forest, const Virtual& all, RootSearch& roots);
  Tree grafted(const Forest& forest, const Virtual& all);
  void search(const Forest& forest, const Virtual& all, uint32_t from);
  uint32_t farthest(const Ends& ends) const;
  Tree tree_of_search(uint32_t root, const Virtual& all) const;

  const Hops& hops_;
  Merging merging_;
  Hops::Room room_;
  Ways ways_;
  Pruner pruner_;
  std::vector<uint32_t> distance_, up_;  // of the last search: hops from its start, link towards it
  std::vector<uint32_t> queue_;
  std::vector<uint8_t> wanted_;  // of each switch: an end that is not reached yet; none between searches
  std::vector<Places> places_;   // by tree
};

}  // namespace weft::mcast
