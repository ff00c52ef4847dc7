// SPDX-License-Identifier: Apache-2.0
// Engines, their software and the routers between them, clock by clock.
#include "barrier/mesh_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "barrier/comparison.hpp"
#include "barrier/copies.hpp"
#include "common/fault.hpp"
#include "fabric/random.hpp"

namespace weft::tb {

namespace {

using namespace barrier;

constexpr std::size_t most_findings = 10;
constexpr uint64_t warm_up = 2000;        ///< clocks of background traffic alone
constexpr uint64_t most_levels = 6;       ///< of a tree of 64 members
constexpr Node first_multicast = 0xc000;  ///< address of group 0, beyond all nodes

/// Where a member's software stands.
struct Member {
  bool in = false;
  uint32_t arrived = 0, done = 0;
  uint64_t comes = 0;  ///< clock from which on it arrives again
  bool failed = false;
  std::vector<uint64_t> came = {};  ///< clocks of its arrivals
};

struct Group {
  GroupSettings settings;
  std::vector<Member> members;           ///< by node
  std::vector<uint64_t> arrivals, ends;  ///< of each barrier: clocks of the last ones
  uint64_t levels = 0, children = 0;     ///< of its tree; of one member at most
  bool has(Node node) const { return node < members.size() && members[node].in; }
};

class MeshRun {
 public:
  MeshRun(const BarrierRun& run, const EngineOf& engine_of)
      : run_(run),
        mesh_(mesh_of(run, result_)),
        routes_(mesh_),
        network_(mesh_.nodes(), run.faults, run.seed),
        random_(run.seed, 77) {
    const Routes::Centre centre = routes_.centre();
    result_.radius = centre.radius;
    result_.lower_bound = uint64_t{2} * centre.radius * run.faults.delay;
    if (run.background.load > 0 && run.later) throw Fault("links change, or carry other traffic, not both");
    if (run.background.load > 0)
      busy_ = std::make_unique<BusyLinks>(mesh_, routes_, run.background, run.faults.delay, run.seed);
    for (Node node = 0; node < mesh_.nodes(); node++) engines_.push_back(engine_of(node));
    for (uint32_t group = 0; group < run.groups; group++) groups_.push_back(group_of(group));
    lay_copies();
  }

  BarrierRunResult run() {
    try {
      open();
      while (!over() && result_.findings.size() < most_findings) {
        if (now_ >= run_.most_clocks) {
          find(fmt::format("{} clocks, and not all have left: a hang", now_));
          break;
        }
        clock();
      }
      check_named();
    } catch (const BarrierMismatch& mismatch) {
      find(mismatch.what());
    }
    finish();
    return std::move(result_);
  }

 private:
  void lay_copies() {
    copied_.clear();
    if (!run_.multicast) return;
    const Copies tree = mr4lms_copies(mesh_);
    for (Node node = 0; node < mesh_.nodes(); node++) copied_.push_back(passes_on(mesh_, tree, node));
  }

  static Mesh mesh_of(const BarrierRun& run, BarrierRunResult& result) {
    if (run.size.nodes() < 1 || run.size.nodes() > engine_nodes)
      throw Fault(fmt::format("a mesh of {} nodes: must be 1 to {}", run.size.nodes(), engine_nodes));
    if (run.dies && *run.dies >= run.size.nodes())
      throw Fault(fmt::format("node {} is to die: the mesh has {}", *run.dies, run.size.nodes()));
    Mesh mesh(run.size, Links::four);
    result.links = mesh.links();
    result.broken_links = mesh.break_links(run.broken, run.seed);
    return mesh;
  }

