// SPDX-License-Identifier: Apache-2.0
// Windows of packets from servers to nodes and from node to node, and packets that switches copy.
#include "boot/packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>

#include "common/fault.hpp"
#include "fabric/wires.hpp"

namespace weft::boot {

namespace {

constexpr double most_packets = 1e8, infinite = std::numeric_limits<double>::infinity();
using Path = std::vector<uint32_t>;

/// Links of the machine that are in use, each direction by itself.
class Ways {
 public:
  Ways(const Machine& machine, fabric::Wires& wires) : machine_(machine), wires_(wires) {}

  const Path* from_server(uint32_t server, uint32_t cpu) {
    return &paths_.emplace_back(Path{link(4, server), link(3, machine_.edge_of(server)),
                                     link(2, machine_.supernode_of(cpu)), link(1, machine_.board_of(cpu)),
                                     link(0, cpu)});
  }

  const Path* from_node(uint32_t from, uint32_t cpu) {
    Path path = {up(0, from)};
    const auto climb = [&](uint32_t segment, uint32_t own, uint32_t other) {
      if (own != other) path.push_back(up(segment, own));
    };
    climb(1, machine_.board_of(from), machine_.board_of(cpu));
    climb(2, machine_.supernode_of(from), machine_.supernode_of(cpu));
    const auto descend = [&](uint32_t segment, uint32_t other, uint32_t own) {
      if (own != other) path.push_back(link(segment, own));
    };
    descend(2, machine_.supernode_of(from), machine_.supernode_of(cpu));
    descend(1, machine_.board_of(from), machine_.board_of(cpu));
    path.push_back(link(0, cpu));
    return &paths_.emplace_back(std::move(path));
  }

  /// One link alone, from the server's side to the nodes'.
  const Path* over(uint32_t segment, uint32_t number) {
    return &paths_.emplace_back(Path{link(segment, number)});
  }

 private:
  uint32_t up(uint32_t segment, uint32_t number) { return known(segment, number, true); }
  uint32_t link(uint32_t segment, uint32_t number) { return known(segment, number, false); }
  uint32_t known(uint32_t segment, uint32_t number, bool is_up) {
    const auto [place, is_new] = known_.emplace(std::tuple(segment, number, is_up), 0);
    if (is_new) place->second = wires_.add_link(machine_.link_mbps(segment, number));
    return place->second;
  }

  const Machine& machine_;
  fabric::Wires& wires_;
  std::map<std::tuple<uint32_t, uint32_t, bool>, uint32_t> known_;
  std::deque<Path> paths_;
};

/// Whom a node fetches from: another one, by its place in the list, or a server.
struct Giver {
  std::optional<std::size_t> node;
  uint32_t server = 0;
};

/// What is common to all ways of booting.
struct Scene {
  Scene(const Machine& its_machine, const std::vector<uint32_t>& its_cpus, const Packets& its_packets)
      : machine(its_machine), cpus(its_cpus), packets(its_packets), ways(its_machine, wires) {
    const double each = std::ceil(machine.image_megabits * 1e6 / 8 / packets.payload_bytes);
    if (each * static_cast<double>(cpus.size()) > most_packets)
      throw Fault(fmt::format("boot: {:.0f} packets for each of {} nodes are too many: take a smaller image",
                              each, cpus.size()));
    of_image = static_cast<uint32_t>(each);
    megabits = (packets.payload_bytes + packets.header_bytes) * 8 / 1e6;
    boots.seconds.resize(cpus.size(), infinite);
  }

  bool is_dead(std::size_t node) const { return died && packets.death->has_cpu(cpus[node]); }
  bool is_dead(const Giver& giver) const {
    return giver.node ? is_dead(*giver.node) : died && packets.death->has_server(giver.server);
  }
  double notice_seconds() const { return packets.death->notice_seconds; }
  void wake(double seconds, uint32_t handle) { wires.send(seconds, nowhere_, 0, handle); }

  Boots end() {
    for (std::size_t i = 0; packets.death && i < cpus.size(); ++i)
      if (packets.death->has_cpu(cpus[i])) boots.seconds[i] = infinite;
    return std::move(boots);
  }

  const Machine& machine;
  const std::vector<uint32_t>& cpus;
  const Packets& packets;
  fabric::Wires wires;
  Ways ways;
  uint32_t of_image = 0;  ///< packets
  double megabits = 0;    ///< of a packet on links
  bool died = false;
  Boots boots;

