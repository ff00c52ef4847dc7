// SPDX-License-Identifier: Apache-2.0
// Senders of a multicast, and its rounds.
#include "boot/multicast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fabric/random.hpp"

namespace weft::boot {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double payload = 1400, headers = 13 + 8 + 20 + 18 + 20;  // ours, UDP, IP, Ethernet, gap

/// Servers by what they can give, as much as their edge switches have room for.
std::vector<Sender> fastest(const Machine& machine, double wanted) {
  std::vector<uint32_t> servers;
  for (uint32_t server = 0; server < machine.servers; ++server)
    if (!machine.failed_servers.contains(server)) servers.push_back(server);
  std::stable_sort(servers.begin(), servers.end(),
                   [&](uint32_t a, uint32_t b) { return machine.server_mbps(a) > machine.server_mbps(b); });
  std::vector<double> room;
  for (uint32_t edge = 0; edge < machine.edges(); ++edge) room.push_back(machine.link_mbps(3, edge));
  std::vector<Sender> senders;
  for (const uint32_t server : servers) {
    double& left = room[machine.edge_of(server)];
    const double mbps = std::min({machine.server_mbps(server), left, wanted});
    if (mbps <= 0) continue;
    senders.push_back({server, mbps});
    left -= mbps;
    wanted -= mbps;
  }
  return senders;
}

/// Those that listen, by number, so that those of a board or supernode stand side by side.
class Listeners {
 public:
  Listeners(const Machine& machine, std::vector<uint32_t> cpus) : cpus_(std::move(cpus)) {
    for (uint32_t i = 0; i < cpus_.size(); ++i) {
      if (i == 0 || machine.board_of(cpus_[i]) != machine.board_of(cpus_[i - 1])) boards_.push_back(i);
      if (i == 0 || machine.supernode_of(cpus_[i]) != machine.supernode_of(cpus_[i - 1]))
        supernodes_.push_back(i);
      board_of_.push_back(static_cast<uint32_t>(boards_.size() - 1));
      supernode_of_.push_back(static_cast<uint32_t>(supernodes_.size() - 1));
    }
    boards_.push_back(count());
    supernodes_.push_back(count());
  }

  uint32_t count() const { return static_cast<uint32_t>(cpus_.size()); }
  uint32_t board_of(uint32_t listener) const { return board_of_[listener]; }
  uint32_t supernode_of(uint32_t listener) const { return supernode_of_[listener]; }
  /// First listener of each, and one more.
  const std::vector<uint32_t>& boards() const { return boards_; }
  const std::vector<uint32_t>& supernodes() const { return supernodes_; }

 private:
  std::vector<uint32_t> cpus_, boards_, supernodes_, board_of_, supernode_of_;
};

/// Who does not get a packet.
class Losses {
 public:
  Losses(const Listeners& listeners, double loss, uint64_t seed)
      : listeners_(listeners),
        loss_(loss),
        per_gap_(1 / std::log1p(-loss)),
        random_(seed),
        missing_(listeners.count(), 0),
        boards_(listeners.boards().size(), {0, false}),
        supernodes_(listeners.supernodes().size(), {0, false}) {}

  /// Of a packet that goes to all.
  void first(std::vector<uint32_t>& missing) {
    missing.clear();
    ++turn_;
    if (at_server()) return add(0, listeners_.count(), missing);
    for_each_lost(listeners_.supernodes().size() - 1, [&](std::size_t lost) {
      add(listeners_.supernodes()[lost], listeners_.supernodes()[lost + 1], missing);
    });
    for_each_lost(listeners_.boards().size() - 1, [&](std::size_t lost) {
      add(listeners_.boards()[lost], listeners_.boards()[lost + 1], missing);
    });
    for_each_lost(listeners_.count(), [&](std::size_t lost) {
      add(static_cast<uint32_t>(lost), static_cast<uint32_t>(lost + 1), missing);
    });
  }

  /// Of those who miss it, the ones that get it now are put aside.
  void again(std::vector<uint32_t>& missing, std::vector<uint32_t>& served) {
    served.clear();
    ++turn_;
    if (at_server()) return;
    std::erase_if(missing, [&](uint32_t listener) {
      const bool lost = is_lost(supernodes_[listeners_.supernode_of(listener)]) ||
                        is_lost(boards_[listeners_.board_of(listener)]) || random_.chance(loss_);
      if (!lost) served.push_back(listener);
      return !lost;
    });
  }

