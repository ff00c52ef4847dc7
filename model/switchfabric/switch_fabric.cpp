// SPDX-License-Identifier: Apache-2.0
// Cycle-based model of a two-dimensional fat tree.
#include "switchfabric/switch_fabric.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::switchfabric {

using route::Dimension;
using route::Leaf;
using route::Outcome;

namespace {

constexpr std::size_t ahead = 8;       // arrivals for which the processor's cache is told
constexpr uint64_t first_stream = 16;  // of random numbers, by input; traffic and manager have those before
constexpr uint32_t stages = 4;         // turns: looked up, given a channel, given the crossbar, through it

}  // namespace

// Inputs, and switches, are numbered: leaves, then roots, each by plane. Ports of a leaf: hosts, planes of
// its row, planes of its column.
SwitchFabric::SwitchFabric(const route::Tables& tables, const route::Health& alive, const Config& config,
                           const MakeUnit& unit)
    : grid_(alive.grid()),
      alive_(alive),
      config_(config),
      vcs_(tables.options().channels),
      pipeline_clocks_((stages - 1) / config.speedup),
      host_credits_(std::size_t{grid_.leaves()} * grid_.hosts, config.buffer),
      hosts_(host_credits_.size()),
      events_(std::max(config.switch_clocks + config.buffer * vcs_, config.end_clocks) + 2),
      credits_(config.credit_clocks + 1) {
  if (config.switch_clocks <= pipeline_clocks_) throw Fault("a switch takes more clocks than its pipeline");
  if (grid_.trees() && config.planes != 1) throw Fault("planes are of row and column switches, not of trees");
  add_tables(tables);
  Switch sw;
  sw.leaf = true;
  sw.ports = grid_.hosts + 2 * config.planes;
  for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf) {
    sw.place = grid_.leaf(leaf);
    add_switch(sw);
  }
  sw.leaf = false;
  for (uint32_t root = 0; root < grid_.roots(); ++root) {
    sw.root = grid_.root(root);
    sw.ports = grid_.root_ports(sw.root);
    for (uint32_t plane = 0; plane < config.planes; ++plane) add_switch(sw);
  }
  connect();
  if (unit) make_units(unit);
}

void SwitchFabric::make_units(const MakeUnit& unit) {
  units_.resize(switches_.size());
  images_.push_back(route::switch_images(hops_.front().tables()));
  for (uint32_t sw = 0; sw < units_.size(); ++sw) {
    units_[sw] = unit(sw, images_.front()[image_of(sw)].sizes);
    if (units_[sw]) units_[sw]->load(images_.front()[image_of(sw)].image);
  }
  see_what_is_alive();
}

void SwitchFabric::add_switch(const Switch& sw) {
  switches_.push_back(sw);
  switches_.back().first = static_cast<uint32_t>(switch_of_.size());
  switch_of_.insert(switch_of_.end(), sw.ports, static_cast<uint32_t>(switches_.size() - 1));
}

/// Once all switches are there.
void SwitchFabric::connect() {
  const std::size_t inputs = switch_of_.size(), lanes = inputs * vcs_;
  for (uint32_t input = 0; input < inputs; ++input)
    ports_.push_back({.random = RandomStream(config_.seed, first_stream + input)});
  lanes_.resize(lanes);
  for (uint32_t number = 0; number < lanes; ++number) {
    lanes_[number].input = number / vcs_;
    lanes_[number].vc = static_cast<uint8_t>(number % vcs_);
  }
  output_lanes_.assign(lanes, {nobody, config_.buffer, 0});
  for (const Switch& sw : switches_)
    for (uint32_t output = 0; output < sw.ports; ++output) {
      const uint32_t next = behind(sw, output);
      ports_[sw.first + output].next = next;
      for (uint32_t vc = 0; vc < vcs_ && next != no_input; ++vc)
        lanes_[next * vcs_ + vc].feeder = (sw.first + output) * vcs_ + vc;
    }
  for (uint32_t host = 0; host < hosts_.size(); ++host)
    for (uint32_t vc = 0; vc < vcs_; ++vc)
      lanes_[input_of(host) * vcs_ + vc].feeder = static_cast<uint32_t>(lanes) + host;
  lane_grants_.resize(lanes);
  port_grants_.resize(inputs);
  accepts_.resize(inputs);
}

uint32_t SwitchFabric::leaf_input(Leaf leaf, uint32_t port) const {
  return grid_.number(leaf) * (grid_.hosts + 2 * config_.planes) + port;
}

