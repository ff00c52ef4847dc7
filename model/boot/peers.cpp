// SPDX-License-Identifier: Apache-2.0
// Chains of nodes.
#include "boot/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace weft::boot {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<std::size_t> by_number(const std::vector<uint32_t>& cpus) {
  std::vector<std::size_t> order(cpus.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(cpus.begin(), cpus.end()))
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cpus[a] < cpus[b]; });
  return order;
}

std::vector<std::size_t> cut(std::size_t nodes, std::size_t chains) {
  std::vector<std::size_t> begins(chains + 1);
  for (std::size_t chain = 0; chain <= chains; ++chain) begins[chain] = nodes * chain / chains;
  return begins;
}

/// Transfers on the links of one segment, in each direction.
struct Uses {
  explicit Uses(uint64_t links) : up(links, 0), down(links, 0) {}
  std::vector<uint32_t> up, down;
  uint32_t most() const {
    return std::max(*std::max_element(up.begin(), up.end()), *std::max_element(down.begin(), down.end()));
  }
  /// @param from link of the sender, or none
  void add(std::optional<uint32_t> from, uint32_t to) {
    if (from == to) return;
    if (from) ++up[*from];
    ++down[to];
  }
};

Bandwidth bandwidth_of_chains(const Machine& machine, const std::vector<uint32_t>& cpus,
                              const Chains& chains) {
  Uses boards(machine.boards()), supernodes(machine.supernodes);
  std::vector<uint32_t> heads;
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    heads.push_back(cpus[chains.order[chains.begins[chain]]]);
    std::optional<uint32_t> board, supernode;
    for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at) {
      const uint32_t cpu = cpus[chains.order[at]];
      boards.add(board, machine.board_of(cpu));
      supernodes.add(supernode, machine.supernode_of(cpu));
      board = machine.board_of(cpu);
      supernode = machine.supernode_of(cpu);
    }
  }
  Bandwidth found = bandwidth_of(machine, heads, chains.servers);
  found.mbps[1] = machine.links[1].total() / boards.most();
  found.mbps[2] = machine.links[2].total() / supernodes.most();
  found.least_mbps = *std::min_element(found.mbps.begin(), found.mbps.end());
  const auto pieces = static_cast<double>(chains.pieces);
  found.boot_seconds =
      machine.image_megabits / found.least_mbps * (1 + static_cast<double>(chains.longest() - 1) / pieces);
  found.limiting = limiting_of(found.mbps);
  return found;
}

/// Numbers of chains worth a try: each for a node, board, supernode or server, and powers of two.
std::set<std::size_t> counts_to_try(const Machine& machine, const std::vector<uint32_t>& cpus) {
  const std::size_t nodes = cpus.size();
  const std::size_t live = machine.servers - machine.failed_servers.size();
  std::set<std::size_t> counts = {nodes, nodes / machine.cpus_per_board,
                                  nodes / machine.cpus_per_board / machine.boards_per_supernode};
  for (std::size_t each = 1; each < nodes; each *= 2) counts.insert({each, each * live});
  std::erase_if(counts, [&](std::size_t count) { return count == 0 || count > nodes; });
  return counts;
}

/// A transfer from its predecessor in the chain, or from a server, to a node.
struct Transfer {
  std::array<uint32_t, 8> links{};
  uint32_t count = 0;
  double mbps = 0;
  void add(uint32_t link) { links[count++] = link; }
};

/// Transfers share links max-min fairly.
class Sharing {
 public:
  explicit Sharing(const Machine& machine) : machine_(machine) {
    for (uint32_t direction = 0; direction < 2; ++direction) {
      boards_[direction] = add(machine.boards(), machine.links[1].total());
      supernodes_[direction] = add(machine.supernodes, machine.links[2].total());
    }
    edges_ = add(machine.edges(), machine.links[3].total());
    servers_ = static_cast<uint32_t>(left_.size());
    for (uint32_t server = 0; server < machine.servers; ++server)
      left_.push_back(machine.server_mbps(server));
    uses_.resize(left_.size(), 0);
  }

  void from_server(uint32_t server, uint32_t cpu) {
    Transfer transfer;
    transfer.add(servers_ + server);
    transfer.add(edges_ + machine_.edge_of(server));
    transfer.add(supernodes_[1] + machine_.supernode_of(cpu));
    transfer.add(boards_[1] + machine_.board_of(cpu));
    take(transfer);
  }

  void from_node(uint32_t from, uint32_t cpu) {
    Transfer transfer;
    if (machine_.board_of(from) != machine_.board_of(cpu)) {
      transfer.add(boards_[0] + machine_.board_of(from));
      transfer.add(boards_[1] + machine_.board_of(cpu));
    }
    if (machine_.supernode_of(from) != machine_.supernode_of(cpu)) {
      transfer.add(supernodes_[0] + machine_.supernode_of(from));
      transfer.add(supernodes_[1] + machine_.supernode_of(cpu));
    }
    take(transfer);
  }

