// SPDX-License-Identifier: Apache-2.0
// One image for all nodes at the same time, by multicast: who sends how fast along which trees, and what
// losses and late nodes cost.
//
// Switches copy, so each link carries each packet once. Where one server is slower than the nodes' links,
// several send, each a part of the image along its own tree (MR4LMS, model/mcast). What got lost anywhere
// goes to all again, round by round; who comes too late fetches the whole image from its planned server.
#pragma once

#include <cstdint>
#include <vector>

#include "boot/bandwidth.hpp"
#include "boot/flows.hpp"
#include "boot/machine.hpp"
#include "boot/plan.hpp"
#include "topology/graph.hpp"

namespace weft::boot {

struct Sender {
  uint32_t server = 0;
  double mbps = 0;
};

struct Multicast {
  std::vector<Sender> senders;  ///< each sends its part of mbps of the image
  Bandwidth bandwidth;          ///< what each node gets
};

/// The fastest servers, as many as it takes; it reaches replication_bound().
Multicast plan_multicast(const Machine& machine, const std::vector<uint32_t>& cpus);

/// Switches, links and hosts of a machine: hosts 0 and on are the nodes of the list, then the senders. Throws
/// Fault if a switch has too many links for a graph.
topology::Graph graph_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                         const std::vector<Sender>& senders);

struct Trees {
  uint32_t trees = 0, colours = 0, height = 0;
  uint64_t links = 0;       ///< of all trees
  double fullest_mbps = 0;  ///< most that one link carries in one direction
};

/// A tree for each of these senders, with all nodes; the same as MR4LMS trees in graph_of(). @param cpus at
/// least one
Trees trees_of(const Machine& machine, const std::vector<uint32_t>& cpus, const Multicast& multicast);

struct Hearing {
  double loss = 0;            ///< probability for each packet on each of the links N1 to N5, below 1
  double wait_seconds = 0;    ///< sending begins then; who begins later is late
  double report_seconds = 0;  ///< from the end of a round to the next one
  uint64_t seed = 1;
};

struct MulticastBoots {
  Boots boots;
  std::vector<uint64_t> rounds;  ///< packets of each
  uint32_t late = 0;             ///< nodes that fetched from their planned server
};

/// @param plan servers of those who are late; @param course when nodes begin, and how these fetch. Of a
/// sender that dies, nodes fetch the whole part from their planned server when they notice it
/// (multicast/receive.sh); what a node has got of it counts for nothing, as with uftp.
MulticastBoots simulate_multicast(const Machine& machine, const std::vector<uint32_t>& cpus,
                                  const Multicast& multicast, const Plan& plan, const Course& course,
                                  const Hearing& hearing);

}  // namespace weft::boot
