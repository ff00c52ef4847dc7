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

}  // namespace

RdmaSystem::RdmaSystem(const SystemConfig& config)
    : numbers_(config.numbers), context_(config.seed), network_(config.nodes, config.faults, config.seed) {
  if (!config.waves.empty()) {
    waves_ = make_wave_file();
    context_.verilated().traceEverOn(true);
  }
  NodeConfig node = config.node;
  node.seed = config.seed;
  for (uint32_t index = 0; index < config.nodes; ++index) {
    nodes_.push_back(
        std::make_unique<RdmaNode>(index, node, context_, findings_,
                                   [this, index](Bytes packet) { forward(index, std::move(packet)); }));
  }
  if (waves_) {
    for (auto& each : nodes_) each->model().attach(*waves_);
    waves_->open(config.waves);
  }
  if (const auto folder = trace::next_folder()) {
    for (auto& each : nodes_) each->scoreboard().write_traces(*folder, false);
  }
  reset();
}

RdmaSystem::~RdmaSystem() {
  for (auto& each : nodes_) each->scoreboard().close_traces();
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
  if (tamper_) tamper_(packet);
  const auto header =
      formats::unpack(std::span<const uint8_t, rdma::flit_bytes>(packet.data(), rdma::flit_bytes));
  network_.send(from, index_of(header.dst), flow_of(header), std::move(packet));
}

void RdmaSystem::dump_waves(uint64_t time) {
  if (waves_) waves_->dump(time);
}

void RdmaSystem::step() {
  for (auto& node : nodes_) node->settle(cycle_);
  dump_waves(2 * cycle_);
  for (auto& node : nodes_) node->edge();
  dump_waves(2 * cycle_ + 1);
  network_.tick();
  for (auto& node : nodes_) {
    while (auto packet = network_.receive(node->index())) node->receive(*packet);
  }
  context_.advance();
  if (context_.failed() && !assertion_told_) {
    assertion_told_ = true;
    findings_.add(0, cycle_, "an assertion in the RTL failed (its message is above)");
  }
  cycle_++;
}

bool RdmaSystem::run_until(const std::function<bool()>& done, uint64_t max_cycles) {
  const uint64_t limit = cycle_ + max_cycles;
  while (!done()) {
    if (cycle_ >= limit || stopped()) return false;
    step();
  }
  return true;
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
    node->scoreboard().check_quiet();
    node->memory().check_quiet(node->reporter());
  }
  check_counters();
}

void RdmaSystem::check_counters() {
  for (auto& owner : nodes_) {
    RdmaNode& node = *owner;
    if (node.in_reset()) continue;
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
  if (!finished && !findings_.any()) findings_.add(0, cycle_, "registers do not answer");
}

}  // namespace weft::tb