uint32_t SwitchFabric::root_input(const route::RootPort& at, uint32_t plane) const {
  return switches_[grid_.leaves() + grid_.number(at.root) * config_.planes + plane].first + at.port;
}

/// The input that an output leads to; no_input: a host.
uint32_t SwitchFabric::behind(const Switch& sw, uint32_t output) const {
  if (sw.leaf) {
    if (output < grid_.hosts) return no_input;
    const uint32_t up = output - grid_.hosts;
    const Dimension dimension = up < config_.planes ? Dimension::row : Dimension::column;
    return root_input(end_of(grid_, {sw.place, dimension, false, 0}), up % config_.planes);
  }
  const auto number = static_cast<uint32_t>(&sw - switches_.data()) - grid_.leaves();
  const uint32_t plane = number % config_.planes;
  const route::Channel channel = channel_out(grid_, {sw.root, output}, 0);
  if (!channel.at_leaf()) return root_input(end_of(grid_, channel), plane);
  const uint32_t above = grid_.hosts + (sw.root.dimension == Dimension::row ? 0 : config_.planes) + plane;
  return leaf_input(channel.leaf, above);
}

std::pair<uint32_t, uint32_t> SwitchFabric::switches_of(uint32_t image) const {
  if (image < grid_.leaves()) return {image, 1};
  return {grid_.leaves() + (image - grid_.leaves()) * config_.planes, config_.planes};
}

uint32_t SwitchFabric::image_of(uint32_t sw) const {
  return sw < grid_.leaves() ? sw : grid_.leaves() + (sw - grid_.leaves()) / config_.planes;
}

/// As its image numbers them: all planes above a leaf are one port.
switch_lookup::Ports SwitchFabric::live_ports(const Switch& sw) const {
  using switch_lookup::port_bit;
  switch_lookup::Ports alive = 0;
  if (sw.leaf) {
    for (uint32_t host = 0; host < grid_.hosts; ++host) alive |= port_bit(host + 1);
    if (alive_.attached(sw.place, Dimension::row)) alive |= port_bit(grid_.hosts + 1);
    if (alive_.attached(sw.place, Dimension::column)) alive |= port_bit(grid_.hosts + 2);
    return alive;
  }
  return alive_.ports(sw.root).to_ullong();
}

void SwitchFabric::see_what_is_alive() {
  for (uint32_t sw = 0; sw < units_.size(); ++sw)
    if (units_[sw]) units_[sw]->set_alive(live_ports(switches_[sw]));
}

void SwitchFabric::rewrite(uint32_t sw, uint32_t tables) {
  switches_[sw].tables = tables;
  if (!units_.empty() && units_[sw]) units_[sw]->load(images_[tables][image_of(sw)].image);
}

uint32_t SwitchFabric::add_tables(const route::Tables& tables) {
  if (!units_.empty()) images_.push_back(route::switch_images(tables));
  hops_.emplace_back(tables, alive_);
  return static_cast<uint32_t>(hops_.size() - 1);
}

void SwitchFabric::lose(const Packet& packet, std::optional<Outcome> why) {
  --under_way_;
  lost_.push_back({packet, why});
}

/// The switch is alive, and so is what the output leads to.
bool SwitchFabric::works(uint32_t output) const {
  const uint32_t next = ports_[output].next;
  const Switch& sw = switches_[switch_of_[output]];
  if (next == no_input) return alive_.alive(sw.place);
  if (sw.leaf) return alive_.attached(sw.place, switches_[switch_of_[next]].root.dimension);
  return alive_.ports(sw.root)[output - sw.first];
}

bool SwitchFabric::arrives(const Event& event) const {
  if (event.from != nobody) return works(event.from / vcs_);
  return alive_.alive(switches_[switch_of_[event.input]].place);
}

/// What is in this lane for outputs that do not work.
void SwitchFabric::lose_queued(Switch& sw, uint32_t number) {
  Lane& lane = lanes_[number];
  const bool first_stays = works(lane.output);
  const uint32_t before = lane.count;
  for (uint32_t i = 0; i < before; ++i) {
    const Queued first = slots_[lane.head];
    remove_first(sw, lane);
    if (works(sw.first + first.port)) {
      append(sw, lane, first);
    } else {
      lose(first.packet, std::nullopt);
      return_credit(lane.feeder);
    }
  }
  if (first_stays) return;
  if (lane.output_lane != nobody) {
    output_lanes_[lane.output_lane].owner = nobody;
    lane.output_lane = nobody;
    std::erase(sw.holding, number);
    sw.asking.push_back(number);
  }
  lane.routed = turn_ + 1;
  if (lane.count == 0) std::erase(sw.asking, number);
}