  /// Of each transfer, in the order in which they were told.
  std::vector<double> rates() && {
    std::vector<Transfer*> growing;
    for (Transfer& transfer : transfers_) growing.push_back(&transfer);
    while (!growing.empty()) {
      const double level = std::min(least_share(), machine_.links[0].total());
      // those at a full link stay; if the nodes' own links are full, all do
      const auto stays = [&](const Transfer* transfer) {
        return level >= machine_.links[0].total() || is_full(*transfer, level);
      };
      const auto stopped = std::stable_partition(growing.begin(), growing.end(),
                                                 [&](Transfer* transfer) { return !stays(transfer); });
      for (auto each = stopped; each != growing.end(); ++each) stop(**each, level);
      growing.erase(stopped, growing.end());
    }
    std::vector<double> found;
    for (const Transfer& transfer : transfers_) found.push_back(transfer.mbps);
    return found;
  }

 private:
  uint32_t add(uint64_t links, double mbps) {
    const auto first = static_cast<uint32_t>(left_.size());
    left_.insert(left_.end(), links, mbps);
    return first;
  }

  void take(const Transfer& transfer) {
    transfers_.push_back(transfer);
    for (uint32_t i = 0; i < transfer.count; ++i) ++uses_[transfer.links[i]];
  }

  double share(uint32_t link) const { return uses_[link] == 0 ? infinite : left_[link] / uses_[link]; }

  double least_share() const {
    double least = infinite;
    for (uint32_t link = 0; link < uses_.size(); ++link) least = std::min(least, share(link));
    return least;
  }

  bool is_full(const Transfer& transfer, double level) const {
    return std::any_of(transfer.links.begin(), transfer.links.begin() + transfer.count,
                       [&](uint32_t link) { return share(link) <= level * (1 + 1e-9); });
  }

  void stop(Transfer& transfer, double level) {
    transfer.mbps = level;
    for (uint32_t i = 0; i < transfer.count; ++i) {
      left_[transfer.links[i]] = std::max(0.0, left_[transfer.links[i]] - level);
      --uses_[transfer.links[i]];
    }
  }

  const Machine& machine_;
  std::vector<double> left_;
  std::vector<uint32_t> uses_;
  std::array<uint32_t, 2> boards_{}, supernodes_{};  ///< first link up, down
  uint32_t edges_ = 0, servers_ = 0;
  std::vector<Transfer> transfers_;
};

std::vector<double> rates_of(const Machine& machine, const std::vector<uint32_t>& cpus,
                             const Chains& chains) {
  Sharing sharing(machine);
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at) {
      const uint32_t cpu = cpus[chains.order[at]];
      if (at == chains.begins[chain])
        sharing.from_server(chains.servers[chain], cpu);
      else
        sharing.from_node(cpus[chains.order[at - 1]], cpu);
    }
  }
  return std::move(sharing).rates();
}

}  // namespace

std::size_t Chains::longest() const {
  std::size_t most = 0;
  for (std::size_t chain = 0; chain < count(); ++chain)
    most = std::max(most, begins[chain + 1] - begins[chain]);
  return most;
}

Chains plan_chains(const Machine& machine, const std::vector<uint32_t>& cpus, double piece_megabits) {
  const Plan dealt = plan(machine, cpus, Algorithm::balanced);
  Chains best;
  for (const std::size_t count : counts_to_try(machine, cpus)) {
    Chains tried;
    tried.order = best.order.empty() ? by_number(cpus) : best.order;
    tried.begins = cut(cpus.size(), count);
    const auto end = static_cast<std::ptrdiff_t>(count);
    tried.servers.assign(dealt.servers.begin(), dealt.servers.begin() + end);
    tried.backups.assign(dealt.backups.begin(), dealt.backups.begin() + end);
    tried.pieces =
        std::max(uint64_t{1}, static_cast<uint64_t>(std::ceil(machine.image_megabits / piece_megabits)));
    tried.bandwidth = bandwidth_of_chains(machine, cpus, tried);
    if (best.order.empty() || tried.bandwidth.boot_seconds <= best.bandwidth.boot_seconds)
      best = std::move(tried);
  }
  return best;
}

Plan servers_of(const Chains& chains) {
  Plan found;
  found.servers.resize(chains.order.size());
  found.backups.resize(chains.order.size());
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at) {
      found.servers[chains.order[at]] = chains.servers[chain];
      found.backups[chains.order[at]] = chains.backups[chain];
    }
  }
  return found;
}

Boots simulate_chains(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
                      const Course& course) {
  const auto rates = rates_of(machine, cpus, chains);
  const double piece =
      machine.image_megabits / course.protocol.efficiency / static_cast<double>(chains.pieces);
  Boots boots;
  boots.seconds.resize(cpus.size());
  boots.allocations = 1;
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    std::vector<double> there(chains.pieces, 0);  // when the node before has each piece
    for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at) {
      const std::size_t node = chains.order[at];
      double last = (course.begins.empty() ? 0 : course.begins[node]) + course.protocol.begin_seconds;
      const double seconds = piece / std::min(rates[at], course.protocol.most_mbps);
      for (double& each : there) last = each = std::max(last, each) + seconds;
      boots.seconds[node] = last;
    }
  }
  return boots;
}

}  // namespace weft::boot
