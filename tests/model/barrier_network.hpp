// SPDX-License-Identifier: Apache-2.0
// Barrier engines on a network that loses, repeats, delays and so reorders packets, and their software.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "barrier/engine.hpp"
#include "fabric/random.hpp"

namespace weft::barrier {

struct Weather {
  double loss = 0, twice = 0;
  uint32_t delay = 1;  ///< largest, in ticks; uniform from 1
};

inline constexpr Node multicast_address = 0xc123;

class BarrierNetwork {
 public:
  BarrierNetwork(uint32_t nodes, Weather weather, uint64_t seed) : weather_(weather), random_(seed) {
    for (Node node = 0; node < nodes; node++) engines.emplace_back(node, 2, nodes);
    dead.resize(nodes);
    arrived.resize(nodes);
    done.resize(nodes);
    completions.resize(nodes);
  }

  void open(const GroupSettings& settings) {
    for (auto& engine : engines) EXPECT_EQ(engine.open(0, settings), Refusal::none);
  }

  void arrive(Node node) {
    arrived[node]++;
    EXPECT_EQ(engines[node].arrive(0), Refusal::none);
    collect(node);
  }

  void tick() {
    now_++;
    while (!flying_.empty() && flying_.begin()->first <= now_) {
      const auto [to, packet] = flying_.begin()->second;
      flying_.erase(flying_.begin());
      if (dead[to]) continue;
      engines[to].receive(packet);
      collect(to);
    }
    for (Node node = 0; node < engines.size(); node++) {
      if (dead[node]) continue;
      engines[node].tick();
      collect(node);
    }
  }

  std::vector<Engine> engines;
  std::vector<bool> dead;
  std::vector<uint32_t> arrived, done;               ///< by node: barriers
  std::vector<std::vector<Completion>> completions;  ///< by node
  uint32_t hops = 1;                                 ///< of every packet
  bool copies = true;                                ///< packets to multicast_address, to all nodes

 private:
  void collect(Node node) {
    const Outputs out = engines[node].take();
    for (const Packet& packet : out.packets) {
      fly(packet);
      if (random_.chance(weather_.twice)) fly(packet);
    }
    for (const Completion& completion : out.completions) {
      completions[node].push_back(completion);
      engines[node].completion_taken(completion.group);
      if (completion.ending != Ending::ok) continue;
      EXPECT_EQ(completion.epoch, done[node]) << "node " << node;
      done[node]++;
      for (Node other = 0; other < engines.size(); other++)
        EXPECT_GE(arrived[other], done[node]) << "node " << node << " left before " << other << " arrived";
    }
  }

  /// A copy of a multicast packet may be lost on the way to one node only.
  void fly(const Packet& packet) {
    if (!packet.multicast) return fly_to(packet.to, packet);
    for (Node node = 0; node < engines.size() && copies; node++)
      if (node != packet.from) fly_to(node, packet);
  }
  void fly_to(Node to, Packet packet) {
    if (random_.chance(weather_.loss)) return;
    if (packet.type != Type::wait) packet.length = static_cast<uint16_t>(packet.length + hops);
    flying_.emplace(now_ + 1 + random_.below(weather_.delay), std::pair(to, packet));
  }

  Weather weather_;
  RandomStream random_;
  uint64_t now_ = 0;
  std::multimap<uint64_t, std::pair<Node, Packet>> flying_;
};

inline GroupSettings settings_of(uint32_t members) {
  GroupSettings settings;
  settings.instance = 7;
  settings.members.resize(members);
  std::iota(settings.members.begin(), settings.members.end(), 0);
  settings.judge.stride = default_stride(members);
  settings.judge.tries = 200;
  settings.waiting = {.first = 16, .largest = 64, .tries = 10, .late = 1000};
  return settings;
}

/// Barriers of all nodes, whose software comes back after random times. @return ticks, or nothing if it takes
/// too long
inline std::optional<uint32_t> run(BarrierNetwork& net, RandomStream& random, uint32_t barriers,
                                   uint32_t pause) {
  const auto nodes = static_cast<uint32_t>(net.engines.size());
  for (uint32_t ticks = 0; ticks < 1'000'000; ticks++) {
    bool all = true;
    for (Node node = 0; node < nodes; node++) {
      if (net.dead[node]) continue;
      const bool failed = !net.completions[node].empty() && net.completions[node].back().ending != Ending::ok;
      all = all && (failed || net.done[node] == barriers);
      if (failed || net.arrived[node] == barriers || net.arrived[node] > net.done[node]) continue;
      if (random.below(pause) == 0) net.arrive(node);
    }
    if (all) return ticks;
    net.tick();
  }
  return std::nullopt;
}

}  // namespace weft::barrier
