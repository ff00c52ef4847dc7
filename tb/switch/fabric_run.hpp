// SPDX-License-Identifier: Apache-2.0
// A whole fabric of lookup blocks with the tables of the generators: does every packet come to where it
// should, and by a way as short as the generators say?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "route/grid.hpp"
#include "switch/flaw.hpp"

namespace weft::tb {

struct FabricConfig {
  std::string topology, groups;
  std::optional<route::Health> known;  ///< of a two-dimensional fat tree: what tables know to be dead
  std::optional<route::Health> later;  ///< and what dies later; tables are made anew for it
  bool update = false;                 ///< tables are replaced while packets fly
  bool per_port = false;               ///< a multicast table for each input port
  bool rtl = true;                     ///< beside the golden model; otherwise that alone
  uint64_t most_pairs = 10'000'000;    ///< beyond that, so many pairs are drawn
  uint32_t channels = 2;               ///< virtual channels of a two-dimensional fat tree
  uint32_t threads = 1;
  uint64_t seed = 1;
  std::string traces;      ///< folder for traces of all blocks (with RTL); empty: none
  Flaw flaw = Flaw::none;  ///< of the tables loaded first; those of an update are right
};

/// One pass over all groups and pairs, or over pairs alone.
struct FabricPass {
  std::string name;
  uint64_t multicast_packets = 0, copies = 0;  ///< sent; arrived at members
  uint64_t unicast_packets = 0, arrived = 0;
  uint64_t pairs = 0;                        ///< that there are
  uint64_t lost = 0;                         ///< unicast packets that were dropped, where that is allowed
  uint64_t wrong = 0;                        ///< packets of which something is not as it should be
  uint32_t max_hops = 0, promised_hops = 0;  ///< links between switches of a unicast packet
  uint64_t lookups = 0;
};

struct FabricResult {
  uint32_t switches = 0, hosts = 0, groups = 0, colours = 0, block_ports = 0;
  std::vector<FabricPass> passes;
  std::vector<std::string> findings;  ///< the first things that are wrong
  uint64_t clocks = 0;                ///< of all blocks
  uint32_t images_updated = 0;
  double seconds = 0;  ///< of lookups

  bool ok() const { return findings.empty(); }
};

/// Throws Fault for what cannot be had; LookupMismatch if RTL and golden model differ.
FabricResult run_fabric(const FabricConfig& config);

}  // namespace weft::tb
