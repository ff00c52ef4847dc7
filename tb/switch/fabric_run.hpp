// SPDX-License-Identifier: Apache-2.0
// A whole fabric of lookup blocks with the tables of the generators: does every packet come to where it
// should, and by a way as short as the generators say?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "route/tables.hpp"
#include "switch/flaw.hpp"
#include "switchtables/faults.hpp"

namespace weft::tb {

struct FabricConfig {
  std::string topology, groups;
  std::string images;  ///< folder of the tables loaded first (image_folder.hpp); empty: made for the run
  std::optional<switchtables::Faults> known;  ///< what tables know to be dead
  std::optional<switchtables::Faults> later;  ///< and what dies later; tables are made anew for it
  bool update = false;                        ///< tables are replaced while packets fly
  double in_flight = 0.9;            ///< share of updates that must come into use between lookups of a pass
  uint32_t colours = 0;              ///< of trees; 0: all that blocks have, with an update half of them
  bool merged = false;               ///< groups may share trees, whose hosts get what is sent to any of them
  bool per_port = false;             ///< a multicast table for each input port
  bool rtl = true;                   ///< beside the golden model; otherwise that alone
  uint64_t most_pairs = 10'000'000;  ///< beyond that, so many pairs are drawn
  route::Options routes;             ///< of a two-dimensional fat tree
  uint32_t threads = 1;
  uint64_t seed = 1;
  std::string traces;      ///< folder for traces of all blocks (with RTL); empty: none
  Flaw flaw = Flaw::none;  ///< of the tables loaded first; those of an update are right
};

/// One pass over all groups and pairs, or over pairs alone.
struct FabricPass {
  std::string name;
  uint64_t multicast_packets = 0, copies = 0;  ///< sent; arrived at members
  uint64_t by_new_trees = 0;                   ///< of the packets: while there are old trees, too
  uint64_t foreign = 0;                        ///< copies at hosts of other groups that share the tree
  uint64_t cut_off = 0;                        ///< members that an old tree does not reach any more
  uint64_t unicast_packets = 0, arrived = 0;
  uint64_t pairs = 0;                        ///< that there are
  uint64_t lossy = 0;                        ///< switches and hosts between which packets may be lost
  uint64_t lost = 0;                         ///< unicast packets that were dropped, where that is allowed
  uint64_t wrong = 0;                        ///< packets of which something is not as it should be
  uint32_t max_hops = 0, promised_hops = 0;  ///< links between switches of a unicast packet
  uint64_t lookups = 0;
  uint32_t updates = 0;            ///< images that came into use, of these:
  uint32_t updates_in_flight = 0;  ///< with lookups of the pass before and after at the same switch
};

struct FabricResult {
  uint32_t switches = 0, hosts = 0, left_out = 0, groups = 0, merged_groups = 0, colours = 0, block_ports = 0;
  std::vector<FabricPass> passes;
  std::vector<std::string> findings;  ///< the first things that are wrong
  uint64_t clocks = 0;                ///< of all blocks
  /// Of an update: images with other entries, with other unicast entries; groups with another tree.
  uint32_t images_changed = 0, unicast_changed = 0, trees_changed = 0;
  double seconds = 0;  ///< of lookups

  bool ok() const { return findings.empty(); }
};

/// Throws Fault for what cannot be had; LookupMismatch if RTL and golden model differ.
FabricResult run_fabric(const FabricConfig& config);

}  // namespace weft::tb
