// SPDX-License-Identifier: Apache-2.0
// A whole fabric of lookup blocks with the tables of the generators.
#include "switch/fabric_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "fabric/random.hpp"
#include "mcast/batch.hpp"
#include "route/checker.hpp"
#include "switch/packets.hpp"
#include "switchtables/images.hpp"

namespace weft::tb {

namespace {

using switchtables::Fabric;
using switchtables::Images;

constexpr uint32_t packets_at_once = 1u << 16;
constexpr std::size_t most_findings = 10;

/// What the checker says of tables of a two-dimensional fat tree.
struct Promise {
  uint32_t most_hops = 0;
  std::vector<bool> lossy;  ///< pairs of leaves of which a packet may be dropped, from × leaves + to
};

/// Tables of the fabric as it is now, and what they promise.
struct Plan {
  mcast::Groups groups;
  mcast::FabricTables trees;
  Images images;
  std::optional<route::Tables> routes;
  Promise promise;
};

class Run {
 public:
  explicit Run(const FabricConfig& config)
      : config_(config),
        whole_(config.topology),
        fabric_(config.known ? whole_.alive_of(*config.known) : whole_),
        hops_(std::make_unique<mcast::Hops>(fabric_.graph(), config.threads)),
        random_(config.seed) {}

  FabricResult run() {
    make_plan(1, 0);
    RandomStream flaws(config_.seed);
    spoil(plan_.images, fabric_, sizes(), config_.flaw, flaws);
    make_blocks();
    if (config_.flaw == Flaw::model) spoil_a_model(flaws);
    result_.switches = fabric_.graph().switches();
    result_.hosts = fabric_.graph().hosts();
    result_.groups = plan_.groups.count();
    pass_over_all("tables loaded");
    if (config_.update) {
      if (config_.later) fail();
      update_while_packets_fly();
      pass_over_all("tables updated");
    }
    for (const auto& block : blocks_)
      if (block) result_.clocks += block->clocks();
    return std::move(result_);
  }

 private:
  // ---------------------------------------------------------------------------------------------- tables
  route::Health health() const {
    if (new_failed_) return *config_.later;
    return config_.known ? *config_.known : route::Health(*fabric_.grid());
  }

  switch_lookup::Sizes sizes() const { return block_sizes(whole_.most_ports(), config_.per_port); }

  void make_plan(uint32_t version, uint32_t choice) {
    const auto sizes = this->sizes();
    plan_ = {};
    plan_.groups = mcast::load_groups(config_.groups, fabric_.graph());
    mcast::BatchOptions options;
    options.router.colours = sizes.colours;
    if (config_.per_port) options.router.tables = mcast::Tables::of_port;
    options.router.threads = config_.threads;
    options.seed = config_.seed;
    const mcast::Forest forest = mcast::route_together(*hops_, plan_.groups, options);
    result_.colours = forest.colours();
    plan_.trees = mcast::tables_of(forest);
    plan_.images = switchtables::heads_of(fabric_, version);
    switchtables::add_multicast(plan_.images, fabric_, plan_.trees, sizes);
    if (!fabric_.grid()) return switchtables::add_minimal_hops(plan_.images, fabric_, choice, sizes);
    const route::Health alive = health();
    route::Options routes;
    routes.channels = static_cast<uint8_t>(config_.channels);
    plan_.routes = route::make_tables(alive, routes);
    switchtables::add_routes(plan_.images, fabric_, *plan_.routes, sizes);
    plan_.promise = promise_of({&*plan_.routes});
  }

  /// While switches have any of these tables.
  Promise promise_of(const std::vector<const route::Tables*>& mixture) {
    const route::Grid& grid = *fabric_.grid();
    const route::Report report = route::check(mixture, health(), false);
    if (!report.cycle.empty()) say("packets can wait for each other in a ring");
    Promise promise{2 * report.max_steps, std::vector<bool>(std::size_t{grid.leaves()} * grid.leaves())};
    for (const route::Pair& pair : report.lossy)
      promise.lossy[std::size_t{grid.number(pair.from)} * grid.leaves() + grid.number(pair.to)] = true;
    return promise;
  }

