// SPDX-License-Identifier: Apache-2.0
// Several RDMA engines and the network between them.
#include "rdma_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "trace/folder.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

namespace formats = rdma::formats;

namespace {

constexpr uint32_t reset_cycles = 5;
constexpr uint64_t register_cycles = 200'000;  // more than enough to read all counters of all nodes at once

/// What must stay in order in the network: data of one transfer, and control packets by direction.
uint64_t flow_of(const formats::Header& header) {
  const bool is_data = header.ptype == static_cast<uint8_t>(formats::Ptype::data);
  return is_data ? (static_cast<uint64_t>(header.msgid) << 16 | header.sid) + 1 : 0;
}

fabric::Network make_network(const SystemConfig& config) {
  if (config.carrier) return {config.carrier, config.faults, config.seed};
  return config.routers ? fabric::Network(*config.routers, config.faults, config.seed)
                        : fabric::Network(config.nodes, config.faults, config.seed);
}

constexpr uint32_t nodes_at_once = 8;  // stepwise: what they keep fits into the second cache

constexpr uint64_t start_values = 1ull << 34;  // random streams of the nodes; those of RdmaNode are below

/// Whatever else stands in the packet.
formats::Ptype type_of(const Bytes& packet) { return static_cast<formats::Ptype>(packet.front()); }

}  // namespace

void FateCounts::add(const fabric::Fate& fate) {
  sent += 1;
  lost += fate.lost;
  duplicated += fate.duplicated;
  corrupted += fate.corrupted;
  held_back += fate.held_back;
}

FateCounts& FateCounts::operator+=(const FateCounts& other) {
  sent += other.sent;
  lost += other.lost;
  duplicated += other.duplicated;
  corrupted += other.corrupted;
  held_back += other.held_back;
  return *this;
}

Fates RdmaSystem::fates() const {
  Fates all;
  for (const auto& own : surroundings_) {
    for (const auto& [type, counts] : own->fates) all[type] += counts;
  }
  return all;
}

void RdmaSystem::trace_network(const std::string& directory) {
  for (uint32_t index = 0; index < size(); ++index) surroundings_[index]->trace.emplace(directory, index);
}

void RdmaSystem::close_network_traces() {
  for (auto& own : surroundings_) {
    if (own->trace) own->trace->close();
    own->trace.reset();
  }
}

RdmaSystem::Surroundings::Surroundings(uint64_t seed, uint32_t node)
    : context(RandomStream(seed, start_values + node).next()) {}

RdmaSystem::RdmaSystem(const SystemConfig& config)
    : numbers_(config.numbers), threads_(config.threads), network_(make_network(config)) {
  if (!config.waves.empty()) waves_ = make_wave_file();
  NodeConfig node = config.node;
  node.seed = config.seed;
  for (uint32_t index = 0; index < config.nodes; ++index) {
    Surroundings& own = *surroundings_.emplace_back(std::make_unique<Surroundings>(config.seed, index));
    if (waves_) own.context.verilated().traceEverOn(true);
    node.golden = config.golden.contains(index);
    nodes_.push_back(
        std::make_unique<RdmaNode>(index, node, own.context, own.findings,
                                   [this, index](Bytes packet) { forward(index, std::move(packet)); }));
  }
  for (auto& each : nodes_) steps_.push_back(each->steps());
  if (std::ranges::any_of(steps_, [](const Steps& steps) { return steps.settle.empty(); })) steps_.clear();
  if (waves_) {
    for (auto& each : nodes_) each->model().attach(*waves_);
    waves_->open(config.waves);
  }
  if (const auto folder = trace::next_folder()) {
    for (auto& each : nodes_) {
      if (each->checked()) each->scoreboard().write_traces(*folder, false);
    }
  }
  reset();
}

RdmaSystem::~RdmaSystem() {
  for (auto& each : nodes_) {
    if (each->checked()) each->scoreboard().close_traces();
  }
}

void RdmaSystem::reset() {
  network_.flush();
  for (auto& node : nodes_) node->hold_reset();
  for (uint32_t i = 0; i < reset_cycles; ++i) step();
  for (auto& node : nodes_) node->release_reset();
}

void RdmaSystem::reset_node(uint32_t index) {
  nodes_[index]->hold_reset();
  for (uint32_t i = 0; i < reset_cycles; ++i) step();
  nodes_[index]->release_reset();
}

void RdmaSystem::start(const driver::RdmaSetup& setup) {
  for (auto& node : nodes_) {
    driver::RdmaSetup own = setup;
    own.node_id = number(node->index());
    node->driver().start(own);
  }
}

uint16_t RdmaSystem::number(uint32_t index) const {
  return index < numbers_.size() ? numbers_[index] : static_cast<uint16_t>(index);
}

uint32_t RdmaSystem::index_of(uint16_t number) const {
  if (numbers_.empty()) return number;
  return static_cast<uint32_t>(std::ranges::find(numbers_, number) - numbers_.begin());
}

