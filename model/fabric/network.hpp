// SPDX-License-Identifier: Apache-2.0
// Packet network between n nodes that loses, duplicates, corrupts, delays and reorders packets, seeded and
// repeatable.
//
// Packets are byte vectors that go in at one node and come out at another; nothing in here knows their
// format. Time is counted in clock cycles, one tick() each. Packets of one flow stay in order unless they are
// held back: a held packet is let go once `reorder_degree` or fewer (drawn per packet) later packets of its
// flow have passed it (or were lost), or after `hold_limit` cycles. Duplicates are copies that come late, in
// no order.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "fabric/random.hpp"

namespace weft::fabric {

using Bytes = std::vector<uint8_t>;

/// Faults of every link; probabilities are per packet, in [0, 1]. Values beyond what is said here are refused
/// with std::invalid_argument.
struct Faults {
  double loss = 0;
  double duplicate = 0;
  double corrupt = 0;            ///< one to three bits flipped
  uint32_t reorder_degree = 0;   ///< a packet is overtaken by at most this many of its flow; 0: never
  double reorder = 0.1;          ///< probability that a packet is held back (with degree > 0)
  uint32_t delay = 20;           ///< cycles from send to receive, at least 1
  uint32_t jitter = 0;           ///< up to so many cycles more
  uint32_t duplicate_lag = 512;  ///< a copy comes up to so many cycles after its original was due, at least 1
  uint32_t hold_limit = 20000;   ///< a held packet is let go after so many cycles at the latest
};

/// Packets by fate. sent + duplicated = lost + cut_off + misrouted + delivered + those under way, as long as
/// none are flushed.
struct NetworkCounters {
  uint64_t sent = 0;
  uint64_t lost = 0;
  uint64_t cut_off = 0;  ///< sent over a link that was cut
  uint64_t duplicated = 0;
  uint64_t corrupted = 0;
  uint64_t reordered = 0;  ///< held back
  uint64_t misrouted = 0;  ///< to a node that does not exist
  uint64_t delivered = 0;
};

class Network {
 public:
  /// Every node draws from its own random stream, so its faults do not depend on the traffic of others.
  Network(uint32_t nodes, const Faults& faults, uint64_t seed);

  /// Packet enters at `from`. `flow` names what must stay in order between the two nodes (any number).
  void send(uint32_t from, uint32_t to, uint64_t flow, Bytes packet);

  /// One clock cycle passes.
  void tick();

  /// Next packet that has arrived at the node, if any.
  std::optional<Bytes> receive(uint32_t node);

  /// From now on nothing that enters at `from` gets to `to` (only this direction), nor a copy of it. What is
  /// under way arrives. Faults strike the packets after as they would have without the cut.
  void cut(uint32_t from, uint32_t to) { set_cut(from, to, true); }
  void heal(uint32_t from, uint32_t to) { set_cut(from, to, false); }

  /// Forgets every packet under way or not yet received.
  void flush();

  bool empty() const { return under_way_.empty() && held_count_ == 0 && waiting_ == 0; }
  uint64_t now() const { return now_; }
  const NetworkCounters& counters() const { return counters_; }
  /// From the next packet sent on.
  void set_faults(const Faults& faults);

 private:
  struct Sender {
    RandomStream fate;
    RandomStream bit_errors;  // apart, so that bit errors do not shift the fates of later packets
  };
  struct FlowKey {
    uint32_t from;
    uint32_t to;
    uint64_t flow;
    bool operator==(const FlowKey&) const = default;
  };
  struct FlowHash {
    size_t operator()(const FlowKey& key) const;
  };
  struct Held {
    uint32_t to;
    uint32_t still_to_pass;
    uint64_t earliest;  // cycle in which it would have come without being held
    uint64_t deadline;
    Bytes packet;
  };
  struct Flow {
    uint64_t last_due = 0;
    std::vector<Held> held;
  };
  struct Flying {
    uint64_t due;
    uint64_t order;  // first in, first out among packets due in the same cycle
    uint32_t to;
    Bytes packet;
    bool operator>(const Flying& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };

  void set_cut(uint32_t from, uint32_t to, bool cut);
  bool is_cut(uint32_t from, uint32_t to) const { return cut_[from * arrived_.size() + to]; }
  void corrupt(Bytes& packet, RandomStream& random);
  void fly(uint32_t to, uint64_t due, Bytes packet);
  void fly_in_order(Flow& flow, uint32_t to, uint64_t due, Bytes packet);
  void pass_held(Flow& flow);
  void release_passed(Flow& flow);
  void release_overdue();

  Faults faults_;
  std::vector<Sender> senders_;  // by node
  std::vector<std::deque<Bytes>> arrived_;
  std::vector<bool> cut_;  // by sender and receiver
  std::priority_queue<Flying, std::vector<Flying>, std::greater<>> under_way_;
  std::unordered_map<FlowKey, Flow, FlowHash> flows_;
  NetworkCounters counters_;
  uint64_t now_ = 0;
  uint64_t order_ = 0;
  uint64_t next_deadline_ = 0;
  uint64_t held_count_ = 0;
  uint64_t waiting_ = 0;
};

}  // namespace weft::fabric