  void make_blocks() {
    const auto sizes = this->sizes();
    result_.block_ports = sizes.ports;
    blocks_.resize(whole_.graph().switches());
    for (uint32_t sw = 0; sw < fabric_.graph().switches(); ++sw) {
      auto& block = blocks_[fabric_.whole_switch(sw)];
      block = config_.rtl ? verilated_block(sizes, config_.seed + sw) : golden_block(sizes);
      if (!config_.traces.empty()) block->open_traces(config_.traces, fabric_.whole_switch(sw));
      block->load(plan_.images[sw].head.switch_id, write_image(plan_.images[sw]));
    }
    see_what_is_alive();
  }

  void spoil_a_model(RandomStream& random) {
    if (!config_.rtl) throw Fault("a flaw of the model shows beside RTL only");
    Images images = plan_.images;
    spoil(images, fabric_, sizes(), Flaw::bit, random);
    for (uint32_t sw = 0; sw < fabric_.graph().switches(); ++sw)
      if (images[sw] != plan_.images[sw]) blocks_[fabric_.whole_switch(sw)]->spoil_model(images[sw]);
  }

  void see_what_is_alive() {
    for (uint32_t sw = 0; sw < fabric_.graph().switches(); ++sw)
      blocks_[fabric_.whole_switch(sw)]->set_alive(fabric_.alive(sw));
  }

  /// Switches and links die; their neighbours see it at once, tables stay.
  void fail() {
    new_failed_ = true;
    fabric_ = whole_.alive_of(*config_.later);
    hops_ = std::make_unique<mcast::Hops>(fabric_.graph(), config_.threads);
    see_what_is_alive();
  }

  // ---------------------------------------------------------------------------------------------- packets
  void say(const std::string& finding) {
    if (result_.findings.size() < most_findings) result_.findings.push_back(finding);
  }

