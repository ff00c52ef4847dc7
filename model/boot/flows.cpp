// SPDX-License-Identifier: Apache-2.0
// Max-min-fair flows from servers to nodes.
#include "boot/flows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <utility>

namespace weft::boot {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;
constexpr uint32_t shared_links = 4;  // N2 to N5

/// Nodes of one board that fetch from one server.
struct Group {
  std::array<uint32_t, shared_links> links{};
  double mbps = 0;      ///< of each
  double received = 0;  ///< Mb of a node that was there from the start
  struct Member {
    std::size_t node;
    double received;  ///< by the group when it began
  };
  std::vector<Member> members;  ///< in the order in which they began, so in which they are done
  std::size_t done = 0;

  std::size_t active() const { return members.size() - done; }
};

/// Progressive filling: all rates grow until a link is full; its groups stay, the others grow on.
class Allocator {
 public:
  explicit Allocator(const Machine& machine, double most_mbps)
      : most_mbps_(std::min(most_mbps, machine.links[0].total())) {
    add(machine.boards(), machine.links[1].total());
    add(machine.supernodes, machine.links[2].total());
    add(machine.edges(), machine.links[3].total());
    first_.push_back(static_cast<uint32_t>(whole_.size()));
    for (uint32_t server = 0; server < machine.servers; ++server)
      whole_.push_back(machine.server_mbps(server));
  }

  std::array<uint32_t, shared_links> links_of(const Machine& machine, uint32_t cpu, uint32_t server) const {
    return {first_[0] + machine.board_of(cpu), first_[1] + machine.supernode_of(cpu),
            first_[2] + machine.edge_of(server), first_[3] + server};
  }

  void allocate(std::vector<Group>& groups) {
    begin(groups);
    while (!growing_.empty()) {
      const double level = std::min(least_share(), most_mbps_);
      std::vector<Group*> still;
      for (Group* group : growing_) {
        if (level < most_mbps_ && !is_full(*group, level)) {
          still.push_back(group);
          continue;
        }
        group->mbps = level;
        stopped_.push_back(group);
      }
      for (const Group* group : stopped_) take(*group);
      stopped_.clear();
      growing_.swap(still);
    }
  }

 private:
  struct Use {
    double left = 0;
    std::size_t nodes = 0;
    double share() const { return nodes == 0 ? infinite : left / static_cast<double>(nodes); }
  };

  void add(uint64_t links, double mbps) {
    first_.push_back(static_cast<uint32_t>(whole_.size()));
    whole_.insert(whole_.end(), links, mbps);
  }

  void begin(std::vector<Group>& groups) {
    growing_.clear();
    uses_.resize(whole_.size());
    for (std::size_t link = 0; link < whole_.size(); ++link) uses_[link] = {whole_[link], 0};
    for (Group& group : groups) {
      if (group.active() == 0) continue;
      growing_.push_back(&group);
      for (const uint32_t link : group.links) uses_[link].nodes += group.active();
    }
  }

  double least_share() const {
    double least = infinite;
    for (const Use& use : uses_) least = std::min(least, use.share());
    return least;
  }

  bool is_full(const Group& group, double level) const {
    return std::any_of(group.links.begin(), group.links.end(),
                       [&](uint32_t link) { return uses_[link].share() <= level * (1 + rounding); });
  }

  void take(const Group& group) {
    for (const uint32_t link : group.links) {
      Use& use = uses_[link];
      use.left = std::max(0.0, use.left - group.mbps * static_cast<double>(group.active()));
      use.nodes -= group.active();
    }
  }

  double most_mbps_;
  std::vector<uint32_t> first_;  ///< link of each segment
  std::vector<double> whole_;    ///< Mb/s
  std::vector<Use> uses_;
  std::vector<Group*> growing_, stopped_;
};

class Simulation {
 public:
  Simulation(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
             const Course& course)
      : machine_(machine),
        cpus_(cpus),
        plan_(plan),
        course_(course),
        megabits_(machine.image_megabits / course.protocol.efficiency),
        allocator_(machine, course.protocol.most_mbps) {
    boots_.seconds.resize(cpus.size(), infinite);
    for (std::size_t i = 0; i < cpus.size(); ++i)
      arrive(course.begins.empty() ? 0 : course.begins[i], i, plan.servers[i]);
  }

