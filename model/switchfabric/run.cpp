// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree, measured.
#include "switchfabric/run.hpp"

#include <fmt/format.h>

#include <utility>

#include "switchfabric/seen.hpp"

namespace weft::switchfabric {

namespace {

constexpr uint64_t clocks_between_searches = 1000;       // for a deadlock
constexpr uint64_t most_told_apart = uint64_t{1} << 33;  // packets, a bit each: 1 GiB

/// Clocks without arrivals or losses until the rest is given up: far more than a packet takes from a switch
/// to the next, or than news of room take.
uint64_t patience(const Config& config) {
  return 10'000 + 2 * (uint64_t{config.switch_clocks} + config.end_clocks + config.credit_clocks);
}

Config seeded(Config config, uint64_t seed) {
  config.seed = seed;
  return config;
}
ManagerConfig seeded(ManagerConfig config, uint64_t seed) {
  config.seed = seed;
  return config;
}

class Run {
 public:
  Run(const route::Tables& tables, const route::Health& alive, const RunConfig& config)
      : config_(config),
        grid_(alive.grid()),
        fabric_(tables, alive, seeded(config.fabric, config.seed), config.unit),
        manager_(fabric_, tables, seeded(config.manager, config.seed)),
        traffic_(config.pattern, config.load, alive, config.seed) {
    report_.flow.senders = traffic_.senders();
    report_.live.first_strike = config.strike_clock;
    if (!live()) return;
    const uint32_t hosts = grid_.leaves() * grid_.hosts;
    if (uint64_t{hosts} * config.clocks > most_told_apart)
      throw Fault(
          fmt::format("--strike: {} hosts can send in at most {} clocks, so that packets are told apart",
                      hosts, most_told_apart / hosts));
    seen_ = Seen(hosts, config.clocks);
  }

  RunReport all(const Watch& watch) && {
    for (uint64_t clock = 0; clock < config_.clocks && !stands_still(); ++clock) {
      strike(clock);
      traffic_.draw(clock, [this](uint32_t from, uint32_t to) {
        fabric_.send(from, to);
        ++report_.live.sent;
      });
      step();
      if (clock >= config_.clocks / 2) measure();
      if (live()) measure_phase(clock);
      if (watch) watch(clock, config_.clocks);
    }
    if (live()) finish();
    if (!stands_still()) search();
    report_.flow.lookups = fabric_.lookups();
    return std::move(report_);
  }

 private:
  bool live() const { return !config_.strikes.empty(); }
  bool stands_still() const { return !report_.live.deadlock.empty(); }

  void strike(uint64_t clock) {
    while (struck_ < config_.strikes.size() &&
           clock == config_.strike_clock + struck_ * uint64_t{config_.strike_gap}) {
      const uint64_t waiting = fabric_.waiting();
      fabric_.strike(config_.strikes[struck_++]);
      report_.live.sent -= waiting - fabric_.waiting();
      manager_.fault();
      traffic_.silence(fabric_.alive());
      knows_ = false;
    }
  }

  void step() {
    if (live()) {
      manager_.step();
      if (!knows_ && manager_.done()) traffic_.see(fabric_.alive());
      knows_ = knows_ || manager_.done();
    }
    fabric_.step();
    for (const Lost& lost : fabric_.lost()) lose(lost);
    if (fabric_.now() % clocks_between_searches == 0) search();
    if (!live()) return;
    for (const Delivered& delivered : fabric_.delivered()) arrive(delivered);
  }

  void measure() {
    report_.flow.host_clocks += traffic_.senders();
    for (const Delivered& delivered : fabric_.delivered()) {
      ++report_.flow.arrived;
      report_.flow.latency += delivered.arrived - delivered.packet.sent;
      report_.flow.switches += delivered.switches;
      report_.flow.detoured += detoured(delivered);
    }
  }

  Phase phase() const {
    if (struck_ == 0) return Phase::before;
    if (manager_.done()) return Phase::after;
    return manager_.rewriting() ? Phase::rewriting : Phase::news;
  }

  void measure_phase(uint64_t clock) {
    if (clock < config_.strike_clock / 2) return;
    PhaseFlow& flow = report_.live.flows[static_cast<std::size_t>(phase())];
    ++flow.clocks;
    flow.host_clocks += traffic_.senders();
    for (const Delivered& delivered : fabric_.delivered()) {
      ++flow.arrived;
      flow.latency += delivered.arrived - delivered.packet.sent;
    }
  }

  /// Nobody sends any more.
  void finish() {
    last_change_ = fabric_.now();
    const uint64_t most = patience(config_.fabric);
    while (!stands_still() && (!manager_.done() || (fabric_.waiting() + fabric_.under_way() > 0 &&
                                                    fabric_.now() < last_change_ + most))) {
      step();
      if (!fabric_.delivered().empty() || !fabric_.lost().empty()) last_change_ = fabric_.now();
    }
    report_.live.left = fabric_.waiting() + fabric_.under_way();
    report_.live.tables_done = manager_.last();
    report_.live.rewritten = manager_.rewritten();
  }

  void search() {
    if (config_.fabric.any_channel) return;
    report_.live.deadlock = fabric_.deadlock();
    report_.live.deadlock_clock = stands_still() ? fabric_.now() : 0;
  }

  route::Leaf leaf_of(uint32_t host) const { return grid_.leaf(host / grid_.hosts); }

  bool detoured(const Delivered& delivered) const {
    return delivered.switches >
           grid_.fewest_switches(leaf_of(delivered.packet.from), leaf_of(delivered.packet.to));
  }

  void arrive(const Delivered& delivered) {
    LiveReport& live = report_.live;
    live.twice += seen_.again(delivered.packet);
    ++live.arrived;
    live.detoured += detoured(delivered);
  }

  void lose(const Lost& lost) {
    LiveReport& live = report_.live;
    if (lost.why) ++report_.flow.dropped;
    const bool dead = !fabric_.alive().alive(leaf_of(lost.packet.to));
    (dead ? live.last_loss_to_dead : live.last_loss) = fabric_.now();
    if (!lost.why)
      ++live.struck;
    else if (dead)
      ++live.to_dead;
    else
      ++live.dropped[static_cast<std::size_t>(*lost.why)];
  }

  const RunConfig& config_;
  route::Grid grid_;
  SwitchFabric fabric_;
  SubnetManager manager_;
  Traffic traffic_;
  RunReport report_;
  Seen seen_;
  std::size_t struck_ = 0;
  uint64_t last_change_ = 0;
  bool knows_ = true;  // hosts, who is dead
};

}  // namespace

RunReport run(const route::Tables& tables, const route::Health& alive, const RunConfig& config,
              const Watch& watch) {
  return Run(tables, alive, config).all(watch);
}

}  // namespace weft::switchfabric
