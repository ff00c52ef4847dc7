// SPDX-License-Identifier: Apache-2.0
// Cycle-based model of a two-dimensional fat tree: switches with input buffers, virtual channels and credits,
// lookups by the rules of model/route, or by lookup blocks. A packet is one flit; a link carries one a clock.
//
// Each row and column of leaves hangs on `planes` parallel row (column) switches, of which a leaf draws one,
// or on a fat tree of two levels.
// A host's packet waits in an endless queue until its leaf has room. Latency without load is end_clocks +
// switch_clocks for each switch passed (VTFTR, 3.2: 62 ns + 35 ns a switch, with a clock of 1 ns).
//
// The router is the input-queued one of BookSim2 with packets of one flit: the head of an input's virtual
// channel is looked up, is given the output's virtual channel, is given the crossbar, passes it; each takes
// one of `speedup` turns a clock, and the link takes what has passed when the clock is over. Output channels
// and crossbar are matched by one iteration of iSLIP (McKeown, 1999) a turn. Behind the crossbar packets wait
// for their link.
//
// Faults may strike at any clock: what is in a dead switch or looked up for a dead link is lost, and so is
// what is on such a link or waits for it. Tables are then rewritten switch by switch (manager.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/random.hpp"
#include "route/tables.hpp"
#include "switchfabric/hops.hpp"
#include "switchfabric/lookup_unit.hpp"

namespace weft::switchfabric {

inline constexpr uint32_t turns_a_packet = 3;  ///< of a lane: channel, crossbar, through it

struct Config {
  uint32_t planes = 1;
  uint32_t switch_clocks = 35;  ///< from a switch's input to the next one's, without waiting
  uint32_t end_clocks = 62;     ///< of the hosts at both ends and the first link
  uint32_t buffer = 64;         ///< packets of one virtual channel of one input
  uint32_t speedup = 3;         ///< turns of a switch a clock
  uint32_t credit_clocks = 35;  ///< until a sender knows that a buffer has room again
  bool any_channel = false;     ///< packets take any virtual channel: only without faults
  uint64_t seed = 1;

  /// Packets a clock, as far as room in its leaf and the news of it allow, and the leaf's turns.
  double most_a_host_sends() const {
    return std::min(
        {1.0, speedup / double{turns_a_packet}, buffer / (double{1} * end_clocks + credit_clocks)});
  }
};

/// A host sends at most one a clock: `from` and `sent` name it.
struct Packet {
  uint32_t from = 0, to = 0;  ///< hosts
  uint64_t sent = 0;          ///< clock
};

struct Delivered {
  Packet packet;
  uint64_t arrived = 0;
  uint32_t switches = 0;  ///< passed
};

struct Lost {
  Packet packet;
  std::optional<route::Outcome> why;  ///< nothing: it was in, or before, what died
};

class SwitchFabric {
 public:
  /// Tables must outlive it. @param unit for each switch; none: all follow the rules. Fault for planes of fat
  /// trees; with a unit, for tables of which there are no images.
  SwitchFabric(const route::Tables& tables, const route::Health& alive, const Config& config,
               const MakeUnit& unit = {});
  SwitchFabric(const SwitchFabric&) = delete;
  SwitchFabric& operator=(const SwitchFabric&) = delete;

