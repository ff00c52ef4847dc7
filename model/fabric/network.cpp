// SPDX-License-Identifier: Apache-2.0
// Packet network with faults: every packet's fate is drawn once, when it is sent.
#include "fabric/network.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::fabric {

namespace {
constexpr uint64_t bit_error_streams = 1ull << 32;  // beyond the streams of the fates, however many nodes
constexpr uint64_t routers_stream = 1ull << 31;     // between both

/// Random numbers of routers are not those of the nodes of the same number.
uint64_t routers_seed(uint64_t seed) { return RandomStream(seed, routers_stream).next(); }

void check_probability(const char* name, double value) {
  if (value >= 0 && value <= 1) return;  // false for NaN
  throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) +
                              ", must be a probability from 0 to 1");
}

void check_positive(const char* name, uint32_t value) {
  if (value == 0) throw std::invalid_argument(std::string(name) + " is 0, must be at least 1");
}

const Faults& checked(const Faults& faults) {
  check_probability("loss", faults.loss);
  check_probability("duplicate", faults.duplicate);
  check_probability("corrupt", faults.corrupt);
  check_probability("reorder", faults.reorder);
  check_positive("delay", faults.delay);
  check_positive("duplicate_lag", faults.duplicate_lag);
  if (faults.reorder_degree > 0 && faults.detour > 0) {
    throw std::invalid_argument("packets are held back for a degree or for a detour, not for both");
  }
  return faults;
}

}  // namespace

Network::Network(uint32_t nodes, const Faults& faults, uint64_t seed)
    : faults_(checked(faults)), cut_(uint64_t{nodes} * nodes), seed_(seed) {
  check_positive("nodes", nodes);
  nodes_.reserve(nodes);
  for (uint64_t node = 0; node < nodes; ++node) {
    nodes_.emplace_back(RandomStream(seed, node), RandomStream(seed, bit_error_streams + node));
  }
}

Network::Network(const Routers& routers, const Faults& faults, uint64_t seed)
    : Network(Geometry(routers.torus.sizes, routers.torus.joined).nodes(), faults, seed) {
  check_positive("flit_bytes", routers.flit_bytes);
  routers_ = routers;
  torus_.emplace(routers.torus, routers_seed(seed));
}

Network::Network(std::shared_ptr<Carrier> carrier, const Faults& faults, uint64_t seed)
    : Network(carrier->nodes(), faults, seed) {
  carrier_ = std::move(carrier);
}

void Network::set_faults(const Faults& faults) { faults_ = checked(faults); }

void Network::set_cut(uint32_t from, uint32_t to, bool cut) {
  if (from >= nodes() || to >= nodes()) {
    throw std::invalid_argument("there is no link from node " + std::to_string(from) + " to node " +
                                std::to_string(to));
  }
  cut_[uint64_t{from} * nodes() + to] = cut;
}

void Network::set_multicast(uint32_t address, MulticastClocks clocks) {
  if (address < nodes())
    throw std::invalid_argument("multicast address " + std::to_string(address) + " is that of a node");
  const auto of_all = [this](const Distances& each) { return each.size() == nodes(); };
  if (clocks.size() != nodes() || !std::ranges::all_of(clocks, of_all))
    throw std::invalid_argument("clocks of a multicast group are not by nodes of the network");
  multicast_[address] = std::move(clocks);
}

void Network::set_link_cut(uint32_t node, uint32_t port, bool cut) {
  if (!torus_) throw std::invalid_argument("an ideal network has no links between routers");
  torus_->set_cut(node, port, cut);
}

size_t Network::FlowHash::operator()(const FlowKey& key) const {
  return (uint64_t{key.to} * 0x9e3779b97f4a7c15) ^ (key.flow * 0xc2b2ae3d27d4eb4f);
}

// A packet's fate, when it is sent

