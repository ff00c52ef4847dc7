// SPDX-License-Identifier: Apache-2.0
// Max-min-fair flows from servers to nodes.
#include "boot/flows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace weft::boot {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;
constexpr uint32_t shared_links = 4;  // N2 to N5

/// Nodes of one board that fetch from one server.
struct Group {
  std::array<uint32_t, shared_links> links{};
  double most_mbps = 0;  ///< that each can get
  double mbps = 0;       ///< of each
  double received = 0;   ///< Mb of a node that was there from the start
  struct Member {
    std::size_t node;
    double until;  ///< received by the group when it has all
  };
  std::vector<Member> members;  ///< in the order in which they are done
  std::size_t done = 0;

  std::size_t active() const { return members.size() - done; }

  void add(std::size_t node, double megabits) {
    const double until = received + megabits;
    const auto later = std::upper_bound(members.begin() + static_cast<std::ptrdiff_t>(done), members.end(),
                                        until, [](double a, const Member& b) { return a < b.until; });
    members.insert(later, {node, until});
  }

  template <typename Gone>
  void remove_if(Gone gone) {
    members.erase(std::remove_if(members.begin() + static_cast<std::ptrdiff_t>(done), members.end(), gone),
                  members.end());
  }
};

/// Progressive filling: all rates grow until a link is full; its groups stay, the others grow on.
class Allocator {
 public:
  explicit Allocator(const Machine& machine) {
    add(machine, 1, machine.boards());
    add(machine, 2, machine.supernodes);
    add(machine, 3, machine.edges());
    add(machine, 4, machine.servers);
  }

  std::array<uint32_t, shared_links> links_of(const Machine& machine, uint32_t cpu, uint32_t server) const {
    return {first_[0] + machine.board_of(cpu), first_[1] + machine.supernode_of(cpu),
            first_[2] + machine.edge_of(server), first_[3] + server};
  }

  void allocate(std::vector<Group>& groups) {
    begin(groups);
    while (!growing_.empty()) {
      const double level = std::min(least_share(), least_most_mbps_);
      least_most_mbps_ = infinite;
      std::vector<Group*> still;
      for (Group* group : growing_) {
        if (level < group->most_mbps && !is_full(*group, level)) {
          still.push_back(group);
          least_most_mbps_ = std::min(least_most_mbps_, group->most_mbps);
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

  void add(const Machine& machine, uint32_t segment, uint64_t links) {
    first_.push_back(static_cast<uint32_t>(whole_.size()));
    for (uint32_t link = 0; link < links; ++link) whole_.push_back(machine.link_mbps(segment, link));
  }

  void begin(std::vector<Group>& groups) {
    growing_.clear();
    least_most_mbps_ = infinite;
    uses_.resize(whole_.size());
    for (std::size_t link = 0; link < whole_.size(); ++link) uses_[link] = {whole_[link], 0};
    for (Group& group : groups) {
      if (group.active() == 0) continue;
      growing_.push_back(&group);
      least_most_mbps_ = std::min(least_most_mbps_, group.most_mbps);
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

  std::vector<uint32_t> first_;  ///< link of each segment
  std::vector<double> whole_;    ///< Mb/s
  std::vector<Use> uses_;
  std::vector<Group*> growing_, stopped_;
  double least_most_mbps_ = infinite;  ///< of those that grow
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
        allocator_(machine) {
    boots_.seconds.resize(cpus.size(), infinite);
    for (std::size_t i = 0; i < cpus.size(); ++i)
      arrive(course.begins.empty() ? 0 : course.begins[i], i, plan.servers[i]);
  }

  Boots run() {
    while (true) {
      const double next = std::min(next_done(), arrivals_.empty() ? infinite : arrivals_.top().seconds);
      if (next == infinite) return end();
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
  Boots end() {
    for (std::size_t i = 0; course_.death && i < cpus_.size(); ++i)
      if (course_.death->has_cpu(cpus_[i])) boots_.seconds[i] = infinite;
    return std::move(boots_);
  }

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
    const double most_mbps = std::min(machine_.link_mbps(0, cpus_[node]), course_.protocol.most_mbps);
    const auto [place, is_new] =
        numbers_.emplace(Key{machine_.board_of(cpus_[node]), server, most_mbps}, groups_.size());
    if (is_new) {
      groups_.emplace_back();
      groups_.back().links = allocator_.links_of(machine_, cpus_[node], server);
      groups_.back().most_mbps = most_mbps;
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

  static double wait_of(const Group& group, const Group::Member& member) {
    return std::max(0.0, member.until - group.received) / group.mbps;
  }

  bool has_died(std::size_t node) const { return is_dead_ && course_.death->has_cpu(cpus_[node]); }

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
      if (has_died(arrival.node)) continue;
      if (is_dead_ && course_.death->has_server(arrival.server)) {
        begin_again(arrival.node, now_);
        continue;
      }
      const double part = course_.parts.empty() ? 1 : course_.parts[arrival.node];
      group_of(arrival.node, arrival.server).add(arrival.node, part * megabits_);
    }
  }

  void begin_again(std::size_t node, double seconds) {
    if (course_.death->has_server(plan_.backups[node]))
      throw Fault("boot: the only server dies, and no node has a backup");
    ++boots_.begun_again;
    arrive(seconds + course_.death->notice_seconds, node, plan_.backups[node]);
  }

  void die() {
    is_dead_ = true;
    for (auto& [key, number] : numbers_) {
      Group& group = groups_[number];
      if (!course_.death->cpus.empty())
        group.remove_if([&](const Group::Member& member) { return has_died(member.node); });
      if (!course_.death->has_server(std::get<1>(key))) continue;
      for (; group.active() != 0; ++group.done) begin_again(group.members[group.done].node, now_);
    }
  }

  using Key = std::tuple<uint32_t, uint32_t, double>;  ///< board, server, most Mb/s of a node

  const Machine& machine_;
  const std::vector<uint32_t>& cpus_;
  const Plan& plan_;
  const Course& course_;
  double megabits_;  ///< on links
  Allocator allocator_;
  std::vector<Group> groups_;
  std::map<Key, std::size_t> numbers_;  ///< of groups
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