void RdmaSystem::forward(uint32_t from, Bytes packet) {
  if (packet.size() < rdma::flit_bytes) return;  // the monitor has told
  const formats::Ptype type = type_of(packet);
  if (tamper_) tamper_(packet);
  const auto header =
      formats::unpack(std::span<const uint8_t, rdma::flit_bytes>(packet.data(), rdma::flit_bytes));
  Surroundings& own = *surroundings_[from];
  const fabric::Fate fate = network_.send(from, index_of(header.dst), flow_of(header), std::move(packet));
  own.fates[type].add(fate);
  if (own.trace) own.trace->write(cycle_, header, fate);
}

void RdmaSystem::dump_waves(uint64_t time) {
  if (waves_) waves_->dump(time);
}

void RdmaSystem::step() {
  step_part(all());
  end_clock();
  deliver(all());
}

void RdmaSystem::step_engines(const fabric::Part& part) {
  for (uint32_t index = part.first; index < part.behind; ++index) {
    nodes_[index]->drive(cycle_);
    nodes_[index]->settle();
    nodes_[index]->look();
  }
  dump_waves(2 * cycle_);
  for (uint32_t index = part.first; index < part.behind; ++index) nodes_[index]->edge();
}

void RdmaSystem::step_engines_stepwise(uint32_t first, uint32_t behind) {
  const auto all = [&](std::span<const Step> Steps::*which) {
    for (const Step step : steps_[first].*which) {
      for (uint32_t index = first; index < behind; ++index) step(steps_[index].state);
    }
  };
  for (uint32_t index = first; index < behind; ++index) {
    nodes_[index]->drive(cycle_);
    nodes_[index]->apply();
  }
  all(&Steps::settle);
  for (uint32_t index = first; index < behind; ++index) {
    nodes_[index]->fetch();
    nodes_[index]->look();
  }
  all(&Steps::edge);
}

void RdmaSystem::step_part(const fabric::Part& part) {
  if (steps_.empty()) {
    step_engines(part);
  } else {
    for (uint32_t first = part.first; first < part.behind; first += nodes_at_once)
      step_engines_stepwise(first, std::min(first + nodes_at_once, part.behind));
  }
  dump_waves(2 * cycle_ + 1);
  for (uint32_t index = part.first; index < part.behind; ++index) surroundings_[index]->context.advance();
  network_.step(part);
}

void RdmaSystem::end_clock() {
  network_.advance();
  gather_findings();
  const auto failed =
      std::ranges::find_if(surroundings_, [](const auto& own) { return own->context.failed(); });
  if (failed != surroundings_.end() && !assertion_told_) {
    assertion_told_ = true;
    findings_.add(static_cast<uint32_t>(failed - surroundings_.begin()), cycle_,
                  "an assertion in the RTL failed (its message is above)");
  }
  cycle_++;
}

void RdmaSystem::deliver(const fabric::Part& part) {
  for (uint32_t index = part.first; index < part.behind; ++index) {
    while (auto packet = network_.receive(index)) nodes_[index]->receive(*packet);
  }
}

void RdmaSystem::gather_findings() {
  for (auto& own : surroundings_) {
    if (own->findings.any()) findings_.take(own->findings);
  }
}

Findings& RdmaSystem::findings() {
  gather_findings();
  return findings_;
}

bool RdmaSystem::run_until(const std::function<bool()>& done, uint64_t max_cycles) {
  const uint64_t limit = cycle_ + max_cycles;
  bool reached = done();
  const auto goes_on = [&] { return !reached && cycle_ < limit && !stopped(); };
  if (!goes_on()) return reached;
  const auto step = [this](const fabric::Part& part) {
    deliver(part);
    step_part(part);
  };
  fabric::run_in_parts(size(), threads_, step, [&] {
    end_clock();
    reached = done();
    return goes_on();
  });
  deliver(all());
  return reached;
}

bool RdmaSystem::all_ready() const {
  return std::ranges::all_of(nodes_, [](const auto& node) { return node->driver().ready(); });
}

bool RdmaSystem::settled() const {
  return network_.empty() &&
         std::ranges::all_of(nodes_, [](const auto& node) { return node->in_reset() || node->settled(); });
}

void RdmaSystem::check_at_end() {
  for (auto& node : nodes_) {
    if (node->checked()) node->scoreboard().check_quiet();
    node->memory().check_quiet(node->reporter());
  }
  check_counters();
}

void RdmaSystem::check_counters() {
  for (auto& owner : nodes_) {
    RdmaNode& node = *owner;
    if (node.in_reset() || !node.checked()) continue;
    for (uint32_t code = 0; code < outcome_codes; ++code) {
      node.registers().read(formats::reg::OUTCOME + 4 * code, [&node, code](bool ok, uint32_t value) {
        if (!ok) return node.reporter().add(fmt::format("register OUTCOME[{}] cannot be read", code));
        node.scoreboard().check_counter(code, value);
      });
    }
    node.registers().read(formats::reg::CTL_DROPPED, [&node](bool ok, uint32_t value) {
      if (!ok) return node.reporter().add("register CTL_DROPPED cannot be read");
      node.scoreboard().check_ctl_dropped(value);
    });
  }
  const bool finished = run_until(
      [this] { return std::ranges::all_of(nodes_, [](auto& node) { return node->registers().idle(); }); },
      register_cycles);
  if (!finished && !findings().any()) findings_.add(0, cycle_, "registers do not answer");
}

}  // namespace weft::tb
