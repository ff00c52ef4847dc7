// SPDX-License-Identifier: Apache-2.0
// The fabric as a graph: switches, hosts (terminals) and the cables between their ports. Built once, never
// changed; compact enough for a million hosts.
//
// Switches are numbered 0 .. switches() - 1, hosts 0 .. hosts() - 1 in the order of their topology, each by
// itself. Ports have the numbers of InfiniBand: 1 .. N. A link is a cable, the same in both directions; two
// switches may have several. Links between switches are numbered 0 .. switch_links() - 1, those of hosts come
// after them in the order of hosts and their ports: with one link a host, host h has link switch_links() + h.
// Numbers of links follow from switches, hosts and ports, not from the order in which links were given.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace weft::topology {

inline constexpr uint32_t most_hosts = 1u << 20;
inline constexpr uint32_t most_switches = 1u << 18;
inline constexpr uint32_t most_ports = 65535;  ///< of a switch or host; InfiniBand has 254
inline constexpr uint32_t most_links = 1u << 26;
inline constexpr uint32_t no_link = std::numeric_limits<uint32_t>::max();

/// A switch or a host as its owner knows it.
struct Node {
  uint64_t guid = 0;  ///< not 0, no two nodes have the same
  std::string name;   ///< node description: what is written between quotation marks; no control characters
  uint32_t ports = 0;
  bool router = false;  ///< of a host: an InfiniBand router to other subnets

  bool operator==(const Node&) const = default;
};

/// Why no graph can have this node, or a link at this port of it; empty if it can.
std::string fault_of_node(const Node& node);
std::string fault_of_port(const Node& node, uint32_t port);

/// Both ends of a link. Between switches: `a` is the lower one. Of a host: `a` is the host, `b` the switch.
struct Link {
  uint32_t a = 0, b = 0;
  uint16_t a_port = 0, b_port = 0;
  uint32_t mbps = 0;  ///< of data in each direction; 0: nobody has told

  bool operator==(const Link&) const = default;
};

/// LIDs of a host's port in an InfiniBand subnet: 2^lmc in a row.
struct Lids {
  uint16_t first = 0;  ///< 0: nobody has told
  uint8_t lmc = 0;

  uint32_t end() const { return first == 0 ? 0 : first + (1u << lmc); }
  bool operator==(const Lids&) const = default;
};
/// Why 2^lmc LIDs from `first` on, which is not 0, cannot be a port's; empty if they can.
std::string fault_of_lids(uint32_t first, uint32_t lmc);
inline constexpr uint32_t most_unicast_lid = 0xbfff;

/// A link as seen from one of its ends.
struct Arc {
  uint32_t node = 0;  ///< at the other end
  uint32_t link = 0;
  uint16_t port = 0;       ///< at this end
  uint16_t peer_port = 0;  ///< at the other end

  bool operator==(const Arc&) const = default;
};

/// What a graph is made of, in any order of links.
struct Parts {
  struct HostLink {
    uint32_t host = 0, at = 0;  ///< the switch
    uint16_t host_port = 0, switch_port = 0;
    uint64_t port_guid = 0;  ///< of the host's port; 0: the GUID of the host + its port, as ibsim has it
    uint32_t mbps = 0;       ///< as of other links
    Lids lids = {};          ///< of the host's port
  };
  std::vector<Node> switches, hosts;
  std::vector<Link> switch_links;
  std::vector<HostLink> host_links;
};

class Graph {
 public:
  /// Throws std::invalid_argument: a port that is not there or has two links, a link from a switch to itself
  /// or to one that is not there, a GUID that is 0 or there twice (also of ports of hosts), a LID
  /// that is there twice or beyond the unicast ones, a name with control characters, no switch, no host, too
  /// many of something. Parts may be unconnected: see distances.hpp.
  explicit Graph(Parts parts);

  uint32_t switches() const { return static_cast<uint32_t>(switch_info_.size()); }
  uint32_t hosts() const { return static_cast<uint32_t>(host_info_.size()); }
  uint32_t links() const { return static_cast<uint32_t>(links_.size()); }
  uint32_t switch_links() const { return switch_links_; }

  /// Links of a switch to other switches, to hosts, and of a host to switches, each by port.
  std::span<const Arc> neighbours(uint32_t sw) const { return between_.of(sw); }
  std::span<const Arc> hosts_at(uint32_t sw) const { return down_.of(sw); }
  std::span<const Arc> attachments(uint32_t host) const { return up_.of(host); }

  const Link& link(uint32_t link) const { return links_[link]; }
  bool is_host_link(uint32_t link) const { return link >= switch_links_; }
  /// The link at port 1 .. N of a switch; `no_link` if nothing is connected.
  uint32_t link_at(uint32_t sw, uint32_t port) const { return port_links_[port_start_[sw] + port - 1]; }
  /// The GUID of the host's port that this link is plugged into.
  uint64_t port_guid(uint32_t host_link) const { return port_guids_[host_link - switch_links_]; }

  /// LIDs of that port.
  Lids lids(uint32_t host_link) const { return lids_.empty() ? Lids() : lids_[host_link - switch_links_]; }

  const Node& switch_info(uint32_t sw) const { return switch_info_[sw]; }
  const Node& host_info(uint32_t host) const { return host_info_[host]; }

  /// Same nodes with the same numbers, same links.
  bool operator==(const Graph&) const = default;

 private:
  /// Arcs of each node, one after the other.
  struct Arcs {
    std::vector<uint32_t> start;  // one more than there are nodes
    std::vector<Arc> arcs;
    std::span<const Arc> of(uint32_t node) const {
      return {arcs.data() + start[node], arcs.data() + start[node + 1]};
    }
    bool operator==(const Arcs&) const = default;
  };

  void take_links(Parts& parts);
  void take_lids(const std::vector<Parts::HostLink>& links);
  void fill_ports();
  void fill_arcs();

  std::vector<Node> switch_info_, host_info_;
  std::vector<Link> links_;
  std::vector<uint64_t> port_guids_;
  std::vector<Lids> lids_;  // empty: nobody has told of any
  uint32_t switch_links_ = 0;
  std::vector<uint32_t> port_start_, port_links_;
  Arcs between_, down_, up_;
};

/// The same fabric with switches and hosts numbered by GUID: equal for two descriptions of one fabric in any
/// order.
Graph by_guid(const Graph& graph);

}  // namespace weft::topology
