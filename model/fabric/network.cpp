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

Network::Node::Node(uint32_t its_number, uint32_t nodes, uint64_t seed)
    : number(its_number),
      fate(seed, its_number),
      bit_errors(seed, bit_error_streams + its_number),
      cut(nodes),
      next_handle(its_number) {}

Network::Network(uint32_t nodes, const Faults& faults, uint64_t seed)
    : faults_(checked(faults)), mail_(nodes + 1, nodes) {
  check_positive("nodes", nodes);
  nodes_.reserve(nodes);
  for (uint32_t node = 0; node < nodes; ++node) nodes_.emplace_back(node, nodes, seed);
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
  nodes_[from].cut[to] = cut;
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
    copy(node, group->second[from], flight, fate, packet);
    return fate;
  }
  if (to >= nodes()) {
    node.counters.misrouted++;
    return {.lost = true};
  }
  const bool cut = node.cut[to];
  Fate fate{lost || cut, duplicated && !cut};
  if (fate.duplicated) {
    node.counters.duplicated++;
    fly(node, to, now_ + flight + lag, packet);
  }
  if (node.flows.size() >= node.sweep_at) {
    forget_quiet_flows(node);
    node.sweep_at = std::max<std::size_t>(64, 2 * node.flows.size());
  }
  Flow& flow = node.flows[{to, flow_number}];
  if (fate.lost) {
    (cut ? node.counters.cut_off : node.counters.lost)++;
    pass_held(node, flow);
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
    fly(node, to, now_ + flight + held_for, std::move(packet));
    return fate;
  }
  if (held) {
    const uint64_t deadline = now_ + faults_.hold_limit;
    flow.held.push_back({to, held_for, now_ + flight, deadline, std::move(packet)});
    node.next_deadline = std::min(node.next_deadline, deadline);
    return fate;
  }
  fly_in_order(node, flow, to, now_ + flight, std::move(packet));
  pass_held(node, flow);
  return fate;
}