void SwitchFabric::strike(const route::Health& alive) {
  if (!struck_) lost_.clear();
  struck_ = true;
  alive_ = alive;
  std::vector<Hops> hops;
  for (const Hops& before : hops_) hops.emplace_back(before.tables(), alive_);
  hops_ = std::move(hops);
  see_what_is_alive();
  for (std::vector<Event>& events : events_) {
    for (const Event& event : events)
      if (!arrives(event)) lose(event.packet, std::nullopt);
    std::erase_if(events, [this](const Event& event) { return !arrives(event); });
  }
  for (Switch& sw : switches_)
    for (const auto& numbers : {std::vector(sw.asking), std::vector(sw.holding)})
      for (const uint32_t number : numbers) lose_queued(sw, number);
  for (uint32_t host = 0; host < hosts_.size(); ++host)
    if (!alive_.alive(leaf_of(host))) hosts_[host].clear();
}

uint64_t SwitchFabric::waiting() const {
  uint64_t packets = 0;
  for (const auto& host : hosts_) packets += host.size();
  return packets;
}

/// The full lane that this full lane's first packet waits for; nobody: some day it moves.
uint32_t SwitchFabric::waits_for(uint32_t number) const {
  if (lanes_[number].count < config_.buffer) return nobody;
  const uint32_t next = ports_[lanes_[number].output].next;
  if (next == no_input) return nobody;
  const uint32_t behind = next * vcs_ + lanes_[number].output_vc;
  return lanes_[behind].count < config_.buffer ? nobody : behind;
}

route::Channel SwitchFabric::channel_of(uint32_t number) const {
  const uint32_t input = lanes_[number].input;
  const Switch& sw = switches_[switch_of_[input]];
  const auto vc = static_cast<uint8_t>(lanes_[number].vc);
  const uint32_t port = input - sw.first;
  if (!sw.leaf) return channel_in(grid_, {sw.root, port}, vc);
  const bool row = port < grid_.hosts + config_.planes;
  return {sw.place, row ? Dimension::row : Dimension::column, true, vc};
}

std::vector<route::Channel> SwitchFabric::deadlock() const {
  std::vector<uint32_t> walk_of(lanes_.size(), 0);  // that came by here first
  for (uint32_t start = 0; start < lanes_.size(); ++start) {
    uint32_t at = start;
    while (at != nobody && walk_of[at] == 0) {
      walk_of[at] = start + 1;
      at = waits_for(at);
    }
    if (at == nobody || walk_of[at] != start + 1) continue;
    std::vector<route::Channel> ring;
    const uint32_t first = at;
    do {
      ring.push_back(channel_of(at));
      at = waits_for(at);
    } while (at != first);
    return ring;
  }
  return {};
}

void SwitchFabric::send(uint32_t from, uint32_t to) { hosts_[from].push_back({from, to, now_}); }

Hop SwitchFabric::hop(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to) {
  Hops& hops = hops_[sw.tables];
  if (!sw.leaf) return hops.at_root({sw.root, port}, vc, to);
  if (port < grid_.hosts) return hops.at_leaf(sw.place, std::nullopt, vc, to);
  return hops.at_leaf(sw.place, port < grid_.hosts + config_.planes ? Dimension::row : Dimension::column, vc,
                      to);
}

uint32_t SwitchFabric::draw_port(uint32_t input, const route::PortSet& ports) {
  auto skip = ports_[input].random.below(ports.count());
  for (uint32_t port = 0;; ++port)
    if (ports[port] && skip-- == 0) return port;
}

/// Output of a leaf.
uint32_t SwitchFabric::draw_plane(uint32_t input, Dimension up) {
  const uint32_t first = grid_.hosts + (up == Dimension::row ? 0 : config_.planes);
  return first + static_cast<uint32_t>(ports_[input].random.below(config_.planes));
}

SwitchFabric::Way SwitchFabric::ask_unit(LookupUnit& unit, const Switch& sw, uint32_t port, uint8_t vc,
                                         uint32_t to) {
  const Leaf leaf = leaf_of(to);
  const bool up = sw.leaf && port >= grid_.hosts;
  switch_lookup::formats::Request request;
  request.kind = static_cast<uint8_t>(switch_lookup::formats::Kind::unicast);
  request.vc = vc;
  request.in_port =
      static_cast<uint8_t>(1 + (up ? grid_.hosts + (port - grid_.hosts) / config_.planes : port));
  request.row = static_cast<uint16_t>(leaf.y);
  request.column = static_cast<uint16_t>(leaf.x);
  request.host = static_cast<uint8_t>(1 + to % grid_.hosts);
  const switch_lookup::Result result = unit.look(request);
  ++lookups_;
  if (result.outcome != Outcome::forward) return {result.outcome, 0, 0};
  const auto output = static_cast<uint32_t>(std::countr_zero(result.ports));
  if (!sw.leaf || output < grid_.hosts) return {Outcome::forward, output, result.vc};
  return {Outcome::forward,
          draw_plane(sw.first + port, output == grid_.hosts ? Dimension::row : Dimension::column), result.vc};
}

