// SPDX-License-Identifier: Apache-2.0
// Proof of tables: which channels packets can wait for while they hold others, and who reaches whom.
//
// A fabric is free of deadlock if no packets can wait for each other in a ring: the graph of "holds one
// channel, asks for the next" over all destinations has no cycle (Dally, Seitz 1987). While tables are being
// rewritten, packets routed by old and by new tables share the fabric, so the graph has what either allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "route/tables.hpp"

namespace weft::route {

struct Pair {
  Leaf from, to;
  bool operator==(const Pair&) const = default;
};

struct Report {
  uint64_t pairs = 0;       ///< ordered pairs of different leaves that are alive
  std::vector<Pair> lossy;  ///< of these: those of which a packet can be dropped, or never arrives
  std::array<uint64_t, outcomes>
      drops{};                 ///< states (channel, destination) in which a packet is dropped, by why
  std::vector<Channel> cycle;  ///< channels of a cycle; empty: free of deadlock
  uint32_t max_steps = 0;      ///< of packets that arrive; a step is up to a row or column and down
  uint64_t dependencies = 0;   ///< edges of the graph
};

/// @param mixture tables of which each switch has one; all for the same fabric and rules
/// @param dead_too also follows packets to leaves that are dead, as they come while a fault is news
/// @param each is told of every pair that is not lossy how many links its packets take at most
Report check(std::span<const Tables* const> mixture, const Health& alive, bool dead_too,
             const std::function<void(const Pair&, uint32_t links)>& each = {});

/// Why no packet of a pair arrives.
enum class Obstacle : uint8_t {
  graph,     ///< no links that are alive join the two
  channels,  ///< they do, but any way turns from column to row more often than there are channels for
  rules,     ///< each such way takes more steps than the rules (three; algorithm A: four), or others
  tables,    ///< there is one of as few, but not in these tables: masks of lines, other rules, made for other
             ///< faults; in fat trees also where an edge switch sends all packets to a home in vain
};

struct Proof {
  Obstacle obstacle = Obstacle::graph;
  /// graph, channels: how many leaves can be reached; nothing leads out of that set. rules, tables: a way of
  /// the fewest steps that channels allow.
  uint32_t reached = 0;
  std::vector<Leaf> way;
  std::size_t most_steps = 0;  ///< that the rules take
};
/// By tables with these options.
Proof prove_unreachable(const Pair& pair, const Health& alive, const Options& options);
std::string to_text(const Proof& proof);

}  // namespace weft::route
