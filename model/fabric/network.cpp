// SPDX-License-Identifier: Apache-2.0
// Packet network with faults: every packet's fate is drawn once, when it is sent.
#include "fabric/network.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace weft::fabric {

namespace {
constexpr uint64_t never = std::numeric_limits<uint64_t>::max();
constexpr uint64_t bit_error_streams = 1ull << 32;  // beyond the streams of the fates, however many nodes

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
  return faults;
}

}  // namespace

Network::Network(uint32_t nodes, const Faults& faults, uint64_t seed)
    : faults_(checked(faults)), arrived_(nodes), cut_(uint64_t{nodes} * nodes), next_deadline_(never) {
  check_positive("nodes", nodes);
  for (uint64_t node = 0; node < nodes; ++node) {
    senders_.push_back({RandomStream(seed, node), RandomStream(seed, bit_error_streams + node)});
  }
}

void Network::set_faults(const Faults& faults) { faults_ = checked(faults); }

void Network::set_cut(uint32_t from, uint32_t to, bool cut) {
  if (from >= arrived_.size() || to >= arrived_.size()) {
    throw std::invalid_argument("there is no link from node " + std::to_string(from) + " to node " +
                                std::to_string(to));
  }
  cut_[from * arrived_.size() + to] = cut;
}

size_t Network::FlowHash::operator()(const FlowKey& key) const {
  const uint64_t ends = (static_cast<uint64_t>(key.from) << 32) | key.to;
  return (ends * 0x9e3779b97f4a7c15) ^ (key.flow * 0xc2b2ae3d27d4eb4f);
}

void Network::send(uint32_t from, uint32_t to, uint64_t flow_number, Bytes packet) {
  RandomStream& random = senders_.at(from).fate;
  counters_.sent++;
  // Always the same draws in the same order: a change of one probability leaves the other faults where they
  // were.
  const bool lost = random.chance(faults_.loss);
  const bool duplicated = random.chance(faults_.duplicate);
  const bool corrupted = random.chance(faults_.corrupt);
  const bool held = random.chance(faults_.reorder) && faults_.reorder_degree > 0;
  const auto to_pass = static_cast<uint32_t>(1 + random.below(std::max(1u, faults_.reorder_degree)));
  const uint64_t flight = faults_.delay + random.below(faults_.jitter + 1ull);
  const uint64_t lag = 1 + random.below(faults_.duplicate_lag);
  RandomStream bit_errors(senders_[from].bit_errors.next());

  if (to >= arrived_.size()) {
    counters_.misrouted++;
    return;
  }
  const bool cut = is_cut(from, to);
  if (duplicated && !cut) {
    counters_.duplicated++;
    fly(to, now_ + flight + lag, packet);
  }
  Flow& flow = flows_[{from, to, flow_number}];
  if (lost || cut) {
    (cut ? counters_.cut_off : counters_.lost)++;
    pass_held(flow);
    return;
  }
  if (corrupted) corrupt(packet, bit_errors);
  if (held) {
    counters_.reordered++;
    const uint64_t deadline = now_ + faults_.hold_limit;
    flow.held.push_back({to, to_pass, now_ + flight, deadline, std::move(packet)});
    next_deadline_ = std::min(next_deadline_, deadline);
    held_count_++;
    return;
  }
  fly_in_order(flow, to, now_ + flight, std::move(packet));
  pass_held(flow);
}

void Network::corrupt(Bytes& packet, RandomStream& random) {
  if (packet.empty()) return;
  counters_.corrupted++;
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

void Network::fly(uint32_t to, uint64_t due, Bytes packet) {
  under_way_.push({due, order_++, to, std::move(packet)});
}

void Network::fly_in_order(Flow& flow, uint32_t to, uint64_t due, Bytes packet) {
  flow.last_due = std::max(flow.last_due, due);
  fly(to, flow.last_due, std::move(packet));
}

void Network::pass_held(Flow& flow) {
  for (Held& held : flow.held) held.still_to_pass--;
  release_passed(flow);
}

/// A packet that is let go passes the older ones that stay, which may let these go too: so always the oldest
/// goes first.
void Network::release_passed(Flow& flow) {
  const auto passed = [](const Held& held) { return held.still_to_pass == 0; };
  for (auto& held = flow.held;;) {
    const auto next = std::find_if(held.begin(), held.end(), passed);
    if (next == held.end()) return;
    for (auto older = held.begin(); older != next; ++older) older->still_to_pass--;
    held_count_--;
    fly_in_order(flow, next->to, std::max(next->earliest, now_ + 1), std::move(next->packet));
    held.erase(next);
  }
}

void Network::release_overdue() {
  // In the order of the keys, which does not depend on the hash map.
  std::vector<std::pair<FlowKey, Flow*>> overdue;
  for (auto& [key, flow] : flows_) {
    bool any = false;
    for (Held& held : flow.held) {
      if (held.deadline > now_) continue;
      held.still_to_pass = 0;
      any = true;
    }
    if (any) overdue.emplace_back(key, &flow);
  }
  std::sort(overdue.begin(), overdue.end(), [](const auto& left, const auto& right) {
    const auto order = [](const FlowKey& key) { return std::tie(key.from, key.to, key.flow); };
    return order(left.first) < order(right.first);
  });
  for (auto& [key, flow] : overdue) release_passed(*flow);

  next_deadline_ = never;
  for (const auto& [key, flow] : flows_) {
    for (const Held& held : flow.held) next_deadline_ = std::min(next_deadline_, held.deadline);
  }
  std::erase_if(flows_, [&](const auto& entry) {  // flows that went quiet
    return entry.second.held.empty() && entry.second.last_due < now_;
  });
}

void Network::tick() {
  now_++;
  if (now_ >= next_deadline_) release_overdue();
  while (!under_way_.empty() && under_way_.top().due <= now_) {
    // top() is const only to protect the heap order, which the packet's bytes do not take part in.
    auto& flying = const_cast<Flying&>(under_way_.top());
    arrived_[flying.to].push_back(std::move(flying.packet));
    under_way_.pop();
    waiting_++;
  }
}

std::optional<Bytes> Network::receive(uint32_t node) {
  auto& arrived = arrived_.at(node);
  if (arrived.empty()) return std::nullopt;
  Bytes packet = std::move(arrived.front());
  arrived.pop_front();
  waiting_--;
  counters_.delivered++;
  return packet;
}

void Network::flush() {
  under_way_ = {};
  flows_.clear();
  for (auto& arrived : arrived_) arrived.clear();
  next_deadline_ = never;
  held_count_ = 0;
  waiting_ = 0;
}

}  // namespace weft::fabric