 private:
  Path nowhere_;
};

/// Windows of packets to each node. Handles are below handles(): of packets, by node and how often it has
/// gone elsewhere, then of what wakes a node.
class Fetches {
 public:
  /// @param givers of each node, in the order in which they are tried
  Fetches(Scene& scene, std::vector<std::vector<Giver>> givers, bool resume)
      : scene_(scene),
        givers_(std::move(givers)),
        resume_(resume),
        nodes_(givers_.size()),
        behind_(nodes_.size()) {}

  uint32_t handles() const { return count() * (most_givers + 1); }

  /// Packets that it needs, from now on.
  void begin(std::size_t node, uint32_t wanted, double seconds) {
    nodes_[node].wanted = wanted;
    turn_to(node, 0, seconds);
  }

  /// All windows are opened by one packet each in turn.
  void begin_all(uint32_t wanted) {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      nodes_[node].wanted = wanted;
      listen(node, 0);
    }
    for (uint32_t packet = 0; packet < scene_.packets.window; ++packet)
      for (std::size_t node = 0; node < nodes_.size(); ++node) send(node, 0);
  }

  /// @return a node that has all now
  std::optional<std::size_t> take(const fabric::Wires::Arrival& arrival) {
    const std::size_t node = arrival.handle % count();
    const uint32_t turn = arrival.handle / count();
    if (scene_.is_dead(node)) return std::nullopt;
    if (turn == most_givers) {
      turn_to(node, nodes_[node].giver + 1, arrival.seconds);
      return std::nullopt;
    }
    if (turn != nodes_[node].giver || scene_.is_dead(giver(node))) return std::nullopt;
    ++nodes_[node].arrived;
    fill(node, arrival.seconds + scene_.packets.answer_seconds);
    for (const std::size_t next : behind_[node]) fill(next, arrival.seconds);
    return has_all(node) ? std::optional(node) : std::nullopt;
  }

  /// Someone has died.
  void leave_dead(double seconds) {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const Node& own = nodes_[node];
      if (own.arrived == own.wanted || scene_.is_dead(node) || !scene_.is_dead(giver(node))) continue;
      ++scene_.boots.begun_again;
      notice(node, seconds);
    }
  }

  bool has_all(std::size_t node) const { return nodes_[node].arrived == nodes_[node].wanted; }

 private:
  static constexpr uint32_t most_givers = 4;

  struct Node {
    uint32_t wanted = 0, sent = 0, arrived = 0;
    uint32_t giver = 0;
    const Path* path = nullptr;
  };

  uint32_t count() const { return static_cast<uint32_t>(nodes_.size()); }
  const Giver& giver(std::size_t node) const { return givers_[node][nodes_[node].giver]; }

  void notice(std::size_t node, double seconds) {
    scene_.wake(seconds + scene_.notice_seconds(), most_givers * count() + static_cast<uint32_t>(node));
  }

  void listen(std::size_t node, uint32_t number) {
    Node& own = nodes_[node];
    own.giver = number;
    if (!resume_) own.arrived = 0;
    own.sent = own.arrived;
    const Giver& from = giver(node);
    const uint32_t cpu = scene_.cpus[node];
    own.path = from.node ? scene_.ways.from_node(scene_.cpus[*from.node], cpu)
                         : scene_.ways.from_server(from.server, cpu);
    if (from.node) behind_[*from.node].push_back(node);
  }

  void turn_to(std::size_t node, uint32_t number, double seconds) {
    if (number == givers_[node].size()) throw Fault("boot: the only server dies, and no node has a backup");
    listen(node, number);
    if (scene_.is_dead(giver(node))) {
      ++scene_.boots.begun_again;
      return notice(node, seconds);
    }
    fill(node, seconds);
  }

  /// @return whether there was something to send, and room for it
  bool send(std::size_t node, double seconds) {
    Node& own = nodes_[node];
    const Giver& from = giver(node);
    const uint32_t there = from.node ? nodes_[*from.node].arrived : own.wanted;
    if (own.sent >= there || own.sent - own.arrived >= scene_.packets.window) return false;
    ++own.sent;
    scene_.wires.send(seconds, *own.path, scene_.megabits, own.giver * count() + static_cast<uint32_t>(node));
    return true;
  }