  Boots run() {
    while (true) {
      const double next = std::min(next_done(), arrivals_.empty() ? infinite : arrivals_.top().seconds);
      if (next == infinite) return std::move(boots_);
      const double tick = std::max(next, found_at_ + course_.resolution);
      const bool dies = course_.death && !is_dead_ && course_.death->seconds <= tick;
      advance(dies ? course_.death->seconds : tick);
      if (dies) die();
      take_arrivals();
      allocator_.allocate(groups_);
      found_at_ = now_;
      ++boots_.allocations;
    }
  }

 private:
  struct Arrival {
    double seconds;
    std::size_t node;
    uint32_t server;
    bool operator<(const Arrival& other) const {
      return seconds != other.seconds ? seconds > other.seconds : node > other.node;
    }
  };

  void arrive(double seconds, std::size_t node, uint32_t server) {
    arrivals_.push({seconds + course_.protocol.begin_seconds, node, server});
  }

  Group& group_of(std::size_t node, uint32_t server) {
    const auto [place, is_new] =
        numbers_.emplace(std::pair(machine_.board_of(cpus_[node]), server), groups_.size());
    if (is_new) {
      groups_.emplace_back();
      groups_.back().links = allocator_.links_of(machine_, cpus_[node], server);
    }
    return groups_[place->second];
  }

  double next_done() const {
    double seconds = infinite;
    for (const Group& group : groups_) {
      if (group.active() == 0) continue;
      seconds = std::min(seconds, now_ + wait_of(group, group.members[group.done]));
    }
    return seconds;
  }

  double wait_of(const Group& group, const Group::Member& member) const {
    return std::max(0.0, member.received + megabits_ - group.received) / group.mbps;
  }

  void advance(double until) {
    for (Group& group : groups_) {
      for (; group.active() != 0; ++group.done) {
        const Group::Member& first = group.members[group.done];
        const double seconds = now_ + wait_of(group, first);
        if (seconds > until + (until - now_) * rounding) break;
        boots_.seconds[first.node] = seconds;
      }
      group.received += group.mbps * (until - now_);
    }
    now_ = until;
  }

  void take_arrivals() {
    while (!arrivals_.empty() && arrivals_.top().seconds <= now_) {
      const Arrival arrival = arrivals_.top();
      arrivals_.pop();
      if (is_dead_ && arrival.server == course_.death->server) {
        begin_again(arrival.node, now_);
        continue;
      }
      Group& group = group_of(arrival.node, arrival.server);
      group.members.push_back({arrival.node, group.received});
    }
  }

  void begin_again(std::size_t node, double seconds) {
    if (plan_.backups[node] == course_.death->server)
      throw Fault("boot: the only server dies, and no node has a backup");
    ++boots_.begun_again;
    arrive(seconds + course_.death->notice_seconds, node, plan_.backups[node]);
  }

  void die() {
    is_dead_ = true;
    const uint32_t server = course_.death->server;
    for (auto& [place, number] : numbers_) {
      if (place.second != server) continue;
      Group& group = groups_[number];
      for (; group.active() != 0; ++group.done) begin_again(group.members[group.done].node, now_);
    }
  }

  const Machine& machine_;
  const std::vector<uint32_t>& cpus_;
  const Plan& plan_;
  const Course& course_;
  double megabits_;  ///< on links
  Allocator allocator_;
  std::vector<Group> groups_;
  std::map<std::pair<uint32_t, uint32_t>, std::size_t> numbers_;  ///< of board and server
  std::priority_queue<Arrival> arrivals_;
  double now_ = 0, found_at_ = -infinite;
  bool is_dead_ = false;
  Boots boots_;
};

}  // namespace

Protocol http(double round_trip_seconds) {
  constexpr double segment = 1448, headers = 32 + 20 + 18 + 20;  // TCP with times, IP, Ethernet, gap
  return {segment / (segment + headers), infinite, 2 * round_trip_seconds};
}

Protocol tftp(double round_trip_seconds, uint32_t window) {
  constexpr double block = 1432, headers = 4 + 8 + 20 + 18 + 20;  // TFTP, UDP, IP, Ethernet, gap
  const double most =
      round_trip_seconds == 0 ? infinite : window * (block + headers) * 8 / 1e6 / round_trip_seconds;
  return {block / (block + headers), most, round_trip_seconds};
}

Boots simulate(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
               const Course& course) {
  return Simulation(machine, cpus, plan, course).run();
}

}  // namespace weft::boot