  /// From a host that is alive; at most once a clock and host.
  void send(uint32_t from, uint32_t to);
  /// From now on this is alive, never more than before.
  void strike(const route::Health& alive);
  /// Number of tables for `rewrite`; they must outlive the fabric.
  uint32_t add_tables(const route::Tables& tables);
  /// A switch has these tables from now on; number 0 are the first ones.
  void rewrite(uint32_t sw, uint32_t tables);
  /// The first switch that has an image of the tables (leaves, then roots), and how many.
  std::pair<uint32_t, uint32_t> switches_of(uint32_t image) const;
  const route::Health& alive() const { return alive_; }
  /// One clock.
  void step();
  uint64_t now() const { return now_; }
  /// What arrived in the last clock.
  const std::vector<Delivered>& delivered() const { return delivered_; }
  /// What was lost in the last clock, and by strikes just before it.
  const std::vector<Lost>& lost() const { return lost_; }
  /// Packets in buffers and on links, not those that wait in hosts.
  uint64_t under_way() const { return under_way_; }
  /// Packets that wait in hosts.
  uint64_t waiting() const;
  /// By units.
  uint64_t lookups() const { return lookups_; }
  /// Of these, in one host; a strike that kills its leaf forgets them.
  const std::deque<Packet>& waiting_in(uint32_t host) const { return hosts_[host]; }
  /// Full buffers of which each one's first packet waits for the next, the last one's for the first: none of
  /// them ever moves again. Empty: there are none. Not with `any_channel`.
  std::vector<route::Channel> deadlock() const;

 private:
  static constexpr uint32_t nobody = ~0u;
  /// Inputs, their virtual channels (lanes) and outputs are numbered over all switches; an output has the
  /// number of the input beside it.
  struct Queued {
    Packet packet;
    uint32_t behind = nobody;  // slot of the next one of its lane
    uint16_t port = 0;         // output of the switch
    uint8_t vc = 0;
    uint8_t switches = 0;  // passed, this one too
  };
  /// One virtual channel of an input.
  struct Lane {
    uint32_t input = 0;             // whose it is
    uint32_t head = 0, tail = 0;    // slots of its first and last packet
    uint32_t count = 0;             // of its packets
    uint32_t feeder = 0;            // output lane that feeds it; behind all of these a host
    uint32_t output = 0;            // that the first packet leaves by
    uint32_t output_lane = nobody;  // of that output, if the first packet owns one
    uint64_t routed = 0;            // turn from which on it may ask for one
    uint8_t vc = 0;                 // which one it is
    uint8_t output_vc = 0;          // that the first packet may take
    uint8_t accept = 0;             // iSLIP: channel of the output to take first
  };
  /// The virtual channel of an output.
  struct OutputLane {
    uint32_t owner = nobody;  // lane
    uint32_t credits = 0;
    uint32_t grant = 0;  // iSLIP: lane of the switch to grant first
  };
  /// An output, or the input beside it.
  struct Port {
    uint32_t next = 0;       // input that the output leads to, or no_input
    uint32_t grant = 0;      // iSLIP: input of the switch to grant first
    uint32_t accept = 0;     // iSLIP, of the input: output to take first
    uint32_t next_vc = 0;    // of the input
    uint64_t link_free = 0;  // clock
    RandomStream random;  // of the input, so that draws are the same in whatever order switches are looked at
  };
  /// A leaf, or one plane of a row or column switch.
  struct Switch {
    bool leaf = false;
    route::Leaf place;                                // of a leaf
    route::Root root;                                 // of any other
    uint32_t first = 0, ports = 0;                    // inputs
    uint32_t tables = 0;                              // number of its tables
    std::vector<uint32_t> asking = {}, holding = {};  // lanes with packets: without, with an output lane
    bool busy() const { return !asking.empty() || !holding.empty(); }
  };
  struct Event {
    Packet packet;
    uint32_t input = 0;  // or no_input: at its host
    uint8_t vc = 0;
    uint8_t switches = 0;  // passed
    uint32_t from = 0;     // output lane; nobody: a host
  };
  /// A grant of an allocator: to whom, and how far behind its pointer.
  struct Grant {
    uint32_t to = nobody, distance = nobody;
    void offer(uint32_t who, uint32_t behind) {
      if (behind < distance) *this = {who, behind};
    }
  };
  static constexpr uint32_t no_input = ~0u;

