// SPDX-License-Identifier: Apache-2.0
// Packet network with faults: every packet's fate is drawn once, when it is sent.
#include "fabric/network.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::fabric {

namespace {
constexpr uint64_t never = std::numeric_limits<uint64_t>::max();
}

Network::Network(uint32_t nodes, const Faults& faults, uint64_t seed)
    : faults_(faults), arrived_(nodes), next_deadline_(never) {
  for (uint32_t node = 0; node < nodes; ++node) random_.emplace_back(seed, node);
}

size_t Network::FlowHash::operator()(const FlowKey& key) const {
  const uint64_t ends = (static_cast<uint64_t>(key.from) << 32) | key.to;
  return (ends * 0x9e3779b97f4a7c15) ^ (key.flow * 0xc2b2ae3d27d4eb4f);
}

void Network::send(uint32_t from, uint32_t to, uint64_t flow_number, Bytes packet) {
  RandomStream& random = random_.at(from);
  counters_.sent++;
  // Always the same draws in the same order: a change of one probability leaves the other faults where they
  // were.
  const bool lost = random.chance(faults_.loss);
  const bool duplicated = random.chance(faults_.duplicate);
  const bool corrupted = random.chance(faults_.corrupt);
  const bool held = random.chance(faults_.reorder) && faults_.reorder_degree > 0;
  const auto to_pass = static_cast<uint32_t>(1 + random.below(std::max(1u, faults_.reorder_degree)));
  const uint64_t flight = std::max(1u, faults_.delay) + random.below(faults_.jitter + 1ull);
  const uint64_t lag = 1 + random.below(std::max(1u, faults_.duplicate_lag));

  if (to >= arrived_.size()) {
    counters_.misrouted++;
    return;
  }
  if (duplicated) {
    counters_.duplicated++;
    fly(to, now_ + flight + lag, packet);
  }
  Flow& flow = flows_[{from, to, flow_number}];
  if (lost) {
    counters_.lost++;
    pass_held(flow);
    return;
  }
  if (corrupted) corrupt(packet, random);
  if (held) {
    counters_.reordered++;
    const uint64_t deadline = now_ + faults_.hold_limit;
    flow.held.push_back({to, to_pass, deadline, std::move(packet)});
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
  if (flow.held.empty()) return;
  std::vector<Held> rest;
  for (Held& held : flow.held) {
    if (--held.still_to_pass > 0) {
      rest.push_back(std::move(held));
      continue;
    }
    held_count_--;
    fly_in_order(flow, held.to, now_ + 1, std::move(held.packet));
  }
  flow.held = std::move(rest);
}

void Network::release_overdue() {
  next_deadline_ = never;
  // Held packets of all flows that are due, in an order that does not depend on the hash map.
  std::vector<std::pair<uint64_t, std::pair<Flow*, Held>>> due;
  for (auto& [key, flow] : flows_) {
    auto keep = std::stable_partition(flow.held.begin(), flow.held.end(),
                                      [&](const Held& held) { return held.deadline > now_; });
    for (auto held = keep; held != flow.held.end(); ++held) {
      const uint64_t ends = (static_cast<uint64_t>(key.from) << 32) | key.to;
      due.push_back({ends ^ (key.flow << 20), {&flow, std::move(*held)}});
    }
    flow.held.erase(keep, flow.held.end());
    for (const Held& held : flow.held) next_deadline_ = std::min(next_deadline_, held.deadline);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  for (auto& [order, item] : due) {
    held_count_--;
    fly_in_order(*item.first, item.second.to, now_ + 1, std::move(item.second.packet));
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