  void fly(Packets& packets, const std::function<void()>& between = {}) {
    const auto start = std::chrono::steady_clock::now();
    packets.run(between);
    result_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void pass_over_all(const std::string& name) {
    FabricPass pass;
    pass.name = name;
    Packets packets(fabric_, blocks_, config_.threads);
    send_to_groups(packets, pass, {});
    send_pairs(packets, pass, {});
    pass.lookups = packets.lookups();
    result_.passes.push_back(pass);
  }

  struct Sent {
    uint32_t from = 0, to = 0;  // hosts; of multicast: to is the group
  };

  /// A packet from every member of every group.
  void send_to_groups(Packets& packets, FabricPass& pass, const std::function<void()>& between) {
    for (uint32_t group = 0; group < plan_.groups.count(); ++group) {
      if (plan_.groups.is_local(group)) continue;
      for (const uint32_t member : plan_.groups.members(group)) {
        packets.inject(member, switchtables::multicast_in(plan_.trees.groups[group].colour),
                       static_cast<uint32_t>(sent_.size()));
        sent_.push_back({member, group});
        if (sent_.size() == at_once_) multicast_flies(packets, pass, between);
      }
    }
    multicast_flies(packets, pass, between);
  }

  void multicast_flies(Packets& packets, FabricPass& pass, const std::function<void()>& between) {
    fly(packets, between);
    pass.multicast_packets += sent_.size();
    wrong_.assign(sent_.size(), 0);
    for (const Loss& loss : packets.losses()) judge_lost_copy(loss);
    auto arrivals = packets.arrivals();
    std::sort(arrivals.begin(), arrivals.end());
    auto at = arrivals.begin();
    for (uint32_t tag = 0; tag < sent_.size(); ++tag) {
      const auto end =
          std::find_if(at, arrivals.end(), [&](const Arrival& arrival) { return arrival.tag != tag; });
      if (!copies_are_right(sent_[tag], {at, end}, pass)) wrong_[tag] = 1;
      at = end;
      pass.wrong += wrong_[tag];
    }
    sent_.clear();
  }

  /// A tree leads to members only, so none of its copies is ever dropped.
  void judge_lost_copy(const Loss& loss) {
    wrong_[loss.tag] = 1;
    say(fmt::format("group {}: a copy of a packet from host {} is dropped by switch {}: {}",
                    sent_[loss.tag].to, sent_[loss.tag].from, loss.sw, reason(loss)));
  }

  /// Each other member of the group exactly once; hosts of no group on its tree not at all.
  bool copies_are_right(const Sent& sent, std::span<const Arrival> arrivals, FabricPass& pass) {
    std::size_t next = 0;
    bool right = true;
    for (const uint32_t member : plan_.groups.members(sent.to)) {
      if (member == sent.from) continue;
      while (next < arrivals.size() && arrivals[next].host < member)
        right = foreign(sent, arrivals[next++].host) && right;
      const bool here = next < arrivals.size() && arrivals[next].host == member;
      const bool once = here && (next + 1 == arrivals.size() || arrivals[next + 1].host != member);
      pass.copies += here;
      right = right && once;
      while (next < arrivals.size() && arrivals[next].host == member) ++next;
    }
    while (next < arrivals.size()) right = foreign(sent, arrivals[next++].host) && right;
    if (!right)
      say(fmt::format(
          "group {}: a packet from host {} does not come to each other member exactly once, and to nobody "
          "else",
          sent.to, sent.from));
    return right;
  }

  /// Whether a host that is no member may get a copy: if a group with the same tree has it.
  bool foreign(const Sent& sent, uint32_t host) const {
    if (host == sent.from) return false;
    const uint32_t tree = plan_.trees.groups[sent.to].tree;
    for (uint32_t group = 0; group < plan_.groups.count(); ++group) {
      if (plan_.groups.is_local(group) || plan_.trees.groups[group].tree != tree) continue;
      const auto members = plan_.groups.members(group);
      if (std::binary_search(members.begin(), members.end(), host)) return true;
    }
    return false;
  }

  /// Every pair of hosts, or as many as are wanted, drawn at random.
  void send_pairs(Packets& packets, FabricPass& pass, const std::function<void()>& between) {
    const uint64_t hosts = fabric_.graph().hosts();
    pass.pairs = hosts * (hosts - 1);
    pass.promised_hops = 0;
    const uint64_t count = std::min(pass.pairs, config_.most_pairs);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t pair = count == pass.pairs ? i : random_.below(pass.pairs);
      const auto from = static_cast<uint32_t>(pair / (hosts - 1));
      auto to = static_cast<uint32_t>(pair % (hosts - 1));
      to += to >= from;
      packets.inject(from, switchtables::unicast_to(fabric_, to), static_cast<uint32_t>(sent_.size()));
      sent_.push_back({from, to});
      if (sent_.size() == at_once_) unicast_flies(packets, pass, between);
    }
    unicast_flies(packets, pass, between);
  }

  void unicast_flies(Packets& packets, FabricPass& pass, const std::function<void()>& between) {
    fly(packets, between);
    pass.unicast_packets += sent_.size();
    arrived_.assign(sent_.size(), 0);
    for (const Arrival& arrival : packets.arrivals()) {
      const Sent& sent = sent_[arrival.tag];
      ++arrived_[arrival.tag];
      ++pass.arrived;
      pass.max_hops = std::max(pass.max_hops, arrival.hops);
      const uint32_t promised = promised_hops(sent);
      pass.promised_hops = std::max(pass.promised_hops, promised);
      if (arrival.host != sent.to || arrival.hops > promised) {
        ++pass.wrong;
        say(fmt::format("a packet from host {} to {} comes to {} after {} hops, promised: {}", sent.from,
                        sent.to, arrival.host, arrival.hops, promised));
      }
    }
    for (const Loss& loss : packets.losses()) judge_loss(loss, pass);
    for (uint32_t tag = 0; tag < sent_.size(); ++tag) {
      if (arrived_[tag] == 1) continue;
      ++pass.wrong;
      say(fmt::format("a packet from host {} to {} arrives {} times", sent_[tag].from, sent_[tag].to,
                      arrived_[tag]));
    }
    sent_.clear();
  }

