// SPDX-License-Identifier: Apache-2.0
// SCDA, BCDA and the balanced mapping.
#include "boot/plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace weft::boot {

namespace {

std::vector<uint32_t> live_servers(const Machine& machine) {
  std::vector<uint32_t> live;
  for (uint32_t server = 0; server < machine.servers; ++server) {
    if (!machine.failed_servers.contains(server)) live.push_back(server);
  }
  return live;
}

/// The largest of a few values, also after one of them has changed; the first of several.
class Contest {
 public:
  explicit Contest(uint32_t places)
      : first_(std::bit_ceil(std::max(places, 1u))), values_(first_, -1), winners_(2 * first_) {
    std::iota(winners_.begin() + first_, winners_.end(), 0);
    for (uint32_t at = first_ - 1; at != 0; --at) winners_[at] = winners_[2 * at];
  }

  void set(uint32_t place, double value) {
    values_[place] = value;
    for (uint32_t at = (first_ + place) / 2; at != 0; at /= 2) {
      const uint32_t left = winners_[2 * at], right = winners_[2 * at + 1];
      winners_[at] = values_[right] > values_[left] ? right : left;
    }
  }

  uint32_t winner() const { return winners_[1]; }
  double value() const { return values_[winner()]; }

 private:
  uint32_t first_;
  std::vector<double> values_;
  std::vector<uint32_t> winners_;
};

/// How many nodes servers and edge switches have, and where the next one gets most.
///
/// Nodes of a server share its link, nodes of an edge switch its uplink: nested sets, for which taking the
/// best place each time is optimal, whatever they have already.
class Room {
 public:
  explicit Room(const Machine& machine)
      : per_edge_(std::min(machine.servers_per_edge, machine.servers)), best_edge_(machine.edges()) {
    edges_.resize(machine.edges(), Edge{Contest(per_edge_)});
    servers_.resize(machine.servers);
    for (const uint32_t server : live_servers(machine)) {
      servers_[server].mbps = machine.server_mbps(server);
      edges_[server / per_edge_].best.set(server % per_edge_, servers_[server].share());
    }
    for (uint32_t edge = 0; edge < edges_.size(); ++edge) {
      edges_[edge].uplink_mbps = machine.link_mbps(3, edge);
      rank(edge);
    }
  }

  uint32_t best() const {
    const uint32_t edge = best_edge_.winner();
    return edge * per_edge_ + edges_[edge].best.winner();
  }

  void add(uint32_t server) { change(server, 1); }
  void remove(uint32_t server) { change(server, -1); }

  /// It has no nodes any more and gets none, until it is as before by revive().
  void kill(uint32_t server) {
    edges_[server / per_edge_].nodes -= servers_[server].nodes;
    edges_[server / per_edge_].best.set(server % per_edge_, -1);
    rank(server / per_edge_);
  }
  void revive(uint32_t server) {
    edges_[server / per_edge_].nodes += servers_[server].nodes;
    change(server, 0);
  }

 private:
  struct Server {
    double mbps = -1;  ///< has failed
    uint32_t nodes = 0;
    double share() const { return mbps / (nodes + 1); }
  };
  struct Edge {
    Contest best;
    uint32_t nodes = 0;
    double uplink_mbps = 0;
  };

  void change(uint32_t server, int nodes) {
    Edge& edge = edges_[server / per_edge_];
    servers_[server].nodes += nodes;
    edge.nodes += nodes;
    edge.best.set(server % per_edge_, servers_[server].share());
    rank(server / per_edge_);
  }

  void rank(uint32_t edge) {
    best_edge_.set(edge,
                   std::min(edges_[edge].best.value(), edges_[edge].uplink_mbps / (edges_[edge].nodes + 1)));
  }

  uint32_t per_edge_;
  std::vector<Server> servers_;
  std::vector<Edge> edges_;
  Contest best_edge_;
};

/// When a server dies, its nodes go where each gets most beside all others, which stay. For each server by
/// itself.
std::vector<uint32_t> backups_of(const Machine& machine, const std::vector<uint32_t>& servers) {
  if (live_servers(machine).size() == 1) return servers;
  Room room(machine);
  std::vector<std::vector<std::size_t>> nodes_of(machine.servers);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    room.add(servers[i]);
    nodes_of[servers[i]].push_back(i);
  }
  std::vector<uint32_t> backups(servers.size());
  for (uint32_t server = 0; server < machine.servers; ++server) {
    if (nodes_of[server].empty()) continue;
    room.kill(server);
    for (const std::size_t i : nodes_of[server]) room.add(backups[i] = room.best());
    for (const std::size_t i : nodes_of[server]) room.remove(backups[i]);
    room.revive(server);
  }
  return backups;
}

std::vector<uint32_t> balanced(const Machine& machine, std::size_t nodes) {
  Room room(machine);
  std::vector<uint32_t> servers(nodes);
  for (uint32_t& server : servers) room.add(server = room.best());
  return servers;
}

/// Blocks of nodes go to the servers in turn.
template <typename BlockOf>
std::vector<uint32_t> cyclic(const Machine& machine, const std::vector<uint32_t>& cpus, BlockOf block_of) {
  const auto live = live_servers(machine);
  std::vector<uint32_t> servers;
  servers.reserve(cpus.size());
  for (const uint32_t cpu : cpus) servers.push_back(live[block_of(cpu) % live.size()]);
  return servers;
}

std::vector<uint32_t> servers_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                                 Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::scda:
      return cyclic(machine, cpus, [&](uint32_t cpu) { return machine.supernode_of(cpu); });
    case Algorithm::bcda:
      return cyclic(machine, cpus, [&](uint32_t cpu) { return machine.board_of(cpu); });
    case Algorithm::balanced:
      break;
  }
  return balanced(machine, cpus.size());
}

}  // namespace

std::optional<Algorithm> algorithm_named(std::string_view name) {
  if (name == "scda") return Algorithm::scda;
  if (name == "bcda") return Algorithm::bcda;
  if (name == "balanced") return Algorithm::balanced;
  return std::nullopt;
}

Plan plan(const Machine& machine, const std::vector<uint32_t>& cpus, Algorithm algorithm) {
  Plan made{servers_of(machine, cpus, algorithm), {}};
  made.backups = backups_of(machine, made.servers);
  return made;
}

}  // namespace weft::boot
