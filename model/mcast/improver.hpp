// SPDX-License-Identifier: Apache-2.0
// Fewer colours for trees that are there, by moving them: colours are emptied one after the other. Never
// worse than before, in colours or in EFI.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/random.hpp"
#include "mcast/forest.hpp"
#include "mcast/hops.hpp"
#include "mcast/planner.hpp"
#include "mcast/roots.hpp"

namespace weft::mcast {

class Improver {
 public:
  /// @param forest with tables of switches; each tree has one group, of which it has the least height
  Improver(Forest& forest, const Hops& hops, uint64_t seed);

  /// Empties colours as long as `go_on` says so; asked often. @param enough colours, with which it ends
  void run(const std::function<bool()>& go_on, uint32_t enough);

 private:
  struct Moved {
    uint32_t group = 0;
    Tree tree;  // before
  };

  bool empty_one();
  bool empty_last();
  void stir();
  void swap_colours(uint32_t a, uint32_t b);
  bool insert(uint32_t group);
  bool insert_beside(uint32_t group, uint32_t colour);
  bool place(uint32_t group, uint32_t colour);
  bool place_anywhere(uint32_t group);
  bool place_again(const std::vector<uint32_t>& groups, uint32_t colour);
  void take_out(uint32_t group);
  void undo(std::size_t moves);
  void plant(Tree tree, uint32_t group);
  Tree fell(uint32_t group);
  void note(const Tree& tree, uint32_t owner);
  const Roots& roots_of(uint32_t group);
  std::vector<uint32_t> colours_for(uint32_t group);
  std::vector<uint32_t> in_the_way(uint32_t group, uint32_t colour) const;
  bool has_member(uint32_t group, uint32_t sw) const;
  std::size_t size_of(uint32_t colour) const;

  Forest& forest_;
  RandomStream random_;
  RootSearch root_search_;
  Planner planner_;
  Search search_;
  std::vector<Ends> ends_;                    // of each group
  std::vector<Roots> roots_;                  // of each group, once it was needed
  std::vector<std::vector<uint32_t>> owner_;  // by colour, of each switch: the group whose tree is there
  std::vector<Moved> log_;
  std::function<bool()> go_on_;
  uint32_t cap_ = 0;  // colours below it may be used
};

}  // namespace weft::mcast
