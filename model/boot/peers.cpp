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
  double least_share(const Machine& machine, uint32_t segment) const {
    double least = infinite;
    for (uint32_t link = 0; link < up.size(); ++link) {
      const uint32_t most = std::max(up[link], down[link]);
      if (most != 0) least = std::min(least, machine.link_mbps(segment, link) / most);
    }
    return least;
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
  found.mbps[0] = least_links(machine, cpus)[0];
  found.mbps[1] = boards.least_share(machine, 1);
  found.mbps[2] = supernodes.least_share(machine, 2);
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
  double most_mbps = 0;  ///< by the nodes' own links
  double mbps = 0;
  void add(uint32_t link) { links[count++] = link; }
};

/// Transfers share links max-min fairly.
class Sharing {
 public:
  explicit Sharing(const Machine& machine) : machine_(machine) {
    for (uint32_t direction = 0; direction < 2; ++direction) {
      boards_[direction] = add(1, machine.boards());
      supernodes_[direction] = add(2, machine.supernodes);
    }
    edges_ = add(3, machine.edges());
    servers_ = add(4, machine.servers);
    uses_.resize(left_.size(), 0);
  }

  void from_server(uint32_t server, uint32_t cpu) {
    Transfer transfer;
    transfer.add(servers_ + server);
    transfer.add(edges_ + machine_.edge_of(server));
    transfer.add(supernodes_[1] + machine_.supernode_of(cpu));
    transfer.add(boards_[1] + machine_.board_of(cpu));
    transfer.most_mbps = machine_.link_mbps(0, cpu);
    take(transfer);
  }

