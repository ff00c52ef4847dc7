// SPDX-License-Identifier: Apache-2.0
// Cycle-based model of a two-dimensional fat tree.
#include "switchfabric/switch_fabric.hpp"

#include <algorithm>

namespace weft::switchfabric {

using route::Dimension;
using route::Leaf;
using route::Outcome;

// Inputs, and switches, are numbered: leaves, row switches by line and plane, column switches likewise. Ports
// of a leaf: hosts, planes of its row, planes of its column.
SwitchFabric::SwitchFabric(const route::Tables& tables, const route::Health& alive, const Config& config)
    : grid_(alive.grid()),
      alive_(alive),
      walker_(tables, alive),
      config_(config),
      vcs_(tables.options().channels),
      hosts_(std::size_t{grid_.leaves()} * grid_.hosts),
      events_(std::max(config.switch_clocks, config.end_clocks) + 1),
      credits_(config.switch_clocks + 1),
      random_(config.seed) {
  Switch sw;
  sw.leaf = true;
  sw.ports = grid_.hosts + 2 * config.planes;
  for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf) {
    sw.place = grid_.leaf(leaf);
    add_switch(sw);
  }
  sw.leaf = false;
  for (const Dimension dimension : {Dimension::row, Dimension::column}) {
    sw.dimension = dimension;
    sw.ports = grid_.ports(dimension);
    for (sw.line = 0; sw.line < grid_.lines(dimension); ++sw.line)
      for (uint32_t plane = 0; plane < config.planes; ++plane) add_switch(sw);
  }
}

void SwitchFabric::add_switch(const Switch& sw) {
  switches_.push_back(sw);
  switches_.back().first = static_cast<uint32_t>(inputs_.size());
  Input input;
  input.queues.resize(vcs_);
  input.credits.assign(vcs_, config_.buffer);
  inputs_.insert(inputs_.end(), sw.ports, input);
  switch_of_.insert(switch_of_.end(), sw.ports, static_cast<uint32_t>(switches_.size() - 1));
  taken_.resize(std::max<std::size_t>(taken_.size(), sw.ports), 0);
}

uint32_t SwitchFabric::leaf_input(Leaf leaf, uint32_t port) const {
  return grid_.number(leaf) * (grid_.hosts + 2 * config_.planes) + port;
}

uint32_t SwitchFabric::root_input(Dimension dimension, uint32_t line, uint32_t plane, uint32_t port) const {
  const uint32_t before = dimension == Dimension::row ? 0 : grid_.rows * config_.planes;
  return switches_[grid_.leaves() + before + line * config_.planes + plane].first + port;
}

/// The input that an output leads to; no_input: a host.
uint32_t SwitchFabric::behind(const Switch& sw, uint32_t output) const {
  if (sw.leaf) {
    if (output < grid_.hosts) return no_input;
    const uint32_t up = output - grid_.hosts;
    const Dimension dimension = up < config_.planes ? Dimension::row : Dimension::column;
    return root_input(dimension, sw.place.line(dimension), up % config_.planes, sw.place.port(dimension));
  }
  const auto number = static_cast<uint32_t>(&sw - switches_.data()) - grid_.leaves();
  const uint32_t plane = number % config_.planes;
  const uint32_t above = grid_.hosts + (sw.dimension == Dimension::row ? 0 : config_.planes) + plane;
  return leaf_input(leaf_at(sw.dimension, sw.line, output), above);
}

void SwitchFabric::send(uint32_t from, uint32_t to) { hosts_[from].push_back({from, to, now_}); }

route::Decision SwitchFabric::decide(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to) const {
  const Leaf leaf = leaf_of(to);
  if (!sw.leaf) return walker_.at_root(sw.dimension, leaf_at(sw.dimension, sw.line, port), vc, leaf);
  if (port < grid_.hosts) return walker_.at_leaf(sw.place, std::nullopt, vc, leaf);
  return walker_.at_leaf(sw.place, port < grid_.hosts + config_.planes ? Dimension::row : Dimension::column,
                         vc, leaf);
}