Fate Network::send(uint32_t from, uint32_t to, uint64_t flow_number, Bytes packet) {
  Node& node = nodes_.at(from);
  node.counters.sent++;
  // Always the same draws in the same order: a change of one probability leaves the other faults where they
  // were.
  RandomStream& random = node.fate;
  const bool lost = random.chance(faults_.loss);
  const bool duplicated = random.chance(faults_.duplicate);
  const bool corrupted = random.chance(faults_.corrupt);
  const uint32_t farthest = std::max(faults_.reorder_degree, faults_.detour);
  const bool held = random.chance(faults_.reorder) && farthest > 0;
  const auto held_for = static_cast<uint32_t>(1 + random.below(std::max(1u, farthest)));  // packets or cycles
  const uint64_t flight = faults_.delay + random.below(faults_.jitter + 1ull);
  const uint64_t lag = 1 + random.below(faults_.duplicate_lag);
  RandomStream bit_errors(node.bit_errors.next());

  if (const auto group = multicast_.find(to); group != multicast_.end()) {
    const Fate fate{.lost = lost, .corrupted = corrupted && !lost && !packet.empty()};
    if (fate.corrupted) corrupt(packet, bit_errors);
    copy(from, group->second.at(from), flight, fate, packet);
    return fate;
  }
  if (to >= nodes()) {
    node.counters.misrouted++;
    return {.lost = true};
  }
  const bool cut = is_cut(from, to);
  Fate fate{lost || cut, duplicated && !cut};
  if (fate.duplicated) {
    node.counters.duplicated++;
    node.sent.push_back({now_ + flight + lag, 0, from, to, packet});
  }
  if (node.flows.size() >= node.sweep_at) {
    forget_quiet_flows(node);
    node.sweep_at = std::max<std::size_t>(64, 2 * node.flows.size());
  }
  Flow& flow = node.flows[{to, flow_number}];
  if (fate.lost) {
    (cut ? node.counters.cut_off : node.counters.lost)++;
    pass_held(from, flow);
    return fate;
  }
  fate.corrupted = corrupted && !packet.empty();
  fate.held_back = held;
  if (fate.corrupted) {
    node.counters.corrupted++;
    corrupt(packet, bit_errors);
  }
  node.counters.reordered += held;
  if (held && faults_.detour > 0) {
    node.sent.push_back({now_ + flight + held_for, 0, from, to, std::move(packet)});
    return fate;
  }
  if (held) {
    const uint64_t deadline = now_ + faults_.hold_limit;
    flow.held.push_back({to, held_for, now_ + flight, deadline, std::move(packet)});
    node.next_deadline = std::min(node.next_deadline, deadline);
    node.held++;
    return fate;
  }
  fly_in_order(from, flow, to, now_ + flight, std::move(packet));
  pass_held(from, flow);
  return fate;
}

void Network::copy(uint32_t from, const Distances& clocks, uint64_t flight, Fate fate, const Bytes& packet) {
  NetworkCounters& counters = nodes_[from].counters;
  if (fate.lost) {
    counters.lost++;
    return;
  }
  counters.corrupted += fate.corrupted ? 1 : 0;
  uint64_t copies = 0;
  for (uint32_t to = 0; to < clocks.size(); ++to) {
    if (to == from || !clocks[to]) continue;
    nodes_[from].sent.push_back({now_ + flight + *clocks[to], 0, from, to, packet, true});
    ++copies;
  }
  counters.misrouted += copies == 0 ? 1 : 0;
  counters.copied += copies == 0 ? 0 : copies - 1;
}