  Group group_of(uint32_t number) {
    Group group;
    std::vector<Node> nodes = numbered(mesh_, run_.numbering);
    if (number > 0) {  // some of them, in any order
      for (std::size_t i = nodes.size(); i > 1; i--) std::swap(nodes[i - 1], nodes[random_.below(i)]);
      nodes.resize(1 + random_.below(nodes.size()));
    }
    group.members.resize(mesh_.nodes());
    for (const Node node : nodes) group.members[node].in = true;
    group.settings.instance = static_cast<uint16_t>(random_.next());
    group.settings.shape = run_.shape;
    group.settings.members = std::move(nodes);
    move_in_blocks(group.settings, run_.block_log2);  // a group of some may have none
    if (run_.multicast) group.settings.multicast = first_multicast + number;
    const uint32_t offsets = offsets_of(group.settings);
    // As in the comparison; nodes of groups of some have no order that the numbering would know.
    group.settings.judge = {
        .offsets = offsets,
        .stride = number == 0 ? barrier::usual_stride(run_.numbering, offsets) : default_stride(offsets),
        .good = longest_way(group.settings),
        .tries = number == 0 ? barrier::usual_tries(run_.numbering) : 8};
    group.settings.waiting = waiting_of(run_);
    const auto count = static_cast<uint32_t>(group.settings.members.size());
    for (uint32_t id = 0; id < count; id++) {
      uint64_t level = 0;
      for (uint32_t at = id; at != 0; at = parent_of(run_.shape, at)) level++;
      group.levels = std::max(group.levels, level);
      group.children = std::max<uint64_t>(group.children, children_of(run_.shape, id, count).size());
    }
    group.arrivals.resize(run_.barriers);
    group.ends.resize(run_.barriers);
    return group;
  }

  /// Of offset 0 in the mesh as it was before links broke: with no break, judge does not search.
  uint32_t longest_way(const GroupSettings& settings) const {
    const Mesh whole(run_.size, Links::four);
    const Routes routes(whole);
    const auto count = static_cast<uint32_t>(settings.members.size());
    uint32_t longest = 0;
    for (uint32_t id = 0; id < count; id++) {
      uint32_t length = 0;
      for (uint32_t at = id; at != 0; at = parent_of(settings.shape, at))
        length += routes.hops(settings.members[at], settings.members[parent_of(settings.shape, at)]);
      longest = std::max(longest, length);
    }
    return longest;
  }

  bool dead(Node node) const { return died_ && *run_.dies == node; }

  // -------------------------------------------------------------------------------------------------
  // software

  void open() {
    for (uint32_t group = 0; group < groups_.size(); group++)
      for (const Node node : groups_[group].settings.members)
        engines_[node]->open(group, groups_[group].settings);
    const auto busy = [](const auto& engine) { return engine->busy(); };
    while (std::any_of(engines_.begin(), engines_.end(), busy)) clock_engines();
  }

  /// A member whose software is told of a death arrives no more.
  bool leaves_off(const Group& group, Node node) const {
    return !group.has(node) || dead(node) || group.members[node].failed;
  }

  bool over() const {
    for (const Group& group : groups_)
      for (Node node = 0; node < mesh_.nodes(); node++)
        if (!leaves_off(group, node) && group.members[node].done < run_.barriers) return false;
    return true;
  }

  bool all_left(const Group& group, uint32_t barriers) const {
    return std::ranges::all_of(group.settings.members, [&](Node node) {
      return leaves_off(group, node) || group.members[node].done >= barriers;
    });
  }

  void software(Node node) {
    if (engines_[node]->busy()) return;
    for (uint32_t number = 0; number < groups_.size(); number++) {
      Group& group = groups_[number];
      Member& member = group.members[node];
      if (leaves_off(group, node) || member.arrived > member.done || member.arrived >= run_.barriers ||
          now_ < member.comes || (busy_ && now_ < warm_up) ||
          (run_.together && !all_left(group, member.done)))
        continue;
      group.arrivals[member.arrived] = now_;
      member.came.push_back(now_);
      member.arrived++;
      engines_[node]->arrive(number);
      return;
    }
  }