  void fill(std::size_t node, double seconds) {
    if (scene_.is_dead(node) || scene_.is_dead(giver(node))) return;
    while (send(node, seconds)) {
    }
  }

  Scene& scene_;
  std::vector<std::vector<Giver>> givers_;
  bool resume_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> behind_;  ///< who fetches, or fetched, from each node
};

std::vector<std::vector<Giver>> givers_of(const Plan& plan) {
  std::vector<std::vector<Giver>> givers(plan.servers.size());
  for (std::size_t node = 0; node < givers.size(); ++node) {
    givers[node] = {{std::nullopt, plan.servers[node]}};
    if (plan.backups[node] != plan.servers[node]) givers[node].push_back({std::nullopt, plan.backups[node]});
  }
  return givers;
}

std::vector<std::vector<Giver>> givers_of(const Chains& chains) {
  std::vector<std::vector<Giver>> givers(chains.order.size());
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at) {
      for (const Source& source : sources_of(chains, chain, at))
        givers[chains.order[at]].push_back(
            {source.place ? std::optional(chains.order[*source.place]) : std::nullopt, source.server});
    }
  }
  return givers;
}

Boots run(Scene& scene, Fetches& fetches) {
  const uint32_t death = fetches.handles();
  if (scene.packets.death) scene.wake(scene.packets.death->seconds, death);
  fetches.begin_all(scene.of_image);
  while (const auto arrival = scene.wires.next()) {
    if (arrival->handle == death) {
      scene.died = true;
      fetches.leave_dead(arrival->seconds);
    } else if (const auto node = fetches.take(*arrival)) {
      scene.boots.seconds[*node] = arrival->seconds;
    }
  }
  return scene.end();
}

/// Packets of each sender, copied by the switches on its tree.
class Copies {
 public:
  /// @param first handle of its own
  Copies(Scene& scene, const Multicast& multicast, Fetches& fetches)
      : scene_(scene), multicast_(multicast), fetches_(fetches), first_(fetches.handles()) {
    double before = 0;
    uint32_t sent = 0;
    for (const Sender& sender : multicast.senders) {
      before += sender.mbps;
      const bool is_last = &sender == &multicast.senders.back();
      const double part = before / multicast.bandwidth.least_mbps;
      const uint32_t end = is_last ? scene.of_image : static_cast<uint32_t>(part * scene.of_image);
      wanted_.push_back(end - sent);
      sent = end;
      plant(sender.server);
    }
    arrived_.assign(multicast.senders.size(), std::vector<uint32_t>(scene.cpus.size(), 0));
    sent_.assign(multicast.senders.size(), 0);
  }

  Boots run() {
    for (uint32_t sender = 0; sender < senders(); ++sender) scene_.wake(0, turn_of(sender));
    if (scene_.packets.death) {
      scene_.wake(scene_.packets.death->seconds, death());
      scene_.wake(scene_.packets.death->seconds + scene_.notice_seconds(), noticed());
    }
    while (const auto arrival = scene_.wires.next()) take(*arrival);
    return scene_.end();
  }

 private:
  /// The end of a link on a tree.
  struct Stop {
    const Path* path;
    uint32_t sender;
    std::optional<std::size_t> node = {};
    std::vector<uint32_t> next = {};
  };

  uint32_t senders() const { return static_cast<uint32_t>(wanted_.size()); }
  uint32_t turn_of(uint32_t sender) const { return first_ + sender; }
  uint32_t death() const { return first_ + senders(); }
  uint32_t noticed() const { return first_ + senders() + 1; }
  uint32_t handle_of(uint32_t stop) const { return first_ + senders() + 2 + stop; }

  uint32_t add(uint32_t sender, uint32_t segment, uint32_t number) {
    stops_.push_back({scene_.ways.over(segment, number), sender});
    return static_cast<uint32_t>(stops_.size() - 1);
  }