 private:
  struct Drawn {
    uint64_t turn;
    bool lost;
  };

  bool at_server() { return random_.chance(1 - (1 - loss_) * (1 - loss_)); }

  bool is_lost(Drawn& link) {
    if (link.turn != turn_) link = {turn_, random_.chance(loss_)};
    return link.lost;
  }

  /// Goes from loss to loss: gaps are geometric.
  template <typename Take>
  void for_each_lost(std::size_t links, Take take) {
    if (loss_ == 0) return;
    double at = gap();
    while (at < static_cast<double>(links)) {
      take(static_cast<std::size_t>(at));
      at += 1 + gap();
    }
  }
  double gap() {
    const double uniform = (static_cast<double>(random_.next() >> 11) + 1) * 0x1p-53;
    return std::floor(std::log(uniform) * per_gap_);
  }

  void add(uint32_t first, uint32_t behind, std::vector<uint32_t>& missing) {
    for (uint32_t listener = first; listener < behind; ++listener) {
      if (std::exchange(missing_[listener], turn_) != turn_) missing.push_back(listener);
    }
  }

  const Listeners& listeners_;
  double loss_, per_gap_;
  RandomStream random_;
  uint64_t turn_ = 0;
  std::vector<uint64_t> missing_;  ///< turn in which a listener was put among those
  std::vector<Drawn> boards_, supernodes_;
};

/// When each listener has the image, in packets of rounds.
struct Rounds {
  std::vector<uint64_t> sent;  ///< in each
  struct Moment {
    uint32_t round = 0;
    uint64_t packet = 0;
    bool operator<(const Moment& other) const {
      return round != other.round ? round < other.round : packet < other.packet;
    }
  };
  std::vector<Moment> last;  ///< of each listener: the packet with which it has all
};

/// Packets do not know of each other: each goes through its rounds by itself.
Rounds rounds_of(const Listeners& listeners, uint64_t packets, double loss, uint64_t seed) {
  Rounds rounds{{packets}, {listeners.count(), {0, packets - 1}}};
  Losses losses(listeners, loss, seed);
  std::vector<uint32_t> missing, served;
  for (uint64_t packet = 0; packet < packets; ++packet) {
    losses.first(missing);
    for (uint32_t round = 1; !missing.empty(); ++round) {
      if (round == rounds.sent.size()) rounds.sent.push_back(0);
      const Rounds::Moment moment{round, rounds.sent[round]++};
      losses.again(missing, served);
      for (const uint32_t listener : served) rounds.last[listener] = std::max(rounds.last[listener], moment);
    }
  }
  return rounds;
}

std::vector<double> beginnings(const std::vector<uint64_t>& sent, double packet_seconds,
                               const Hearing& hearing) {
  std::vector<double> seconds = {hearing.wait_seconds};
  for (const uint64_t packets : sent)
    seconds.push_back(seconds.back() + static_cast<double>(packets) * packet_seconds +
                      hearing.report_seconds);
  return seconds;
}

/// By multicast, as if nobody died.
void hear(const Machine& machine, const std::vector<uint32_t>& cpus, const std::vector<std::size_t>& hearers,
          const Multicast& multicast, const Hearing& hearing, MulticastBoots& found) {
  std::vector<uint32_t> numbers;
  numbers.reserve(hearers.size());
  for (const std::size_t i : hearers) numbers.push_back(cpus[i]);
  const Listeners listeners(machine, std::move(numbers));
  const auto packets = static_cast<uint64_t>(std::ceil(machine.image_megabits * 1e6 / 8 / payload));
  const Rounds rounds = rounds_of(listeners, packets, hearing.loss, hearing.seed);
  const double packet_seconds = (payload + headers) * 8 / 1e6 / multicast.bandwidth.least_mbps;
  const auto begins = beginnings(rounds.sent, packet_seconds, hearing);
  for (uint32_t i = 0; i < hearers.size(); ++i) {
    const auto& last = rounds.last[i];
    found.boots.seconds[hearers[i]] =
        begins[last.round] + static_cast<double>(last.packet + 1) * packet_seconds;
  }
  found.rounds = rounds.sent;
}

/// Nodes that fetch the image, or a part of it, from their planned servers.
struct Fetching {
  std::vector<std::size_t> nodes;
  std::vector<double> begins, parts;
  void add(std::size_t node, double seconds, double part) {
    nodes.push_back(node);
    begins.push_back(seconds);
    parts.push_back(part);
  }
};

/// Whoever has not all when a sender dies needs its part from elsewhere; the others send theirs.
void leave_dead_sender(const std::vector<uint32_t>& cpus, const std::vector<std::size_t>& hearers,
                       const Multicast& multicast, const Death& death, const Hearing& hearing,
                       Fetching& fetching, Boots& boots) {
  for (const std::size_t i : hearers)
    if (death.has_cpu(cpus[i])) boots.seconds[i] = infinite;
  for (const Sender& sender : multicast.senders) {
    if (!death.has_server(sender.server)) continue;
    const double noticed = std::max(death.seconds, hearing.wait_seconds) + death.notice_seconds;
    for (const std::size_t i : hearers) {
      if (boots.seconds[i] <= death.seconds || death.has_cpu(cpus[i])) continue;
      fetching.add(i, noticed, sender.mbps / multicast.bandwidth.least_mbps);
      ++boots.begun_again;
      if (multicast.senders.size() == 1) boots.seconds[i] = 0;  // nothing comes by multicast any more
    }
  }
}

void fetch(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan, const Course& course,
           const Fetching& fetching, Boots& boots) {
  std::vector<uint32_t> numbers;
  Plan servers;
  for (const std::size_t i : fetching.nodes) {
    numbers.push_back(cpus[i]);
    servers.servers.push_back(plan.servers[i]);
    servers.backups.push_back(plan.backups[i]);
  }
  Course own = course;
  own.begins = fetching.begins;
  own.parts = fetching.parts;
  const Boots fetched = simulate(machine, numbers, servers, own);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double& seconds = boots.seconds[fetching.nodes[i]];
    seconds = std::max(seconds, fetched.seconds[i]);
  }
  boots.allocations = fetched.allocations;
  boots.begun_again += fetched.begun_again;
}

}  // namespace