SwitchFabric::Way SwitchFabric::look_up(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to) {
  const auto number = static_cast<std::size_t>(&sw - switches_.data());
  if (!units_.empty() && units_[number]) return ask_unit(*units_[number], sw, port, vc, to);
  const Hop next = hop(sw, port, vc, to / grid_.hosts);
  const auto out = static_cast<uint8_t>(next.vc);
  switch (next.way) {
    case Hop::Way::host:
      return {Outcome::forward, to % grid_.hosts, out};
    case Hop::Way::row:
      return {Outcome::forward, draw_plane(sw.first + port, Dimension::row), out};
    case Hop::Way::column:
      return {Outcome::forward, draw_plane(sw.first + port, Dimension::column), out};
    case Hop::Way::port:
      return {Outcome::forward, next.port, out};
    case Hop::Way::several:
      return {Outcome::forward,
              draw_port(sw.first + port,
                        hops_[sw.tables].rules().at_root({sw.root, port}, vc, leaf_of(to)).ports),
              out};
    case Hop::Way::unknown:
    case Hop::Way::dropped:
      break;
  }
  return {static_cast<Outcome>(next.outcome), 0, 0};
}

/// Looked up on arrival, with what is alive then.
void SwitchFabric::arrive(const Event& event) {
  if (event.input == no_input) {
    --under_way_;
    return_credit(event.from);
    delivered_.push_back({event.packet, now_, event.switches});
    return;
  }
  Switch& sw = switches_[switch_of_[event.input]];
  const Way way = look_up(sw, event.input - sw.first, event.vc, event.packet.to);
  if (way.outcome != Outcome::forward) {
    lose(event.packet, way.outcome);
    return_credit(lanes_[event.input * vcs_ + event.vc].feeder);
    return;
  }
  const uint32_t number = event.input * vcs_ + event.vc;
  Lane& lane = lanes_[number];
  if (lane.count == 0) {
    sw.asking.push_back(number);
    lane.routed = turn_ + 1;
  }
  append(sw, lane,
         {event.packet, nobody, static_cast<uint16_t>(way.output), way.vc,
          static_cast<uint8_t>(std::min(event.switches + 1, 255))});
}

uint32_t SwitchFabric::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<uint32_t>(slots_.size() - 1);
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void SwitchFabric::append(const Switch& sw, Lane& lane, const Queued& packet) {
  const uint32_t slot = take_slot();
  slots_[slot] = packet;
  if (lane.count++ > 0) {
    slots_[lane.tail].behind = slot;
  } else {
    lane.head = slot;
    see_first(sw, lane);
  }
  lane.tail = slot;
}

void SwitchFabric::remove_first(const Switch& sw, Lane& lane) {
  const uint32_t slot = lane.head;
  lane.head = slots_[slot].behind;
  free_slots_.push_back(slot);
  if (--lane.count > 0) see_first(sw, lane);
}

void SwitchFabric::inject() {
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].empty() || host_credits_[host] == 0) continue;
    --host_credits_[host];
    ++under_way_;
    schedule(config_.end_clocks, {hosts_[host].front(), input_of(host), 0, 0, nobody});
    hosts_[host].pop_front();
  }
}

void SwitchFabric::step() {
  delivered_.clear();
  if (!struck_) lost_.clear();
  struck_ = false;
  auto& credits = credits_[now_ % credits_.size()];
  for (const uint32_t credit : credits) {
    if (credit < output_lanes_.size())
      ++output_lanes_[credit].credits;
    else
      ++host_credits_[credit - output_lanes_.size()];
  }
  credits.clear();
  auto& events = events_[now_ % events_.size()];
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + ahead < events.size()) fetch(events[i + ahead]);
    arrive(events[i]);
  }
  events.clear();
  inject();
  const uint64_t first = turn_, end = turn_ + config_.speedup;
  for (Switch& sw : switches_)  // what passes is elsewhere in a later clock only
    if (sw.busy())
      for (turn_ = first; turn_ < end; ++turn_) turn(sw);
  turn_ = end;
  ++now_;
}

}  // namespace weft::switchfabric