  /// From a server to all nodes, over each link once.
  void plant(uint32_t server) {
    const auto sender = static_cast<uint32_t>(roots_.size());
    roots_.push_back(add(sender, 4, server));
    const uint32_t edge = add(sender, 3, scene_.machine.edge_of(server));
    stops_[roots_.back()].next.push_back(edge);
    std::map<uint32_t, uint32_t> supernodes, boards;
    const auto below = [&](uint32_t above, std::map<uint32_t, uint32_t>& known, uint32_t segment,
                           uint32_t number) {
      const auto [place, is_new] = known.emplace(number, 0);
      if (is_new) {
        place->second = add(sender, segment, number);
        stops_[above].next.push_back(place->second);
      }
      return place->second;
    };
    for (std::size_t node = 0; node < scene_.cpus.size(); ++node) {
      const uint32_t cpu = scene_.cpus[node];
      const uint32_t supernode = below(edge, supernodes, 2, scene_.machine.supernode_of(cpu));
      const uint32_t board = below(supernode, boards, 1, scene_.machine.board_of(cpu));
      const uint32_t leaf = add(sender, 0, cpu);
      stops_[board].next.push_back(leaf);
      stops_[leaf].node = node;
    }
  }

  bool is_dead(uint32_t sender) const {
    return scene_.is_dead(Giver{std::nullopt, multicast_.senders[sender].server});
  }

  void take(const fabric::Wires::Arrival& arrival) {
    if (arrival.handle < first_) {
      if (const auto node = fetches_.take(arrival)) look_at(*node, arrival.seconds);
    } else if (arrival.handle < death())
      send(arrival.handle - first_, arrival.seconds);
    else if (arrival.handle == death())
      scene_.died = true;
    else if (arrival.handle == noticed())
      fetch(arrival.seconds);
    else
      pass_on(arrival.handle - handle_of(0), arrival.seconds);
  }

  void send(uint32_t sender, double seconds) {
    if (sent_[sender] == wanted_[sender] || is_dead(sender)) return;
    ++sent_[sender];
    forward(roots_[sender], seconds);
    scene_.wake(seconds + scene_.megabits / multicast_.senders[sender].mbps, turn_of(sender));
  }

  void forward(uint32_t stop, double seconds) {
    scene_.wires.send(seconds, *stops_[stop].path, scene_.megabits, handle_of(stop));
  }

  void pass_on(uint32_t number, double seconds) {
    const Stop& stop = stops_[number];
    if (number == roots_[stop.sender] && is_dead(stop.sender)) return;
    for (const uint32_t next : stop.next) forward(next, seconds);
    if (!stop.node || scene_.is_dead(*stop.node)) return;
    ++arrived_[stop.sender][*stop.node];
    look_at(*stop.node, seconds);
  }

  bool has(uint32_t sender, std::size_t node) const { return arrived_[sender][node] == wanted_[sender]; }

  void look_at(std::size_t node, double seconds) {
    for (uint32_t sender = 0; sender < senders(); ++sender) {
      const bool is_fetched = has_fetched_ && is_dead(sender) && fetches_.has_all(node);
      if (!has(sender, node) && !is_fetched) return;
    }
    scene_.boots.seconds[node] = seconds;
  }

  /// The part of a sender that has died.
  void fetch(double seconds) {
    has_fetched_ = true;
    for (uint32_t sender = 0; sender < senders(); ++sender) {
      if (!is_dead(sender)) continue;
      for (std::size_t node = 0; node < scene_.cpus.size(); ++node) {
        if (has(sender, node) || scene_.is_dead(node)) continue;
        ++scene_.boots.begun_again;
        fetches_.begin(node, wanted_[sender], seconds);
      }
    }
  }

  Scene& scene_;
  const Multicast& multicast_;
  Fetches& fetches_;
  uint32_t first_;
  std::vector<uint32_t> wanted_, sent_, roots_;  ///< of each sender: packets, packets, stop
  std::vector<Stop> stops_;
  std::vector<std::vector<uint32_t>> arrived_;  ///< packets of each sender at each node
  bool has_fetched_ = false;                    ///< what a dead sender has left
};

}  // namespace

Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Plan& plan,
                       const Packets& packets) {
  Scene scene(machine, cpus, packets);
  Fetches fetches(scene, givers_of(plan), false);
  return run(scene, fetches);
}

Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Chains& chains,
                       const Packets& packets) {
  Scene scene(machine, cpus, packets);
  Fetches fetches(scene, givers_of(chains), true);
  return run(scene, fetches);
}

Boots simulate_packets(const Machine& machine, const std::vector<uint32_t>& cpus, const Multicast& multicast,
                       const Plan& plan, const Packets& packets) {
  Scene scene(machine, cpus, packets);
  Fetches fetches(scene, givers_of(plan), false);
  return Copies(scene, multicast, fetches).run();
}

}  // namespace weft::boot
