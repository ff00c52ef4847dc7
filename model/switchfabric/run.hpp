// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree, measured; with faults that strike while it runs.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "switchfabric/manager.hpp"
#include "switchfabric/traffic.hpp"

namespace weft::switchfabric {

struct RunConfig {
  Config fabric = {.buffer = 128};
  Pattern pattern = Pattern::uniform;
  double load = 0;         ///< packets a clock and host
  uint32_t clocks = 2000;  ///< in which hosts send; the second half is measured
  /// What is alive after each strike, each in the clock `strike_clock` + its number * `strike_gap`. Hosts
  /// send to the dead until all tables are rewritten. None: no strike; else, what is under way at the end is
  /// waited for.
  std::vector<route::Health> strikes;
  uint32_t strike_clock = 0, strike_gap = 0;
  ManagerConfig manager;
  MakeUnit unit;      ///< lookup blocks of switches; none: all follow the rules
  uint64_t seed = 1;  ///< of all of these
};

/// Of what is measured, but for `dropped`.
struct Flow {
  uint64_t senders = 0;
  uint64_t arrived = 0;
  uint64_t host_clocks = 0;  ///< senders times clocks
  uint64_t latency = 0;      ///< sum, clocks
  uint64_t switches = 0;     ///< sum, passed
  uint64_t detoured = 0;     ///< arrived through more switches than without faults
  uint64_t dropped = 0;      ///< by rules, in all clocks
  uint64_t lookups = 0;      ///< of lookup blocks, in all clocks
};

/// Parts of a run with strikes, by what the subnet manager does. Each can come again with the next fault.
enum class Phase : uint8_t {
  before,     ///< the first strike, from half of that time on
  news,       ///< a fault is not known yet
  rewriting,  ///< some switches have tables for what is dead, others not
  after,      ///< all have
};
inline constexpr std::size_t phases = 4;

/// What arrived in one of them, while hosts send.
struct PhaseFlow {
  uint64_t clocks = 0;
  uint64_t host_clocks = 0;  ///< of hosts that send
  uint64_t arrived = 0, latency = 0;
};

/// Of all packets of a run with strikes.
struct LiveReport {
  uint64_t sent = 0;  ///< but for those that were still in a host when it died
  uint64_t arrived = 0, detoured = 0;
  uint64_t twice = 0;                               ///< arrived once more
  uint64_t struck = 0;                              ///< lost in, or right before, what died
  uint64_t to_dead = 0;                             ///< dropped on the way to a dead leaf
  std::array<uint64_t, route::outcomes> dropped{};  ///< between live leaves, by why
  uint64_t left = 0;  ///< neither arrived nor lost at the end, or when that had not changed for long
  uint64_t first_strike = 0, last_loss = 0;  ///< clocks; of losses between live leaves, 0: none
  uint64_t last_loss_to_dead = 0;
  uint64_t tables_done = 0, rewritten = 0;  ///< clock of the last switch rewritten; how many
  std::array<PhaseFlow, phases> flows{};    ///< by phase
  std::vector<route::Channel> deadlock;     ///< channels of a ring, if there was one
  uint64_t deadlock_clock = 0;              ///< when it was found
};

struct RunReport {
  Flow flow;
  LiveReport live;
};

/// Of which the run is `rank` clocks old, of `total`.
using Watch = std::function<void(uint64_t rank, uint64_t total)>;

RunReport run(const route::Tables& tables, const route::Health& alive, const RunConfig& config,
              const Watch& watch = {});

}  // namespace weft::switchfabric