  void judge_loss(const Loss& loss, FabricPass& pass) {
    ++pass.lost;
    if (may_lose(sent_[loss.tag]) && loss.why != switch_lookup::formats::Outcome::forward) {
      arrived_[loss.tag] = 1;  // as good as
      return;
    }
    say(fmt::format("a packet from host {} to {} is dropped by switch {}: {}", sent_[loss.tag].from,
                    sent_[loss.tag].to, loss.sw, reason(loss)));
  }

  bool may_lose(const Sent& sent) const {
    if (!fabric_.grid()) return false;
    const auto leaf = [this](uint32_t host) { return fabric_.whole_switch(fabric_.attachment(host).node); };
    return plan_.promise.lossy[std::size_t{leaf(sent.from)} * fabric_.grid()->leaves() + leaf(sent.to)];
  }

  static std::string reason(const Loss& loss) {
    using switch_lookup::formats::Outcome;
    return loss.why == Outcome::forward ? "nothing is behind the port, or it went on for too long"
                                        : std::string(switch_lookup::formats::name(loss.why));
  }

  uint32_t promised_hops(const Sent& sent) {
    const uint32_t from = fabric_.attachment(sent.from).node, to = fabric_.attachment(sent.to).node;
    if (from == to) return 0;
    const bool faults = new_failed_ || config_.known;
    return (faults ? plan_.promise.most_hops : hops_->from(to, room_)[from]) -
           (config_.flaw == Flaw::promise);
  }

  // ---------------------------------------------------------------------------------------------- update
  /// Packets all the time, while one switch after the other, in any order, gets its new tables.
  void update_while_packets_fly() {
    const Plan before = std::move(plan_);
    make_plan(2, 1);
    const Promise after = plan_.promise;
    if (fabric_.grid()) plan_.promise = promise_of({&*before.routes, &*plan_.routes});
    std::vector<uint32_t> order(fabric_.graph().switches());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    std::size_t next = 0;
    const auto begin_some = [&] {
      const std::size_t end = std::min(order.size(), next + 1 + order.size() / 64);
      for (; next < end; ++next) {
        const uint32_t sw = order[next];
        blocks_[fabric_.whole_switch(sw)]->begin_update(write_image(plan_.images[sw]));
        ++result_.images_updated;
      }
    };
    FabricPass pass;
    pass.name = "while tables change";
    Packets packets(fabric_, blocks_, config_.threads);
    at_once_ = packets_at_once / 64;
    if (!new_failed_) send_to_groups(packets, pass, begin_some);  // their trees stay
    send_pairs(packets, pass, begin_some);
    at_once_ = packets_at_once;
    while (next < order.size()) begin_some();
    for (uint32_t sw = 0; sw < fabric_.graph().switches(); ++sw)
      blocks_[fabric_.whole_switch(sw)]->finish_update();
    pass.lookups = packets.lookups();
    result_.passes.push_back(pass);
    plan_.promise = after;
  }

  const FabricConfig& config_;
  Fabric whole_, fabric_;
  std::unique_ptr<mcast::Hops> hops_;
  mcast::Hops::Room room_;
  RandomStream random_;
  Plan plan_;
  LookupBlocks blocks_;  // none for switches that were dead from the start
  FabricResult result_;
  uint32_t at_once_ = packets_at_once;  // that fly
  bool new_failed_ = false;
  std::vector<Sent> sent_;
  std::vector<uint8_t> arrived_, wrong_;  // of packets that were sent
};

}  // namespace

FabricResult run_fabric(const FabricConfig& config) { return Run(config).run(); }

}  // namespace weft::tb
