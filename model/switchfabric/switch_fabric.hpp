// SPDX-License-Identifier: Apache-2.0
// Cycle-based model of a two-dimensional fat tree: switches with input buffers, virtual channels and credits,
// lookups by the rules of model/route. A packet is one flit; a link carries one a clock.
//
// Each row and column of leaves hangs on `planes` parallel row (column) switches, of which a leaf draws one.
// A host's packet waits in an endless queue until its leaf has room. Latency without load is end_clocks +
// switch_clocks for each switch passed (VTFTR, 3.2: 62 ns + 35 ns a switch, with a clock of 1 ns).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "fabric/random.hpp"
#include "route/tables.hpp"

namespace weft::switchfabric {

struct Config {
  uint32_t planes = 1;
  uint32_t switch_clocks = 35;  ///< from a switch's input to the next one's, without waiting
  uint32_t end_clocks = 62;     ///< of the hosts at both ends and the first link
  uint32_t buffer = 64;         ///< packets of one virtual channel of one input
  uint64_t seed = 1;
};

struct Delivered {
  uint32_t from = 0, to = 0;  ///< hosts
  uint64_t sent = 0, arrived = 0;
};

class SwitchFabric {
 public:
  /// Tables and what is alive must outlive it.
  SwitchFabric(const route::Tables& tables, const route::Health& alive, const Config& config);

  void send(uint32_t from, uint32_t to);
  /// One clock.
  void step();
  uint64_t now() const { return now_; }
  /// What arrived in the last clock.
  const std::vector<Delivered>& delivered() const { return delivered_; }
  uint64_t dropped(route::Outcome why) const { return drops_[static_cast<std::size_t>(why)]; }
  /// Packets in buffers and on links, not those that wait in hosts.
  uint64_t under_way() const { return under_way_; }

 private:
  struct Packet {
    uint32_t from = 0, to = 0;
    uint64_t sent = 0;
  };
  struct Queued {
    Packet packet;
    uint32_t output = 0;
    uint8_t vc = 0;
  };
  /// An input of a switch, and the output of the switch (or host) that feeds it.
  struct Input {
    std::vector<std::deque<Queued>> queues;  // by virtual channel
    std::vector<uint32_t> credits;           // that its feeder has, by virtual channel
    uint32_t next_vc = 0;
  };
  /// A leaf, or one plane of a row or column switch.
  struct Switch {
    bool leaf = false;
    route::Leaf place;  // of a leaf
    route::Dimension dimension = route::Dimension::row;
    uint32_t line = 0;
    uint32_t first = 0, ports = 0;  // inputs
    uint32_t waiting = 0;           // packets in its inputs
  };
  struct Event {
    Packet packet;
    uint32_t input = 0;  // or no_input: at its host
    uint8_t vc = 0;
  };
  struct Credit {
    uint32_t input = 0;
    uint8_t vc = 0;
  };
  static constexpr uint32_t no_input = ~0u;

  uint32_t leaf_input(route::Leaf leaf, uint32_t port) const;
  uint32_t root_input(route::Dimension dimension, uint32_t line, uint32_t plane, uint32_t port) const;
  uint32_t behind(const Switch& sw, uint32_t output) const;
  route::Leaf leaf_of(uint32_t host) const { return grid_.leaf(host / grid_.hosts); }
  void add_switch(const Switch& sw);
  void arrive(const Event& event);
  route::Decision decide(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to) const;
  uint32_t draw_output(const Switch& sw, const route::Decision& decision, uint32_t to);
  void inject();
  void serve(Switch& sw);
  bool try_send(Switch& sw, uint32_t port, std::vector<uint64_t>& taken);
  void schedule(uint32_t clocks, const Event& event) {
    events_[(now_ + clocks) % events_.size()].push_back(event);
  }

  route::Grid grid_;
  const route::Health& alive_;
  route::Walker walker_;
  Config config_;
  uint32_t vcs_;
  uint64_t now_ = 0, under_way_ = 0;
  std::vector<Switch> switches_;
  std::vector<Input> inputs_;
  std::vector<uint32_t> switch_of_;  // by input
  std::vector<std::deque<Packet>> hosts_;
  std::vector<std::vector<Event>> events_;
  std::vector<std::vector<Credit>> credits_;
  std::vector<uint64_t> taken_;  // by output of the switch being served: when
  std::vector<Delivered> delivered_;
  std::array<uint64_t, route::outcomes> drops_{};
  RandomStream random_;
};

}  // namespace weft::switchfabric
