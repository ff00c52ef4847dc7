// SPDX-License-Identifier: Apache-2.0
// SCDA, BCDA and the balanced mapping.
#include "boot/plan.hpp"

#include <algorithm>
#include <queue>

namespace weft::boot {

namespace {

std::vector<uint32_t> live_servers(const Machine& machine) {
  std::vector<uint32_t> live;
  for (uint32_t server = 0; server < machine.servers; ++server) {
    if (!machine.failed_servers.contains(server)) live.push_back(server);
  }
  return live;
}

/// Servers one after the other, each where the next node gets most.
///
/// Nodes of a server share its link, nodes of an edge switch its uplink: nested sets, for which taking the
/// best place each time is optimal. The first M that are dealt are those of M nodes.
class Dealer {
 public:
  explicit Dealer(const Machine& machine) : uplink_mbps_(machine.links[3].total()) {
    edges_.resize(machine.edges());
    for (const uint32_t server : live_servers(machine))
      edges_[machine.edge_of(server)].servers.push({machine.server_mbps(server), server, 1});
    for (uint32_t edge = 0; edge < edges_.size(); ++edge) push(edge);
  }

  uint32_t next() {
    Edge& edge = edges_[best_.top().index];
    const uint32_t index = best_.top().index;
    best_.pop();
    Place place = edge.servers.top();
    edge.servers.pop();
    const uint32_t server = place.index;
    ++place.nodes;
    edge.servers.push(place);
    ++edge.nodes;
    push(index);
    return server;
  }

 private:
  /// What each of `nodes` nodes gets.
  struct Place {
    double mbps = 0;
    uint32_t index = 0, nodes = 1;
    double share() const { return mbps / nodes; }
    bool operator<(const Place& other) const {
      return share() != other.share() ? share() < other.share() : index > other.index;
    }
  };
  struct Edge {
    std::priority_queue<Place> servers;
    uint32_t nodes = 0;
  };

  void push(uint32_t index) {
    const Edge& edge = edges_[index];
    if (edge.servers.empty()) return;
    best_.push({std::min(edge.servers.top().share(), uplink_mbps_ / (edge.nodes + 1)), index, 1});
  }

  double uplink_mbps_;
  std::vector<Edge> edges_;
  std::priority_queue<Place> best_;
};

/// Each node of a server that dies goes on where the dealer would put the next nodes. Where it would put
/// very many on the dead server, because that is so much faster, the others take turns.
std::vector<uint32_t> dealt_backups(Dealer& dealer, const std::vector<uint32_t>& servers,
                                    const std::vector<uint32_t>& live) {
  constexpr uint32_t most_tries = 64;
  if (live.size() == 1) return servers;
  std::vector<uint32_t> more, at(live.back() + 1, 0), backups;
  backups.reserve(servers.size());
  for (const uint32_t server : servers) {
    uint32_t backup = server;
    for (uint32_t tries = 0; backup == server && tries < most_tries; ++tries) {
      if (at[server] == more.size()) more.push_back(dealer.next());
      backup = more[at[server]++];
    }
    for (std::size_t i = backups.size(); backup == server; ++i) backup = live[i % live.size()];
    backups.push_back(backup);
  }
  return backups;
}

Plan balanced(const Machine& machine, const std::vector<uint32_t>& cpus) {
  Plan made;
  Dealer dealer(machine);
  made.servers.reserve(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) made.servers.push_back(dealer.next());
  made.backups = dealt_backups(dealer, made.servers, live_servers(machine));
  return made;
}

/// Blocks of nodes go to the servers in turn; backups are the next in turn.
template <typename BlockOf>
Plan cyclic(const Machine& machine, const std::vector<uint32_t>& cpus, BlockOf block_of) {
  const auto live = live_servers(machine);
  Plan made;
  made.servers.reserve(cpus.size());
  made.backups.reserve(cpus.size());
  for (const uint32_t cpu : cpus) {
    made.servers.push_back(live[block_of(cpu) % live.size()]);
    made.backups.push_back(live[(block_of(cpu) + 1) % live.size()]);
  }
  return made;
}

}  // namespace

std::optional<Algorithm> algorithm_named(std::string_view name) {
  if (name == "scda") return Algorithm::scda;
  if (name == "bcda") return Algorithm::bcda;
  if (name == "balanced") return Algorithm::balanced;
  return std::nullopt;
}

Plan plan(const Machine& machine, const std::vector<uint32_t>& cpus, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::scda:
      return cyclic(machine, cpus, [&](uint32_t cpu) { return machine.supernode_of(cpu); });
    case Algorithm::bcda:
      return cyclic(machine, cpus, [&](uint32_t cpu) { return machine.board_of(cpu); });
    case Algorithm::balanced:
      break;
  }
  return balanced(machine, cpus);
}

}  // namespace weft::boot