  void told(Node node, const Completion& completion) {
    Group& group = groups_.at(completion.group);
    Member& member = group.members[node];
    if (completion.ending != Ending::ok) {
      member.failed = true;
      if (!died_ || completion.dead != *run_.dies) return falsely_dead(node, completion.dead);
      result_.named_dead++;
      result_.clocks_to_name = now_ - death_;
      return named_dead(group, node);
    }
    if (completion.epoch != member.done)
      find(fmt::format("node {} leaves barrier {} instead of {}", node, completion.epoch, member.done));
    if (member.done < run_.barriers) group.ends[member.done] = now_;
    member.done++;
    member.comes = now_ + random_.below(uint64_t{run_.think} + 1);
    for (const Node other : group.settings.members)
      if (group.members[other].arrived < member.done)
        find(fmt::format("node {} leaves barrier {} before node {} has arrived", node, completion.epoch,
                         other));
    if (completion.late) named_late(group, node, *completion.late);
    promised_late(group, node, completion.late.has_value());
  }

  /// A parent that has arrived asks its children one after the other; each question is answered, or is one of
  /// all tries. Where packets are lost each of those that live may take nearly as many. Then all are told,
  /// first up to the root, then down.
  uint64_t most_to_name(const Group& group) const {
    const Waiting waiting = waiting_of(run_);
    const uint64_t others = group.children + 2 * group.levels, tries = waiting.tries + 1;
    const uint64_t questions = lost_on_a_link(run_) > 0 ? (others + 1) * tries : others + tries;
    return questions * (waiting.largest * engine_tick + 2 * most_away(farthest()));
  }

  void named_dead(const Group& group, Node node) {
    uint64_t met = death_;
    for (const Node other : group.settings.members)
      if (!dead(other) && !group.members[other].came.empty())
        met = std::max(met, group.members[other].came.back());
    result_.clocks_to_name_met = std::max(result_.clocks_to_name_met, now_ - met);
    if (!busy_ && now_ - met > most_to_name(group))
      find(fmt::format("node {} is told of the death {} clocks after it, and after all had come; at most {}",
                       node, now_ - met, most_to_name(group)));
  }

  /// Links between any two nodes, at most.
  uint32_t farthest() const {
    uint32_t most = 0;
    for (Node one = 0; one < mesh_.nodes(); one++)
      for (Node other = 0; other < one; other++) most = std::max(most, routes_.hops(one, other));
    return most;
  }

  /// Whoever is named late had not arrived when this member had waited for as long as software allows, but
  /// for what packets were under way, and the part of a tick, on each level of the tree.
  void named_late(const Group& group, Node node, Node who) {
    result_.named_late++;
    const uint32_t barrier = group.members[node].done - 1;
    if (!group.has(who)) return find(fmt::format("node {} is told that {}, no member, is late", node, who));
    if (group.members[who].came.size() <= barrier) return;  // an early leave, which is a finding
    if (busy_) return;                                      // packets may be under way for any time
    if (group.members[who].came[barrier] + most_levels * most_away() < late_for(group, node, barrier))
      find(fmt::format("node {} is told that {} was late for barrier {}, which is not so", node, who,
                       barrier));
  }

  /// Clock from which on those are late for whom this member waits.
  uint64_t late_for(const Group& group, Node node, uint32_t barrier) const {
    return group.members[node].came[barrier] + uint64_t{run_.late} * engine_tick;
  }

  /// Clocks over so many links, at most.
  uint64_t most_away(uint64_t links) const {
    const fabric::Faults& faults = run_.faults;
    const uint64_t hop =
        uint64_t{faults.delay} + faults.jitter + (faults.reorder_degree > 0 ? faults.hold_limit : 0);
    return engine_tick + links * hop;
  }

  /// From one member to another, whatever breaks.
  uint64_t most_away() const { return most_away(mesh_.nodes()); }

  /// On each level a member has asked each of those below it, or the one above, some time after the limit; of
  /// lost questions and answers nothing is promised.
  void promised_late(const Group& group, Node node, bool named) {
    if (busy_ || lost_on_a_link(run_) > 0 || run_.pauses > 0) return;
    const uint32_t barrier = group.members[node].done - 1;
    const uint64_t asked = group.children * waiting_of(run_).largest * engine_tick + 2 * most_away();
    for (const Node other : group.settings.members) {
      const std::vector<uint64_t>& came = group.members[other].came;
      if (came.size() <= barrier ||
          came[barrier] <= late_for(group, node, barrier) + 2 * group.levels * asked)
        continue;
      if (named)
        result_.late_promised++;
      else
        find(fmt::format("node {} is not told that {} was late for barrier {}", node, other, barrier));
    }
  }