void Network::copy(Node& node, const Distances& clocks, uint64_t flight, Fate fate, const Bytes& packet) {
  NetworkCounters& counters = node.counters;
  if (fate.lost) {
    counters.lost++;
    return;
  }
  counters.corrupted += fate.corrupted ? 1 : 0;
  uint64_t copies = 0;
  for (uint32_t to = 0; to < clocks.size(); ++to) {
    if (to == node.number || !clocks[to]) continue;
    fly(node, to, now_ + flight + *clocks[to], packet, false, true);
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

void Network::fly(Node& node, uint32_t to, uint64_t due, Bytes packet, bool overdue, bool is_copy) {
  node.flying.push({due, now_, overdue, node.number, node.flown++, to, is_copy, std::move(packet)});
}

void Network::fly_in_order(Node& node, Flow& flow, uint32_t to, uint64_t due, Bytes packet, bool overdue) {
  flow.last_due = std::max(flow.last_due, due);
  fly(node, to, flow.last_due, std::move(packet), overdue);
}

void Network::pass_held(Node& node, Flow& flow) {
  for (Held& held : flow.held) held.still_to_pass--;
  release_passed(node, flow, false);
}

/// A packet that is let go passes the older ones that stay, which may let these go too: so always the oldest
/// goes first.
void Network::release_passed(Node& node, Flow& flow, bool overdue) {
  const auto passed = [](const Held& held) { return held.still_to_pass == 0; };
  const uint64_t soonest = now_ + (overdue ? 2 : 1);
  for (auto& held = flow.held;;) {
    const auto next = std::find_if(held.begin(), held.end(), passed);
    if (next == held.end()) return;
    for (auto older = held.begin(); older != next; ++older) older->still_to_pass--;
    fly_in_order(node, flow, next->to, std::max(next->earliest, soonest), std::move(next->packet), overdue);
    held.erase(next);
  }
}

// The end of a clock of a part

void Network::step(const Part& part) {
  for (uint32_t node = part.first; node < part.behind; ++node) collect(nodes_[node]);
  if (torus_) torus_->step(part.first, part.behind);
  for (uint32_t number = part.first; number < part.behind; ++number) {
    Node& node = nodes_[number];
    if (torus_) tell_lost(node, part.number);
    release_overdue(node);
    let_out(node, part.number);
  }
}

/// Those whose time is over in the next clock.
void Network::release_overdue(Node& node) {
  if (now_ + 1 < node.next_deadline) return;
  // In the order of the keys, which does not depend on the hash map.
  std::vector<std::pair<FlowKey, Flow*>> overdue;
  for (auto& [key, flow] : node.flows) {
    bool any = false;
    for (Held& held : flow.held) {
      if (held.deadline > now_ + 1) continue;
      held.still_to_pass = 0;
      any = true;
    }
    if (any) overdue.emplace_back(key, &flow);
  }
  std::ranges::sort(overdue, {}, [](const auto& each) { return std::pair(each.first.to, each.first.flow); });
  for (auto& [key, flow] : overdue) release_passed(node, *flow, true);

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

/// What is due in the next clock.
void Network::let_out(Node& node, uint32_t part) {
  while (!node.flying.empty() && node.flying.top().due <= now_ + 1) {
    // top() is const only to protect the heap order, which the packet's bytes do not take part in.
    auto& flying = const_cast<Flying&>(node.flying.top());
    if (torus_ && !flying.is_copy) {
      enter_routers(node, part, flying);
    } else {
      const uint32_t to = carrier_ && !flying.is_copy ? nodes() : flying.to;
      mail_.post(part, to, {Message::Kind::arrives, 0, std::move(flying)});
    }
    node.flying.pop();
  }
}

/// The bytes are long with the receiver when the flits come. Handles of a node are those that, divided by the
/// number of nodes, leave its number.
void Network::enter_routers(Node& node, uint32_t part, Flying& flying) {
  const uint32_t handle = node.next_handle;
  const bool is_last = handle > std::numeric_limits<uint32_t>::max() - nodes();
  node.next_handle = is_last ? node.number : handle + nodes();
  const auto flits =
      std::max<size_t>(1, (flying.packet.size() + routers_->flit_bytes - 1) / routers_->flit_bytes);
  const uint32_t to = flying.to;
  torus_->send(node.number, to, static_cast<uint32_t>(flits), handle);
  mail_.post(part, to, {Message::Kind::enters_routers, handle, std::move(flying)});
}

void Network::tell_lost(Node& node, uint32_t part) {
  for (const Flit& flit : torus_->lost(node.number)) {
    node.counters.lost++;
    mail_.post(part, flit.to, {Message::Kind::vanishes, flit.handle, {}});
  }
}

// Between two clocks

void Network::advance() {
  if (torus_) torus_->advance();
  if (carrier_) step_carrier();
  mail_.advance();
  ++now_;
  if (carrier_) enter_carrier();
}

void Network::step_carrier() {
  carrier_->step();
  for (const Carrier::Arrival& arrival : carrier_->arrived())
    nodes_[arrival.node].arrived.push_back(in_carrier_.take(arrival.handle));
  for (const uint32_t handle : carrier_->lost()) {
    in_carrier_.take(handle);
    lost_in_carrier_++;
  }
}

void Network::enter_carrier() {
  mail_.take(nodes(), [&](Message& message) { entering_carrier_.push_back(std::move(message.flying)); });
  std::ranges::sort(entering_carrier_, {}, &Flying::order);
  for (Flying& flying : entering_carrier_) {
    const uint32_t handle = next_carrier_handle_++;
    carrier_->send(flying.from, flying.to, handle);
    in_carrier_.put(handle, std::move(flying.packet));
  }
  entering_carrier_.clear();
}

// The begin of a clock of a node

/// What has come since the last clock. Its first receive() does it, or step().
void Network::collect(Node& node) {
  if (node.collected == now_) return;
  node.collected = now_;
  if (torus_) {
    if (const auto handle = torus_->arrived(node.number))
      node.arrived.push_back(node.in_routers.take(*handle));
  }
  mail_.take(node.number, [&](Message& message) { take(node, message); });
  std::ranges::sort(node.arriving, {}, &Flying::order);
  for (Flying& flying : node.arriving) node.arrived.push_back(std::move(flying.packet));
  node.arriving.clear();
}

void Network::take(Node& node, Message& message) {
  switch (message.kind) {
    case Message::Kind::arrives:
      node.arriving.push_back(std::move(message.flying));
      break;
    case Message::Kind::enters_routers:
      node.in_routers.put(message.handle, std::move(message.flying.packet));
      break;
    case Message::Kind::vanishes:
      node.in_routers.take(message.handle);
      break;
  }
}

std::optional<Bytes> Network::receive(uint32_t number) {
  Node& node = nodes_.at(number);
  collect(node);
  if (node.arrived.empty()) return std::nullopt;
  Bytes packet = std::move(node.arrived.front());
  node.arrived.pop_front();
  node.counters.delivered++;
  return packet;
}

// All nodes together

/// By what is counted, as no part knows what others have.
uint64_t Network::under_way() const {
  const NetworkCounters sum = counters();
  return sum.sent + sum.duplicated + sum.copied - sum.lost - sum.cut_off - sum.misrouted - sum.delivered -
         flushed_;
}

NetworkCounters Network::counters() const {
  NetworkCounters sum;
  sum.lost = lost_in_carrier_;
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
  flushed_ += under_way();
  for (Node& node : nodes_) {
    node.flows.clear();
    node.next_deadline = never;
    node.flying = {};
    node.in_routers.clear();
    node.arrived.clear();
  }
  mail_.clear();
  if (torus_) torus_->flush();
  if (carrier_) carrier_->flush();
  in_carrier_.clear();
}

}  // namespace weft::fabric