void Network::corrupt(Bytes& packet, RandomStream& random) {
  const uint64_t bits = packet.size() * 8;
  const uint64_t flips = 1 + random.below(3);
  // Evenly spaced positions from a random start: distinct, so that the flips cannot cancel out.
  const uint64_t start = random.below(bits);
  const uint64_t step = 1 + random.below(bits / 4);
  for (uint64_t i = 0; i < flips; ++i) {
    const uint64_t bit = (start + i * step) % bits;
    packet[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
}

void Network::fly_in_order(uint32_t from, Flow& flow, uint32_t to, uint64_t due, Bytes packet) {
  flow.last_due = std::max(flow.last_due, due);
  nodes_[from].sent.push_back({flow.last_due, 0, from, to, std::move(packet)});
}

void Network::pass_held(uint32_t from, Flow& flow) {
  for (Held& held : flow.held) held.still_to_pass--;
  release_passed(from, flow);
}

/// A packet that is let go passes the older ones that stay, which may let these go too: so always the oldest
/// goes first.
void Network::release_passed(uint32_t from, Flow& flow) {
  const auto passed = [](const Held& held) { return held.still_to_pass == 0; };
  for (auto& held = flow.held;;) {
    const auto next = std::find_if(held.begin(), held.end(), passed);
    if (next == held.end()) return;
    for (auto older = held.begin(); older != next; ++older) older->still_to_pass--;
    nodes_[from].held--;
    fly_in_order(from, flow, next->to, std::max(next->earliest, now_ + 1), std::move(next->packet));
    held.erase(next);
  }
}

// A clock cycle

void Network::release_overdue(uint32_t from) {
  Node& node = nodes_[from];
  // In the order of the keys, which does not depend on the hash map.
  std::vector<std::pair<FlowKey, Flow*>> overdue;
  for (auto& [key, flow] : node.flows) {
    bool any = false;
    for (Held& held : flow.held) {
      if (held.deadline > now_) continue;
      held.still_to_pass = 0;
      any = true;
    }
    if (any) overdue.emplace_back(key, &flow);
  }
  std::ranges::sort(overdue, {}, [](const auto& each) { return std::pair(each.first.to, each.first.flow); });
  for (auto& [key, flow] : overdue) release_passed(from, *flow);

  node.next_deadline = never;
  for (const auto& [key, flow] : node.flows) {
    for (const Held& held : flow.held) node.next_deadline = std::min(node.next_deadline, held.deadline);
  }
  forget_quiet_flows(node);
}

/// What their next packets would meet is as if they were new.
void Network::forget_quiet_flows(Node& node) const {
  std::erase_if(node.flows,
                [&](const auto& entry) { return entry.second.held.empty() && entry.second.last_due < now_; });
}

void Network::take_sent(Node& node) {
  for (Flying& flying : node.sent) {
    flying.order = order_++;
    under_way_.push(std::move(flying));
  }
  node.sent.clear();
}

void Network::advance() {
  for (Node& node : nodes_) take_sent(node);
  now_++;
  for (uint32_t from = 0; from < nodes(); ++from) {
    if (now_ < nodes_[from].next_deadline) continue;
    release_overdue(from);
    take_sent(nodes_[from]);
  }
  if (torus_) {
    for (uint32_t node = 0; node < nodes(); ++node) leave_routers(node);
    torus_->advance();
  }
  if (carrier_) step_carrier();
  while (!under_way_.empty() && under_way_.top().due <= now_) {
    // top() is const only to protect the heap order, which the packet's bytes do not take part in.
    auto& flying = const_cast<Flying&>(under_way_.top());
    if (torus_ && !flying.is_copy) {
      enter_routers(flying);
    } else if (carrier_ && !flying.is_copy) {
      enter_carrier(flying);
    } else {
      arrive(flying.to, std::move(flying.packet));
    }
    under_way_.pop();
  }
}

void Network::arrive(uint32_t node, Bytes packet) { nodes_[node].arrived.push_back(std::move(packet)); }

uint32_t Network::new_handle() {
  if (free_handles_.empty()) {
    free_handles_.push_back(static_cast<uint32_t>(crossing_.size()));
    crossing_.emplace_back();
  }
  const uint32_t handle = free_handles_.back();
  free_handles_.pop_back();
  return handle;
}

void Network::enter_carrier(Flying& flying) {
  const uint32_t handle = new_handle();
  carrier_->send(flying.from, flying.to, handle);
  crossing_[handle] = {flying.from, flying.to, std::move(flying.packet)};
}

void Network::step_carrier() {
  carrier_->step();
  for (const Carrier::Arrival& arrival : carrier_->arrived())
    arrive(arrival.node, take_crossing(arrival.handle).packet);
  for (const uint32_t handle : carrier_->lost()) nodes_[take_crossing(handle).from].counters.lost++;
}

void Network::enter_routers(Flying& flying) {
  const uint32_t handle = new_handle();
  const auto flits =
      std::max<size_t>(1, (flying.packet.size() + routers_->flit_bytes - 1) / routers_->flit_bytes);
  torus_->send(flying.from, flying.to, static_cast<uint32_t>(flits), handle);
  crossing_[handle] = {flying.from, flying.to, std::move(flying.packet)};
}

Network::Crossing Network::take_crossing(uint32_t handle) {
  free_handles_.push_back(handle);
  return std::move(crossing_[handle]);
}

/// What has come out at this node, and what was lost behind its router.
void Network::leave_routers(uint32_t node) {
  if (const auto handle = torus_->arrived(node)) arrive(node, take_crossing(*handle).packet);
  for (const uint32_t handle : torus_->lost(node)) nodes_[take_crossing(handle).from].counters.lost++;
}

std::optional<Bytes> Network::receive(uint32_t number) {
  Node& node = nodes_.at(number);
  if (node.arrived.empty()) return std::nullopt;
  Bytes packet = std::move(node.arrived.front());
  node.arrived.pop_front();
  node.counters.delivered++;
  return packet;
}

bool Network::empty() const {
  const auto is_empty = [](const Node& node) {
    return node.held == 0 && node.sent.empty() && node.arrived.empty();
  };
  return under_way_.empty() && free_handles_.size() == crossing_.size() &&
         std::ranges::all_of(nodes_, is_empty);
}

NetworkCounters Network::counters() const {
  NetworkCounters sum;
  for (const Node& node : nodes_) {
    sum.sent += node.counters.sent;
    sum.lost += node.counters.lost;
    sum.cut_off += node.counters.cut_off;
    sum.duplicated += node.counters.duplicated;
    sum.copied += node.counters.copied;
    sum.corrupted += node.counters.corrupted;
    sum.reordered += node.counters.reordered;
    sum.misrouted += node.counters.misrouted;
    sum.delivered += node.counters.delivered;
  }
  return sum;
}

void Network::flush() {
  under_way_ = {};
  for (Node& node : nodes_) {
    node.flows.clear();
    node.held = 0;
    node.next_deadline = never;
    node.sent.clear();
    node.arrived.clear();
  }
  if (torus_) torus_->flush();
  if (carrier_) carrier_->flush();
  crossing_.clear();
  free_handles_.clear();
}

}  // namespace weft::fabric