  uint32_t leaf_input(route::Leaf leaf, uint32_t port) const;
  uint32_t input_of(uint32_t host) const { return leaf_input(leaf_of(host), host % grid_.hosts); }
  uint32_t root_input(const route::RootPort& at, uint32_t plane) const;
  uint32_t behind(const Switch& sw, uint32_t output) const;
  route::Leaf leaf_of(uint32_t host) const { return grid_.leaf(host / grid_.hosts); }
  void add_switch(const Switch& sw);
  void arrive(const Event& event);
  /// Where a packet goes on, if the outcome is `forward`.
  struct Way {
    route::Outcome outcome = route::Outcome::forward;
    uint32_t output = 0;  // of the switch
    uint8_t vc = 0;
  };
  void make_units(const MakeUnit& unit);
  uint32_t image_of(uint32_t sw) const;
  switch_lookup::Ports live_ports(const Switch& sw) const;
  void see_what_is_alive();
  Way look_up(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to);
  Way ask_unit(LookupUnit& unit, const Switch& sw, uint32_t port, uint8_t vc, uint32_t to);
  Hop hop(const Switch& sw, uint32_t port, uint8_t vc, uint32_t to);
  uint32_t draw_port(uint32_t input, const route::PortSet& ports);
  uint32_t draw_plane(uint32_t input, route::Dimension up);
  void connect();
  void lose(const Packet& packet, std::optional<route::Outcome> why);
  bool works(uint32_t output) const;
  bool arrives(const Event& event) const;
  void lose_queued(Switch& sw, uint32_t lane);
  uint32_t waits_for(uint32_t lane) const;
  route::Channel channel_of(uint32_t lane) const;
  void inject();
  /// Into the processor's cache.
  void fetch(const Event& event) const {
    if (event.input == no_input) return;
    __builtin_prefetch(&lanes_[event.input * vcs_ + event.vc], 1);
    __builtin_prefetch(&ports_[event.input], 1);
  }
  uint32_t take_slot();
  void append(const Switch& sw, Lane& lane, const Queued& packet);
  void remove_first(const Switch& sw, Lane& lane);
  /// The lane has another first packet.
  void see_first(const Switch& sw, Lane& lane) {
    const Queued& first = slots_[lane.head];
    lane.output = sw.first + first.port;
    lane.output_vc = first.vc;
  }
  void ask_for_lanes(Switch& sw);
  void take_lanes(Switch& sw);
  void match_crossbar(const Switch& sw);
  void pass(Switch& sw, uint32_t lane);
  void turn(Switch& sw);
  void schedule(uint64_t clocks, const Event& event) {
    events_[(now_ + clocks) % events_.size()].push_back(event);
  }
  void return_credit(uint32_t feeder) {
    credits_[(now_ + config_.credit_clocks) % credits_.size()].push_back(feeder);
  }

  route::Grid grid_;
  route::Health alive_;
  std::vector<Hops> hops_;  // by number of tables
  Config config_;
  uint32_t vcs_;
  uint32_t pipeline_clocks_;  // from arrival to the link, without waiting
  uint64_t now_ = 0, turn_ = 0, under_way_ = 0;
  std::vector<Switch> switches_;
  std::vector<std::unique_ptr<LookupUnit>> units_;            // by switch; none: all follow the rules
  std::vector<std::vector<route::SwitchImage>> images_ = {};  // by number of tables; none without units
  uint64_t lookups_ = 0;
  std::vector<uint32_t> switch_of_;  // by input
  std::vector<Port> ports_;
  std::vector<Lane> lanes_;
  std::vector<Queued> slots_;  // of all lanes, as many as were ever needed at once: few, so caches hold them
  std::vector<uint32_t> free_slots_;
  std::vector<OutputLane> output_lanes_;
  std::vector<uint32_t> host_credits_;  // by host: room in its leaf's input
  std::vector<std::deque<Packet>> hosts_;
  std::vector<std::vector<Event>> events_;
  std::vector<std::vector<uint32_t>> credits_;  // output lanes; behind them hosts
  // Of the turn of a switch under way.
  std::vector<Grant> lane_grants_, port_grants_, accepts_;  // by output lane; output; input
  std::vector<uint32_t> asked_lanes_, asked_ports_, granted_inputs_, taking_, crossing_;
  std::vector<Delivered> delivered_;
  std::vector<Lost> lost_;
  bool struck_ = false;  // since the last clock
};

}  // namespace weft::switchfabric