Multicast plan_multicast(const Machine& machine, const std::vector<uint32_t>& cpus) {
  Multicast made;
  const double mbps = replication_bound(machine, cpus);
  made.senders = fastest(machine, mbps);
  double most_of_servers = 0;
  std::vector<double> edges(machine.edges(), 0);
  for (const Sender& sender : made.senders) {
    most_of_servers = std::max(most_of_servers, sender.mbps / machine.server_mbps(sender.server));
    edges[machine.edge_of(sender.server)] += sender.mbps;
  }
  double most_of_edges = 0;
  for (uint32_t edge = 0; edge < edges.size(); ++edge)
    most_of_edges = std::max(most_of_edges, edges[edge] / machine.link_mbps(3, edge));
  const auto near = least_links(machine, cpus);
  Bandwidth& found = made.bandwidth;
  found.mbps = {near[0], near[1], near[2], mbps / most_of_edges, mbps / most_of_servers};
  found.least_mbps = mbps;
  found.boot_seconds = machine.image_megabits / mbps;
  found.limiting = limiting_of(found.mbps);
  return made;
}

MulticastBoots simulate_multicast(const Machine& machine, const std::vector<uint32_t>& cpus,
                                  const Multicast& multicast, const Plan& plan, const Course& course,
                                  const Hearing& hearing) {
  std::vector<std::size_t> hearers;
  Fetching fetching;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (course.begins.empty() || course.begins[i] <= hearing.wait_seconds)
      hearers.push_back(i);
    else
      fetching.add(i, course.begins[i], 1);
  }
  std::sort(hearers.begin(), hearers.end(), [&](std::size_t a, std::size_t b) { return cpus[a] < cpus[b]; });

  MulticastBoots found;
  found.late = static_cast<uint32_t>(fetching.nodes.size());
  found.boots.seconds.resize(cpus.size());
  if (!hearers.empty()) hear(machine, cpus, hearers, multicast, hearing, found);
  if (course.death)
    leave_dead_sender(cpus, hearers, multicast, *course.death, hearing, fetching, found.boots);
  if (!fetching.nodes.empty()) fetch(machine, cpus, plan, course, fetching, found.boots);
  return found;
}

}  // namespace weft::boot