  void from_node(uint32_t from, uint32_t cpu) {
    Transfer transfer;
    transfer.most_mbps = std::min(machine_.link_mbps(0, from), machine_.link_mbps(0, cpu));
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
      double level = least_share();
      for (const Transfer* transfer : growing) level = std::min(level, transfer->most_mbps);
      // those at a full link stay
      const auto stays = [&](const Transfer* transfer) {
        return level >= transfer->most_mbps || is_full(*transfer, level);
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
  uint32_t add(uint32_t segment, uint64_t links) {
    const auto first = static_cast<uint32_t>(left_.size());
    for (uint32_t link = 0; link < links; ++link) left_.push_back(machine_.link_mbps(segment, link));
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

/// Who gives to whom, and when each piece is there.
class ChainCourse {
 public:
  ChainCourse(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
              const Course& course)
      : machine_(machine),
        cpus_(cpus),
        chains_(chains),
        course_(course),
        piece_(machine.image_megabits / course.protocol.efficiency / static_cast<double>(chains.pieces)),
        sources_(cpus.size(), {0, {}}) {
    boots_.seconds.resize(cpus.size(), infinite);
    rates_ = find_rates();
    rates_after_ = rates_;
    if (!course.death) return;
    find_living_sources();
    rates_after_ = find_rates();
  }

  Boots run() {
    for (std::size_t chain = 0; chain < chains_.count(); ++chain) {
      // when each piece is at the node before, and at the one before that
      std::vector<double> before(chains_.pieces, 0), earlier = before, own = before;
      for (std::size_t at = chains_.begins[chain]; at < chains_.begins[chain + 1]; ++at) {
        fill(chain, at, before, earlier, own);
        if (!is_dead(at)) boots_.seconds[chains_.order[at]] = own.back();
        std::swap(earlier, before);
        std::swap(before, own);
      }
    }
    return std::move(boots_);
  }

 private:
  struct Living {
    uint32_t dead = 0;  ///< sources before it that are dead
    Source source;      ///< if `dead` is not 0
  };

  uint32_t cpu_at(std::size_t at) const { return cpus_[chains_.order[at]]; }
  bool is_dead(std::size_t at) const { return course_.death && course_.death->has_cpu(cpu_at(at)); }
  bool is_dead(const Source& source) const {
    return source.place ? is_dead(*source.place) : course_.death && course_.death->has_server(source.server);
  }

  void find_living_sources() {
    for (std::size_t chain = 0; chain < chains_.count(); ++chain) {
      for (std::size_t at = chains_.begins[chain]; at < chains_.begins[chain + 1]; ++at) {
        if (is_dead(at)) continue;
        const auto all = sources_of(chains_, chain, at);
        const auto living =
            std::find_if_not(all.begin(), all.end(), [&](const Source& source) { return is_dead(source); });
        if (living == all.end()) throw Fault("boot: the only server dies, and no node has a backup");
        sources_[at] = {static_cast<uint32_t>(living - all.begin()), *living};
      }
    }
  }

  /// Of each place; 0 of the dead, once sources are found.
  std::vector<double> find_rates() {
    Sharing sharing(machine_);
    std::vector<std::size_t> places;
    for (std::size_t chain = 0; chain < chains_.count(); ++chain) {
      for (std::size_t at = chains_.begins[chain]; at < chains_.begins[chain + 1]; ++at) {
        if (!rates_.empty() && is_dead(at)) continue;
        const Source source =
            sources_[at].dead != 0 ? sources_[at].source : sources_of(chains_, chain, at).front();
        if (source.place)
          sharing.from_node(cpu_at(*source.place), cpu_at(at));
        else
          sharing.from_server(source.server, cpu_at(at));
        places.push_back(at);
      }
    }
    ++boots_.allocations;
    const auto rates = std::move(sharing).rates();
    std::vector<double> found(cpus_.size(), 0);
    for (std::size_t i = 0; i < places.size(); ++i) found[places[i]] = rates[i];
    return found;
  }

  /// When a piece that begins then is there.
  double end_of(double seconds, std::size_t at) const {
    const auto most = [&](double mbps) { return std::min(mbps, course_.protocol.most_mbps); };
    const double end = seconds + piece_ / most(rates_[at]);
    if (!course_.death || rates_after_[at] == 0) return end;
    const double change = course_.death->seconds + course_.death->notice_seconds;
    if (end <= change) return end;
    const double before = std::max(0.0, change - seconds) * most(rates_[at]);
    return std::max(seconds, change) + (piece_ - before) / most(rates_after_[at]);
  }

  /// @param before pieces at the node before it, @param earlier at the one before that
  void fill(std::size_t chain, std::size_t at, const std::vector<double>& before,
            const std::vector<double>& earlier, std::vector<double>& own) {
    const std::size_t node = chains_.order[at];
    const double begins =
        (course_.begins.empty() ? 0 : course_.begins[node]) + course_.protocol.begin_seconds;
    double death = infinite;
    if (course_.death) death = course_.death->seconds;
    const Living& living = sources_[at];
    double last = begins;
    std::size_t piece = 0;
    const bool is_first = at == chains_.begins[chain];
    for (; piece < own.size(); ++piece) {
      const double end = end_of(std::max(last, is_first ? 0 : before[piece]), at);
      if (living.dead != 0 && end > death) break;
      own[piece] = end;
      if (is_dead(at) && end > death) own[piece] = infinite;
      last = own[piece];
    }
    if (piece == own.size()) return;
    boots_.begun_again += living.dead;
    last = std::max(death, begins) + living.dead * course_.death->notice_seconds;
    const auto& given = is_first || !living.source.place ? none_ : earlier;
    for (; piece < own.size(); ++piece)
      last = own[piece] = end_of(std::max(last, given.empty() ? 0 : given[piece]), at);
  }

  const Machine& machine_;
  const std::vector<uint32_t>& cpus_;
  const Chains& chains_;
  const Course& course_;
  double piece_;  ///< Mb on links
  std::vector<Living> sources_;
  std::vector<double> rates_, rates_after_;  ///< Mb/s into each place
  std::vector<double> none_;                 ///< pieces that are there from the start
  Boots boots_;
};

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
  return ChainCourse(machine, cpus, chains, course).run();
}

std::vector<Source> sources_of(const Chains& chains, std::size_t chain, std::size_t at) {
  std::vector<Source> found;
  for (std::size_t back = 1; back <= 2 && at >= chains.begins[chain] + back; ++back)
    found.push_back({at - back, 0});
  found.push_back({std::nullopt, chains.servers[chain]});
  if (chains.backups[chain] != chains.servers[chain]) found.push_back({std::nullopt, chains.backups[chain]});
  return found;
}

}  // namespace weft::boot