uint32_t SwitchFabric::draw_output(const Switch& sw, const route::Decision& decision, uint32_t to) {
  if (decision.deliver) return to % grid_.hosts;
  if (sw.leaf) {
    const uint32_t first = grid_.hosts + (*decision.up == Dimension::row ? 0 : config_.planes);
    return first + static_cast<uint32_t>(random_.below(config_.planes));
  }
  const auto count = decision.ports.count();
  auto skip = count > 1 ? random_.below(count) : 0;
  for (uint32_t port = 0;; ++port)
    if (decision.ports[port] && skip-- == 0) return port;
}

/// Looked up on arrival, with what is alive then.
void SwitchFabric::arrive(const Event& event) {
  if (event.input == no_input) {
    --under_way_;
    delivered_.push_back({event.packet.from, event.packet.to, event.packet.sent, now_});
    return;
  }
  Switch& sw = switches_[switch_of_[event.input]];
  const route::Decision decision = decide(sw, event.input - sw.first, event.vc, event.packet.to);
  if (decision.outcome != Outcome::forward) {
    --under_way_;
    ++drops_[static_cast<std::size_t>(decision.outcome)];
    credits_[(now_ + config_.switch_clocks) % credits_.size()].push_back({event.input, event.vc});
    return;
  }
  ++sw.waiting;
  inputs_[event.input].queues[event.vc].push_back(
      {event.packet, draw_output(sw, decision, event.packet.to), decision.vc});
}

void SwitchFabric::inject() {
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].empty()) continue;
    const uint32_t input = leaf_input(leaf_of(host), host % grid_.hosts);
    if (inputs_[input].credits[0] == 0) continue;
    --inputs_[input].credits[0];
    ++under_way_;
    schedule(config_.end_clocks, {hosts_[host].front(), input, 0});
    hosts_[host].pop_front();
  }
}

bool SwitchFabric::try_send(Switch& sw, uint32_t port, std::vector<uint64_t>& taken) {
  Input& input = inputs_[sw.first + port];
  for (uint32_t i = 0; i < vcs_; ++i) {
    const auto vc = static_cast<uint8_t>((input.next_vc + i) % vcs_);
    if (input.queues[vc].empty()) continue;
    const Queued& head = input.queues[vc].front();
    const uint32_t next = behind(sw, head.output);
    if (taken[head.output] == now_ || (next != no_input && inputs_[next].credits[head.vc] == 0)) continue;
    taken[head.output] = now_;
    if (next != no_input) --inputs_[next].credits[head.vc];
    schedule(config_.switch_clocks, {head.packet, next, head.vc});
    input.queues[vc].pop_front();
    input.next_vc = (vc + 1u) % vcs_;
    credits_[(now_ + config_.switch_clocks) % credits_.size()].push_back({sw.first + port, vc});
    --sw.waiting;
    return true;
  }
  return false;
}

/// Inputs in turn, each clock from another one on; each sends what first finds its output free.
void SwitchFabric::serve(Switch& sw) {
  std::fill_n(taken_.begin(), sw.ports, ~uint64_t{0});
  const auto start = static_cast<uint32_t>(now_ % sw.ports);
  for (uint32_t i = 0; i < sw.ports && sw.waiting > 0; ++i) try_send(sw, (start + i) % sw.ports, taken_);
}

void SwitchFabric::step() {
  delivered_.clear();
  auto& credits = credits_[now_ % credits_.size()];
  for (const Credit& credit : credits) ++inputs_[credit.input].credits[credit.vc];
  credits.clear();
  auto& events = events_[now_ % events_.size()];
  for (const Event& event : events) arrive(event);
  events.clear();
  inject();
  for (Switch& sw : switches_)
    if (sw.waiting > 0) serve(sw);
  ++now_;
}

}  // namespace weft::switchfabric
