// SPDX-License-Identifier: Apache-2.0
// A boot as flows that share links max-min fairly: when each node has its image.
//
// Nodes of one board that fetch from the same server have the same rate at any time, whenever they began; so
// rates are those of such groups. Mb/s and Mb are those of links, headers included.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "boot/machine.hpp"
#include "boot/plan.hpp"

namespace weft::boot {

/// How an image comes over a link.
struct Protocol {
  double efficiency = 1;                                       ///< bytes of the image / bytes on the link
  double most_mbps = std::numeric_limits<double>::infinity();  ///< of one node, on the link
  double begin_seconds = 0;                                    ///< until the first byte is sent
};

/// TCP with segments of 1448 bytes; a round trip to connect, one to ask.
Protocol http(double round_trip_seconds);

/// Blocks of 1432 bytes, of which `window` (RFC 7440; 1 without) are sent each round trip.
Protocol tftp(double round_trip_seconds, uint32_t window);

/// A server, or nodes, or both send and get nothing from a moment on. Who fetched from them goes on, or
/// begins again, at the next one of the plan when it notices it: so long after the death, or after its own
/// start.
struct Death {
  std::optional<uint32_t> server;
  double seconds = 0;
  double notice_seconds = 0;  ///< for each that turns out to be dead
  std::vector<uint32_t> cpus = {};

  bool has_server(uint32_t number) const { return server == number; }
  bool has_cpu(uint32_t cpu) const { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); }
};

struct Course {
  Protocol protocol;
  std::vector<double> begins;  ///< of each node in seconds; empty: all at 0
  std::optional<Death> death = {};
  /// Rates are found anew at most so often, in seconds: who begins waits for that, and what a node that is
  /// done leaves is not used before. 0: at every change.
  double resolution = 0;
  std::vector<double> parts = {};  ///< of the image that each node fetches; empty: all of it
};

struct Boots {
  std::vector<double> seconds;  ///< when each node has its image; infinite: it died
  uint64_t allocations = 0;     ///< how often rates were found
  uint32_t begun_again = 0;     ///< how often a node had to go elsewhere because one died
};

/// @param cpus nodes that boot; @param plan servers and backups of each. Throws Fault if a node cannot boot:
/// its server dies and it has no backup. Who has to go to the backup begins again.
Boots simulate(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
               const Course& course);

}  // namespace weft::boot