  void check_named() {
    for (const Group& group : groups_)
      if (died_ && group.has(*run_.dies))
        for (const Node node : group.settings.members)
          if (!dead(node) && !group.members[node].failed && group.members[node].done < run_.barriers)
            find(fmt::format("node {} is not told of the death of node {}", node, *run_.dies));
  }

  void die() {
    if (died_ || !run_.dies) return;
    for (const Group& group : groups_)
      if (group.has(*run_.dies) && group.members[*run_.dies].done < run_.barriers / 2) return;
    died_ = true;
    death_ = now_;
  }

  // ------------------------------------------------------------------------------------------------- network

  /// The routing knows at once; packets on a link that breaks still come over it.
  void change_links() {
    if (changed_ || !run_.later || !all_left(groups_.front(), run_.barriers / 2)) return;
    changed_ = true;
    mesh_ = Mesh(run_.size, Links::four);
    result_.broken_later = mesh_.break_links(*run_.later, run_.seed + 1);
    routes_ = Routes(mesh_);
    lay_copies();
  }

  void clock() {
    die();
    change_links();
    for (Node node = 0; node < mesh_.nodes(); node++)
      if (!dead(node)) software(node);
    clock_engines();
  }

  void clock_engines() {
    now_++;
    network_.tick();
    if (busy_) go_over();
    for (Node node = 0; node < mesh_.nodes(); node++) {
      while (const auto packet = network_.receive(node)) route(node, *packet);
      if (dead(node)) continue;
      engines_[node]->clock(run_.pauses);
      for (const PacketBytes& bytes : engines_[node]->take_packets()) {
        result_.packets++;
        route(node, {bytes.begin(), bytes.end()});
      }
      for (const Completion& completion : engines_[node]->take_completions()) told(node, completion);
    }
  }

  /// What a router does with a packet. It looks at the packet without knowing whether it holds together.
  void route(Node at, const fabric::Bytes& packet) {
    PacketBytes bytes{};
    std::copy(packet.begin(), packet.end(), bytes.begin());
    const formats::Packet fields = formats::unpack_packet(bytes);
    if (fields.to >= first_multicast) return copy(at, fields, bytes);
    if (fields.to >= mesh_.nodes()) return;
    if (fields.to == at) {
      if (!dead(at)) engines_[at]->receive(bytes);
      return;
    }
    cross(at, next_of(at, fields), bytes);
  }

  /// To the node, if it is of the group, and on over all other links of the tree.
  void copy(Node at, const formats::Packet& fields, const PacketBytes& bytes) {
    const uint32_t group = fields.to - first_multicast;
    if (copied_.empty() || group >= groups_.size() || fields.from >= mesh_.nodes()) return;
    if (at != fields.from && groups_[group].has(at) && !dead(at)) engines_[at]->receive(bytes);
    for (const Node next : copied_[fields.from][at]) cross(at, next, bytes);
  }

  void cross(Node at, Node next, PacketBytes bytes) {
    add_hop(bytes);
    result_.hops++;
    fabric::Bytes packet{bytes.begin(), bytes.end()};
    const uint64_t turn = busy_ ? busy_->enter(at, next) : now_;
    if (turn == now_)
      network_.send(at, next, 0, std::move(packet));
    else
      waiting_.emplace(turn, Crossing{at, next, std::move(packet)});
  }

  /// Packets that waited for their turn on a link.
  void go_over() {
    busy_->step();
    for (; !waiting_.empty() && waiting_.begin()->first <= now_; waiting_.erase(waiting_.begin())) {
      auto& [at, next, packet] = waiting_.begin()->second;
      network_.send(at, next, 0, std::move(packet));
    }
  }

