// SPDX-License-Identifier: Apache-2.0
// Groups that are routed together get colours first, by their members alone; then each its tree in its
// colour, while switches with members of others of that colour are held for them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mcast/colouring.hpp"
#include "mcast/crew.hpp"
#include "mcast/forest.hpp"
#include "mcast/hops.hpp"
#include "mcast/planner.hpp"
#include "mcast/roots.hpp"

namespace weft::mcast {

/// What a thread needs to plan trees.
struct Worker {
  explicit Worker(const Hops& hops) : roots(hops), planner(hops) {}
  RootSearch roots;
  Planner planner;
};

class ColourFirst {
 public:
  /// @param search of which the ceiling may rise
  ColourFirst(const Hops& hops, Forest& forest, Search& search, Crew& crew, std::vector<Worker>& workers);

  /// Whether it is worth it: switches with hosts are on ways between others, so that much is held; trees are
  /// low, and there is often more than one shortest way for them, so that they can be led around that.
  bool suits(std::span<const uint32_t> groups);

  /// @param groups without trees, some of several switches' members
  /// @param progress is told how many groups have a tree
  /// @return groups that found none in a few colours
  std::vector<uint32_t> route(std::span<const uint32_t> groups,
                              const std::function<void(uint32_t)>& progress);

 private:
  struct Plan {
    uint32_t group = 0;
    Ends ends;
    Roots roots;
    uint32_t refused = 0;  // colours
    bool above = false;    // its tree was above the ceiling
  };
  struct Try {
    Colouring::Pick pick;
    std::optional<Tree> tree;
    bool above_ceiling = false;  // the tree
  };

  struct Move {
    uint32_t group = 0;
    std::optional<Tree> tree;
  };

  void route_window(std::span<const uint32_t> groups, std::vector<uint32_t>& left);
  bool pick(Colouring& colouring, std::vector<uint32_t>& left);
  std::vector<Try> next_batch();
  void plan(Try& trial, Worker& worker);
  void commit(Try& trial, Colouring& colouring, std::vector<uint32_t>& left);
  void refuse(const Colouring::Pick& pick, Colouring& colouring, std::vector<uint32_t>& left);
  void empty_last_colours();
  bool is_free(const Tree& tree) const;
  bool is_below_ceiling(const Tree& tree) const;

  const Hops& hops_;
  Forest& forest_;
  Search& search_;
  Crew& crew_;
  std::vector<Worker>& workers_;
  std::vector<Plan> plans_;
  std::deque<Colouring::Pick> ready_;  // with their switches held
  bool raised_ = false;                // the ceiling, in this round
  uint32_t planted_ = 0;
};

}  // namespace weft::mcast
