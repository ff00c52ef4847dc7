// SPDX-License-Identifier: Apache-2.0
// A fabric as its switches see it: what is behind each port, and, in a two-dimensional fat tree, which place
// a switch has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "route/grid.hpp"
#include "switch/image.hpp"
#include "switchtables/faults.hpp"
#include "topology/graph.hpp"

namespace weft::switchtables {

/// What a cable leads to.
struct Far {
  enum class Kind : uint8_t { nothing, host, sw };
  Kind kind = Kind::nothing;
  uint32_t node = 0;
  uint16_t port = 0;  ///< there
};

class Fabric {
 public:
  /// @param spec as topology::load() has it; hosts behind ports that lookup blocks cannot have are left out.
  /// Throws Fault, also for switches of which more than 64 ports lead to switches.
  explicit Fabric(const std::string& spec);

  /// What of the whole fabric is alive, with the hosts of live switches: switches and hosts are numbered
  /// anew, ports stay. Throws Fault if no host is left, or what is left is not connected.
  /// @param faults of this fabric's graph, which is the whole one
  Fabric alive_of(const Faults& faults) const;

  const topology::Graph& graph() const { return graph_; }
  /// Hosts that were, such as the aggregation nodes of InfiniBand switches, at port 65 of 64.
  uint32_t left_out() const { return left_out_; }
  /// Those that stayed, by their numbers in what was loaded; empty if all did.
  const std::vector<uint32_t>& kept() const { return kept_; }
  /// Of the whole fabric; nothing if it is no two-dimensional fat tree.
  const std::optional<route::Grid>& grid() const { return grid_; }
  /// Number of a switch or host in the whole fabric.
  uint32_t whole_switch(uint32_t sw) const { return whole_switches_.empty() ? sw : whole_switches_[sw]; }
  uint32_t whole_host(uint32_t host) const { return whole_hosts_.empty() ? host : whole_hosts_[host]; }

  /// Ports 1 .. of a switch.
  const Far& behind(uint32_t sw, uint32_t port) const { return far_[sw][port - 1]; }
  uint32_t ports(uint32_t sw) const { return static_cast<uint32_t>(far_[sw].size()); }
  /// Of a switch with the most.
  uint32_t most_ports() const;
  /// Those behind which something is.
  switch_lookup::Ports alive(uint32_t sw) const;
  /// All hosts of the whole fabric have LIDs in the subnet; otherwise, in PLAIN tables, they are counted
  /// from 1.
  bool has_lids() const { return has_lids_; }
  /// Hosts without one in a subnet where others have; none if that is so of none or all.
  std::vector<uint32_t> hosts_without_lid() const;
  /// LIDs that lead to a port of a host; with counted ones to its first port only. Throws Fault for more
  /// hosts than there are LIDs.
  topology::Lids lids(uint32_t host, const topology::Arc& attachment) const;
  /// The port of a switch that a host sends by, as for multicast: its first one.
  const topology::Arc& attachment(uint32_t host) const { return graph_.attachments(host).front(); }

 private:
  Fabric(topology::Graph graph, const Fabric& whole, std::vector<uint32_t> switches,
         std::vector<uint32_t> hosts);
  void look_behind();

  uint32_t left_out_ = 0;
  std::vector<uint32_t> kept_;
  bool has_lids_ = false;  // also of what is left of it
  topology::Graph graph_;
  std::optional<route::Grid> grid_;
  std::vector<uint32_t> whole_switches_, whole_hosts_;  // empty: all are there
  std::vector<std::vector<Far>> far_;
};

}  // namespace weft::switchtables
