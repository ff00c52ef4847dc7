// SPDX-License-Identifier: Apache-2.0
// Barrier engines in RTL, each beside its golden model, their software, and a network between them that
// loses, repeats, delays, reorders, corrupts and forges.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "small_barrier.hpp"

namespace weft::rtl_test {

inline constexpr barrier::Node multicast_address = 0xc123;

struct Storm {
  uint32_t loss = 0, twice = 0, corrupt = 0, forged = 0;  ///< percent of packets
  uint32_t delay = 1;                                     ///< clocks at most
  uint32_t pauses = 0;                                    ///< percent of clocks
};

class BarrierRtl : public testing::Test {
 protected:
  void build(uint32_t count) {
    for (barrier::Node node = 0; node < count; node++)
      nodes_.push_back(std::make_unique<SmallNode>(node, seed()));
    arrived_.assign(count, 0);
    done_.assign(count, 0);
    failed_.assign(count, {});
  }

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  barrier::GroupSettings settings_of(uint32_t members) {
    barrier::GroupSettings settings;
    settings.instance = 7;
    settings.shape = barrier::shapes[below(barrier::shapes.size())].shape;
    settings.members.resize(members);
    std::iota(settings.members.begin(), settings.members.end(), 0);
    std::shuffle(settings.members.begin(), settings.members.end(), random_);
    barrier::move_in_blocks(settings, below(5));
    if (chance(40)) settings.multicast = multicast_address;
    settings.judge.tries = 200;
    settings.waiting = {.first = 8, .largest = 32, .tries = 12, .late = 100};
    return settings;
  }

  void fly(barrier::PacketBytes bytes, const Storm& storm) {
    sent_++;
    if (chance(storm.loss)) return;
    for (uint32_t hops = below(4); hops > 0; hops--) barrier::add_hop(bytes);
    const auto packet = barrier::formats::unpack_packet(bytes);
    if (packet.multicast == 0) return fly_to(packet.to, bytes, storm);
    for (barrier::Node node = 0; node < nodes_.size(); node++)
      if (node != packet.from) fly_to(node, bytes, storm);
  }
  void fly_to(uint32_t to, barrier::PacketBytes bytes, const Storm& storm) {
    ways_.emplace(barrier::formats::unpack_packet(bytes).from, to);
    if (chance(storm.forged)) {
      const bool kind = chance(25);  // one is taken for another kind
      bytes[kind ? 2 : 2 + below(24)] ^= static_cast<uint8_t>(1U << below(kind ? 2 : 8));
      bytes = barrier::checked(bytes);
    }
    if (chance(storm.corrupt)) bytes[below(32)] ^= static_cast<uint8_t>(1U << below(8));
    if (to < nodes_.size()) flying_.emplace(now_ + 1 + below(storm.delay), std::pair(to, bytes));
  }

  void clock(const Storm& storm) {
    now_++;
    while (!flying_.empty() && flying_.begin()->first <= now_) {
      const auto [to, bytes] = flying_.begin()->second;
      flying_.erase(flying_.begin());
      if (!dead(to)) nodes_[to]->receive(bytes);
    }
    for (barrier::Node node = 0; node < nodes_.size(); node++) {
      if (dead(node)) continue;
      nodes_[node]->clock(storm.pauses);
      for (const barrier::PacketBytes& bytes : nodes_[node]->take_packets()) {
        fly(bytes, storm);
        if (chance(storm.twice)) fly(bytes, storm);
      }
      for (const barrier::Completion& completion : nodes_[node]->take_completions()) note(node, completion);
    }
  }

  bool dead(barrier::Node node) const { return dead_ && *dead_ == node; }

  void note(barrier::Node node, const barrier::Completion& completion) {
    if (completion.group != 0) return;
    if (completion.ending != barrier::Ending::ok) {
      failed_[node] = completion.dead;
      return;
    }
    done_[node]++;
    if (!safe_) return;
    for (barrier::Node other = 0; other < nodes_.size(); other++)
      EXPECT_GE(arrived_[other], done_[node]) << "node " << node << " left before " << other << " arrived";
  }

  /// Software of all nodes comes back after random times. @return whether all have done so many barriers
  bool run(uint32_t barriers, const Storm& storm, uint32_t pause) {
    for (uint32_t i = 0; i < 400000 && !HasFailure(); i++) {
      bool all = true;
      for (barrier::Node node = 0; node < nodes_.size(); node++) {
        if (dead(node) || failed_[node]) continue;
        all = all && done_[node] >= barriers;
        if (arrived_[node] > done_[node] || arrived_[node] >= barriers || nodes_[node]->busy() ||
            below(pause) != 0)
          continue;
        arrived_[node]++;
        nodes_[node]->arrive(0);
      }
      if (all) return true;
      clock(storm);
    }
    return false;
  }

  testing::ScopedTrace reproduce_{__FILE__, __LINE__, reproduce_command()};
  std::mt19937_64 random_{seed() + 1};
  std::vector<std::unique_ptr<SmallNode>> nodes_;
  std::vector<uint32_t> arrived_, done_;
  std::vector<std::optional<barrier::Node>> failed_;
  std::optional<barrier::Node> dead_;
  std::multimap<uint64_t, std::pair<barrier::Node, barrier::PacketBytes>> flying_;
  std::set<std::pair<barrier::Node, barrier::Node>> ways_;  ///< who has sent to whom
  uint64_t now_ = 0, sent_ = 0;
  bool safe_ = true;
};

}  // namespace weft::rtl_test
