// SPDX-License-Identifier: Apache-2.0
// Groups come, change and go; each has a tree and a colour at all times (MR4LMS paper, Alg. 7 and 6).
//
// Trees that are there are moved only where `Merging::rebuild` says so, and where their own groups change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mcast/colour_first.hpp"
#include "mcast/crew.hpp"
#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "mcast/merger.hpp"
#include "mcast/planner.hpp"
#include "mcast/roots.hpp"

namespace weft::mcast {

enum class Algorithm : uint8_t {
  weft,   ///< lowest colour of all roots that are worth it; groups routed together go by size
  paper,  ///< FBTC, after a failure FCTB until that succeeds 20 times in a row (Alg. 7)
  fbtc,   ///< first build, then colour (Alg. 1)
  fctb,   ///< first colour, then build (Alg. 3)
};

struct RouterOptions {
  Algorithm algorithm = Algorithm::weft;
  uint32_t colours = no_limit;  ///< 1 to most_colours, or no_limit
  Tables tables = Tables::of_switch;
  Merging merging;
  uint32_t threads = 1;  ///< for groups routed together; the result is the same for any number
  uint32_t block = 8;    ///< groups that are planned at a time
  uint32_t apart = 32;   ///< of groups routed together, neighbours come so many later, if there are as many
};

class Router {
 public:
  /// `hops` must outlive it.
  Router(const Hops& hops, const RouterOptions& options);

  /// Hosts in any order. The number of the group.
  uint32_t create(std::vector<uint32_t> hosts);
  /// All of these groups, numbered as there. @param progress is told how many of how many are routed
  void create_all(const Groups& groups, const std::function<void(uint32_t, uint32_t)>& progress = {});
  /// First of all: the groups of another forest, numbered as there, with their trees. If it has more colours
  /// than may be used, those of the most groups remain, with other numbers; groups of the others are routed,
  /// large ones first.
  void adopt(const Forest& other);
  /// Nothing changes for a host that is a member already, or is none.
  void join(uint32_t group, uint32_t host);
  void leave(uint32_t group, uint32_t host);
  void remove(uint32_t group);

  const Forest& forest() const& { return forest_; }
  Forest forest() && { return std::move(forest_); }
  uint32_t merges() const { return merges_; }  ///< groups that found no colour of their own

 private:
  void route(uint32_t group);
  void place(uint32_t group, const Ends& ends, const Roots& roots);
  std::optional<Tree> plan(uint32_t group, const Ends& ends, const Roots& roots);
  std::optional<Tree> plan_below_ceiling(uint32_t group, const Ends& ends, const Roots& roots);
  std::optional<Tree> plan_by_alg_7(const Ends& ends, const Roots& roots);
  struct Planned {
    uint32_t group = none;
    Ends ends;
    Roots roots;
    std::optional<Tree> tree;
    Ways ways;
  };
  void route_in_rounds(std::span<const uint32_t> groups, const std::function<void(uint32_t)>& progress);
  void plan_round(std::span<Planned> round);
  bool try_graft(uint32_t group, uint32_t host);
  void set_hosts(uint32_t group, std::vector<uint32_t> hosts);
  bool is_free(const Tree& tree) const;

  const Hops& hops_;
  RouterOptions options_;
  Forest forest_;
  Search search_;  // as for all groups now
  Crew crew_;
  std::vector<Worker> workers_;  // one for each thread
  Merger merger_;
  Pruner pruner_;
  uint32_t merges_ = 0;
  bool by_colour_ = false;  // Alg. 7: FCTB is used
  uint32_t in_a_row_ = 0;
};

}  // namespace weft::mcast
