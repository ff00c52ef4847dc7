// SPDX-License-Identifier: Apache-2.0
// Traffic that nodes make by what they draw themselves, through networks of all kinds with all faults,
// stepped as a whole, in parts one after the other, or by threads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "network_traffic.hpp"

namespace weft::fabric::test {

/// Packets take ten clocks in the order in which they enter; each thirteenth is lost.
class QueueCarrier : public Carrier {
 public:
  explicit QueueCarrier(uint32_t nodes) : nodes_(nodes) {}
  uint32_t nodes() const override { return nodes_; }
  void send(uint32_t, uint32_t to, uint32_t handle) override { queue_.push_back({now_ + 10, {to, handle}}); }
  void step() override {
    ++now_;
    arrived_.clear();
    lost_.clear();
    for (; !queue_.empty() && queue_.front().first <= now_; queue_.pop_front()) {
      const Arrival& arrival = queue_.front().second;
      if (++carried_ % 13 == 0)
        lost_.push_back(arrival.handle);
      else
        arrived_.push_back(arrival);
    }
  }
  const std::vector<Arrival>& arrived() const override { return arrived_; }
  const std::vector<uint32_t>& lost() const override { return lost_; }
  void flush() override { queue_.clear(); }

 private:
  uint32_t nodes_;
  std::deque<std::pair<uint64_t, Arrival>> queue_;
  std::vector<Arrival> arrived_;
  std::vector<uint32_t> lost_;
  uint64_t now_ = 0, carried_ = 0;
};

enum class Kind : uint8_t { ideal, detours, dimension_order, adaptive, carrier };
inline constexpr uint32_t cut_nodes = 12;

class CutTraffic {
 public:
  explicit CutTraffic(Kind kind) : kind_(kind), network_(make(kind)), arrivals_(cut_nodes) {
    MulticastClocks clocks(cut_nodes, Distances(cut_nodes));
    for (uint32_t from = 0; from < cut_nodes; ++from) {
      draw_.emplace_back(17, from);
      for (uint32_t to = 0; to < cut_nodes; to += 2) clocks[from][to] = 3 + (from + to) % 5;
    }
    network_.set_multicast(multicast, clocks);
  }

  Network& network() { return network_; }
  bool goes_on() const { return network_.now() < 1'000; }

  /// What a node does in a clock.
  void act(uint32_t node) {
    while (auto packet = network_.receive(node))
      arrivals_[node].push_back({network_.now(), node, std::move(*packet)});
    RandomStream& random = draw_[node];
    for (uint64_t packets = random.below(3); packets > 0; --packets) {
      auto to = static_cast<uint32_t>(random.below(cut_nodes + 2));
      if (to == cut_nodes + 1) to = multicast;  // and cut_nodes is no node
      network_.send(node, to, random.below(3), to_packet({network_.now(), packets, node, to}));
    }
  }

  /// What is done to the network between two clocks.
  void change() {
    const uint64_t now = network_.now();
    if (now % 100 == 50) network_.cut(now / 100 % cut_nodes, 1);
    if (now % 300 == 70) network_.heal(now / 100 % cut_nodes, 1);
    if (network_.torus() != nullptr && now % 200 == 10) network_.set_link_cut(3, 0, now % 400 == 10);
    if (now == 600) network_.flush();
    Faults slower = faults(kind_);
    slower.delay = 9;
    if (now % 250 == 125) network_.set_faults(now % 500 == 125 ? slower : faults(kind_));
    empty_.push_back(network_.empty());
  }

  /// All that can be seen: by node in order of arrival, counters, when the network was empty.
  using Seen = std::tuple<std::vector<std::vector<test::Arrival>>, NetworkCounters, std::vector<bool>>;
  Seen seen() const { return {arrivals_, network_.counters(), empty_}; }

 private:
  static constexpr uint32_t multicast = 1'000;

  static Faults faults(Kind kind) {
    Faults faults{.loss = 0.05,
                  .duplicate = 0.05,
                  .corrupt = 0.05,
                  .reorder_degree = 10,
                  .reorder = 0.2,
                  .delay = 1,
                  .jitter = 4,
                  .duplicate_lag = 30,
                  .hold_limit = 12};
    if (kind == Kind::detours) faults.detour = std::exchange(faults.reorder_degree, 0);
    return faults;
  }

  static Network make(Kind kind) {
    if (kind == Kind::ideal || kind == Kind::detours) return {cut_nodes, faults(kind), 3};
    if (kind == Kind::carrier) return {std::make_shared<QueueCarrier>(cut_nodes), faults(kind), 3};
    const auto way = kind == Kind::adaptive ? Algorithm::minimal_adaptive : Algorithm::dimension_order;
    return {Routers{.torus = {.sizes = {3, 2, 2}, .algorithm = way, .link_loss = 0.01}, .flit_bytes = 16},
            faults(kind), 3};
  }

  Kind kind_;
  Network network_;
  std::vector<RandomStream> draw_;                    // by node
  std::vector<std::vector<test::Arrival>> arrivals_;  // by node
  std::vector<bool> empty_;
};

inline CutTraffic::Seen run_whole(Kind kind) {
  CutTraffic traffic(kind);
  while (traffic.goes_on()) {
    for (uint32_t node = 0; node < cut_nodes; ++node) traffic.act(node);
    traffic.network().tick();
    traffic.change();
  }
  return traffic.seen();
}

}  // namespace weft::fabric::test