  /// Release goes back the way by which its child's Gather came.
  Node next_of(Node at, const formats::Packet& packet) const {
    if (static_cast<Type>(packet.kind) == Type::release && packet.from < mesh_.nodes())
      for (Node on = packet.to; on != packet.from;) {
        const Node next = routes_.next(on, packet.from).node;
        if (next == at) return on;
        on = next;
      }
    return routes_.next(at, packet.to).node;
  }

  // ------------------------------------------------------------------------------------------------- results

  void falsely_dead(Node told, Node dead) {
    result_.named_living++;
    find(fmt::format("node {} is told that {} is dead, which is not so", told,
                     dead == told ? "itself" : std::to_string(dead)));
  }

  void find(std::string what) {
    if (result_.findings.size() < most_findings)
      result_.findings.push_back(std::move(what));
    else
      result_.more_findings++;
  }

  /// Each barrier, every member but the root waits for its parent, at offset 0 so far away.
  void foresee_false_deaths() {
    for (const Group& group : groups_) {
      const std::vector<Node>& members = group.settings.members;
      for (uint32_t id = 1; id < members.size(); id++) {
        const uint32_t links = routes_.hops(members[id], members[parent_of(run_.shape, id)]);
        result_.farthest_parent = std::max(result_.farthest_parent, links);
        result_.false_deaths += run_.barriers * false_death(run_, links);
      }
    }
  }

  void finish() {
    result_.clocks = now_;
    result_.network = network_.counters();
    foresee_false_deaths();
    for (const auto& engine : engines_) result_.repeated += engine->repeated();
    for (const Group& group : groups_) {
      uint32_t all = run_.barriers;
      for (const Node node : group.settings.members) all = std::min(all, group.members[node].done);
      result_.barriers += all;
      if (&group != &groups_.front()) continue;
      const uint32_t before = changed_ ? std::min(all, run_.barriers / 2) : all;
      result_.cycles = mean_cycles(group, 0, before);
      if (changed_) result_.cycles_later = mean_cycles(group, before, all);
    }
  }

  static std::optional<double> mean_cycles(const Group& group, uint32_t first, uint32_t end) {
    if (first == end) return std::nullopt;
    double sum = 0;
    for (uint32_t i = first; i < end; i++) sum += static_cast<double>(group.ends[i] - group.arrivals[i]);
    return sum / (end - first);
  }

  BarrierRun run_;
  BarrierRunResult result_;
  Mesh mesh_;
  Routes routes_;
  fabric::Network network_;
  RandomStream random_;
  struct Crossing {
    Node at, next;
    fabric::Bytes packet;
  };
  std::unique_ptr<BusyLinks> busy_;            ///< with background traffic
  std::multimap<uint64_t, Crossing> waiting_;  ///< for their turn on a link, by clock
  std::vector<std::unique_ptr<EngineNode>> engines_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::vector<Node>>> copied_;  ///< by sender and router: to which routers
  uint64_t now_ = 0, death_ = 0;
  bool died_ = false, changed_ = false;
};

}  // namespace

Waiting waiting_of(const BarrierRun& run) {
  return {.first = 3, .largest = 6, .tries = run.tries, .late = run.late};
}

double lost_on_a_link(const BarrierRun& run) { return 1 - (1 - run.faults.loss) * (1 - run.faults.corrupt); }

double false_death(const BarrierRun& run, uint32_t links) {
  const double there = std::pow(1 - lost_on_a_link(run), links);
  return std::pow(1 - there * there, run.tries + 1);  // the first packet is no try
}

BarrierRunResult run_barriers(const BarrierRun& run, const EngineOf& engine_of) {
  return MeshRun(run, engine_of).run();
}

BarrierRunResult run_barriers(const BarrierRun& run) {
  return run_barriers(run, [&](Node node) {
    const bool rtl = run.engines == BarrierRun::Engines::rtl ||
                     (run.engines == BarrierRun::Engines::mixed && node % 2 == 0);
    return rtl ? verilated_node(node, run.seed + node) : golden_node(node);
  });
}

}  // namespace weft::tb
