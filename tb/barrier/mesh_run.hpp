// SPDX-License-Identifier: Apache-2.0
// Barriers of engines on the nodes of a mesh: does nobody leave early, do all leave, and is who is dead
// named?
//
// Every link is a way through model/fabric with its faults; a node's router takes a packet from one link,
// counts a hop and gives it to the next one on the shortest way through what is not broken, y first; Release
// goes back the way that Gather came, or is copied along a tree of all nodes and given to those of its group.
// Packets wait for each other on a link only if there is background traffic.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "barrier/engine.hpp"
#include "barrier/mesh.hpp"
#include "barrier/tree.hpp"
#include "busy_links.hpp"
#include "engine_node.hpp"
#include "fabric/network.hpp"

namespace weft::tb {

struct BarrierRun {
  barrier::Size size{4, 4};
  double broken = 0;                           ///< fraction of links
  std::optional<double> later = std::nullopt;  ///< ... once all have left half of the barriers: others break,
                                               ///< those that were broken are whole again
  barrier::Numbering numbering = barrier::Numbering::centre;
  barrier::Shape shape = barrier::Shape::lct;
  uint32_t block_log2 =
      0;  ///< two levels: blocks of 2^block_log2 members, in groups that are made of whole ones; 0: one level
  bool multicast =
      false;  ///< the root's Release is one packet, copied along the tree that MR4LMS gives all nodes
  enum class Engines { rtl, golden, mixed } engines = Engines::rtl;  ///< mixed: every other node
  fabric::Faults faults{.delay = 5};                                 ///< of every link
  Background background = {};  ///< from the start on; software first comes when it has lasted for a while
  uint32_t groups = 1;         ///< the first one of all nodes, others of some; 1 to 4
  uint32_t barriers = 10;      ///< of each group
  uint32_t think = 0;          ///< software comes back after up to so many clocks
  bool together = false;  ///< software comes to the next barrier everywhere in one clock, once all have left
  uint32_t pauses = 0;    ///< percent of clocks in which each stream of an engine pauses
  std::optional<barrier::Node> dies = std::nullopt;  ///< its engine, after half of the barriers
  uint32_t tries = 40;                               ///< repetitions without answer until a member is dead
  uint32_t late = 750;                               ///< ticks after which a member is late
  uint64_t most_clocks = 2'000'000;
  uint64_t seed = 1;
};

struct BarrierRunResult {
  uint32_t links = 0, broken_links = 0, radius = 0;  ///< radius in hops, of the best root
  uint64_t clocks = 0;
  uint64_t barriers = 0;         ///< that all members have left
  std::optional<double> cycles;  ///< of the first group, mean: from the last arrival to the last completion;
                                 ///< of none completed nothing
  std::optional<double>
      cycles_later;                 ///< ... of those after the links have changed, which `cycles` is not of
  uint32_t broken_later = 0;        ///< links
  uint64_t lower_bound = 0;         ///< of that: to the best root and back, links only
  uint64_t packets = 0, hops = 0;   ///< sent by engines; links crossed
  uint64_t repeated = 0;            ///< sent again, and questions
  fabric::NetworkCounters network;  ///< of all links
  uint32_t named_dead = 0;          ///< completions that name the dead member
  uint32_t named_late = 0;          ///< completions that name a late member
  uint32_t named_living = 0;        ///< ... a living one as dead, which is a finding
  uint64_t clocks_to_name = 0;      ///< from its death to the last of these
  uint64_t clocks_to_name_met = 0;  ///< at most, from when it was dead and the last to come so far was there
  uint64_t late_promised = 0;       ///< late members that a member had to be told of, and was
  std::vector<std::string> findings;  ///< the first things that are wrong; the run ends at the tenth
  uint64_t more_findings = 0;         ///< seen before it was at its end
  uint32_t farthest_parent = 0;       ///< links to it
  double false_deaths = 0;            ///< to be expected, about: false_death() of all who wait for a parent

  bool ok() const { return findings.empty(); }
};

/// Ticks and tries of all groups.
barrier::Waiting waiting_of(const BarrierRun& run);

/// How likely a packet does not come whole over a link.
double lost_on_a_link(const BarrierRun& run);

/// How likely a living member, so many links away, is taken for dead by one who waits for it: none of all
/// tries is answered.
double false_death(const BarrierRun& run, uint32_t links);

/// Throws Fault for what cannot be had. A mismatch of RTL and golden model is a finding.
BarrierRunResult run_barriers(const BarrierRun& run);

using EngineOf = std::function<std::unique_ptr<EngineNode>(barrier::Node)>;

/// ... with engines of the caller in place of `run.engines`, which may be wrong ones.
BarrierRunResult run_barriers(const BarrierRun& run, const EngineOf& engine_of);

/// A run with everything drawn: mesh, broken links, faults, groups, pauses, a death.
BarrierRun drawn_run(uint64_t seed);

}  // namespace weft::tb
