// SPDX-License-Identifier: Apache-2.0
// Packet network between n nodes that loses, duplicates, corrupts, delays and reorders packets, seeded and
// repeatable.
//
// Packets are byte vectors that go in at one node and come out at another; nothing in here knows their
// format. Time is counted in clock cycles, one tick() each. Packets of one flow stay in order unless they are
// held back: a held packet is let go once `reorder_degree` or fewer (drawn per packet) later packets of its
// flow have passed it (or were lost), or after `hold_limit` cycles; or, with `detour`, it takes a longer way
// and comes so much later, whoever passes it. Duplicates are copies that come late, in no order.
//
// Ideal, any number of packets cross it at once and only faults delay them; or a torus or mesh of routers
// (torus.hpp) is behind the faults: a packet enters it when it would come out of the ideal one. What it meets
// there delays it further, others overtake it on other channels and other ways, and links can fail. Or any
// other model of a fabric (carrier.hpp) is in their place.
//
// A packet to a multicast address is copied in the network: it comes to each node of the group but its
// sender, after so many clocks as the group says, whatever else is under way. It is lost or corrupted before
// it is copied, and neither duplicated nor held back.
//
// The network can be cut into parts of nodes, however one likes, which threads step. A node owns its random
// numbers, what it has sent until that is due, what it holds back, its cuts, what has come to it, its
// counters; and, while a packet to it is between routers, the packet's bytes. What goes from node to node,
// also of one part, goes by mail of at least one clock (mail.hpp): packets that are due in the next clock, or
// enter the routers then, and word that one is lost there. Packets of the same clock come in the order of
// what they are, not in that of the mail, so the result is the same for any cut and any order of steps.
// Flits go from router to router likewise (torus.hpp). A carrier is not cut: advance() steps it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fabric/carrier.hpp"
#include "fabric/mail.hpp"
#include "fabric/packet_store.hpp"
#include "fabric/parts.hpp"
#include "fabric/random.hpp"
#include "fabric/ring.hpp"
#include "fabric/torus.hpp"

namespace weft::fabric {

using Bytes = std::vector<uint8_t>;

/// Faults of every link; probabilities are per packet, in [0, 1]. Values beyond what is said here are refused
/// with std::invalid_argument.
struct Faults {
  double loss = 0;
  double duplicate = 0;
  double corrupt = 0;            ///< one to three bits flipped
  uint32_t reorder_degree = 0;   ///< a packet is overtaken by at most this many of its flow; 0: never
  uint32_t detour = 0;           ///< instead of a degree: up to so many cycles for who is held back
  double reorder = 0.1;          ///< probability that a packet is held back (with degree or detour > 0)
  uint32_t delay = 20;           ///< cycles from send to receive, at least 1
  uint32_t jitter = 0;           ///< up to so many cycles more
  uint32_t duplicate_lag = 512;  ///< a copy comes up to so many cycles after its original was due, at least 1
  uint32_t hold_limit = 20000;   ///< a held packet is let go after so many cycles at the latest
};

/// Packets by fate. sent + duplicated + copied = lost + cut_off + misrouted + delivered + those under way, as
/// long as none are flushed.
struct NetworkCounters {
  uint64_t sent = 0;
  uint64_t lost = 0;     ///< also on links of routers
  uint64_t cut_off = 0;  ///< sent to a node from which this one was cut
  uint64_t duplicated = 0;
  uint64_t copied = 0;  ///< by multicast: one less than nodes that it goes to
  uint64_t corrupted = 0;
  uint64_t reordered = 0;  ///< held back
  uint64_t misrouted = 0;  ///< to a node that does not exist
  uint64_t delivered = 0;

  bool operator==(const NetworkCounters&) const = default;
};

/// What befalls a packet that enters the network (its copy, if it is duplicated, arrives as it was).
struct Fate {
  bool lost = false;  ///< also where the way is cut, or to a node that does not exist
  bool duplicated = false;
  bool corrupted = false;
  bool held_back = false;
};

/// By node: clocks until a copy comes to it, behind the faults; nothing: it gets none.
using Distances = std::vector<std::optional<uint32_t>>;
/// Of a multicast group, by sender.
using MulticastClocks = std::vector<Distances>;

/// Routers between the nodes.
struct Routers {
  TorusConfig torus;
  uint32_t flit_bytes = 32;  ///< that a link takes in a cycle, at least 1; a packet of none is one flit
};

/// What routers with so many links between them take to copy a packet of one flit on to a node, nothing else
/// being under way.
constexpr uint32_t copy_clocks(uint32_t hops, uint32_t link_clocks) {
  return 1 + entry_clocks + hops * (router_clocks + link_clocks);  // the network hands it over in one
}

class Network {
 public:
  /// An ideal network. Every node draws from its own random stream, so its faults do not depend on the
  /// traffic of others.
  Network(uint32_t nodes, const Faults& faults, uint64_t seed);
  /// One with routers, as many as nodes.
  Network(const Routers& routers, const Faults& faults, uint64_t seed);
  /// One whose packets this carries, between its nodes.
  Network(std::shared_ptr<Carrier> carrier, const Faults& faults, uint64_t seed);

  /// Packet enters at `from`. `flow` names what must stay in order between the two nodes (any number).
  Fate send(uint32_t from, uint32_t to, uint64_t flow, Bytes packet);

  /// From now on `address` is that of a group; cuts hold up none of its packets. Throws std::invalid_argument
  /// if it is that of a node, or `clocks` are not by nodes.
  void set_multicast(uint32_t address, MulticastClocks clocks);

  /// One clock cycle passes.
  void tick() {
    step({0, 0, nodes()});
    advance();
  }
  /// The same in two steps: first of each part, in any order or at the same time by threads, which may before
  /// that, in the same clock, send from and receive at nodes of their own part; then, by one of them, the
  /// clock goes on. Parts may be others in each clock. Throws std::out_of_range if the part's number is not
  /// below that of nodes; two of a clock must not have the same.
  void step(const Part& part);
  void advance();

  /// Next packet that has arrived at the node, if any.
  std::optional<Bytes> receive(uint32_t node);

  /// From now on nothing that enters at `from` gets to `to` (only this direction), nor a copy of it. What is
  /// under way arrives. Faults strike the packets after as they would have without the cut.
  void cut(uint32_t from, uint32_t to) { set_cut(from, to, true); }
  void heal(uint32_t from, uint32_t to) { set_cut(from, to, false); }

  /// A link from router to router, in this direction only (Torus::set_cut). Not of an ideal network.
  void set_link_cut(uint32_t node, uint32_t port, bool cut);

  /// Forgets every packet under way or not yet received. Links stay cut.
  void flush();

  uint32_t nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  /// Nothing under way nor arrived and not yet received. Like counters(), between two clocks.
  bool empty() const { return under_way() == 0; }
  uint64_t now() const { return now_; }
  NetworkCounters counters() const;
  /// Of the routers, if there are any.
  const Torus* torus() const { return torus_ ? &*torus_ : nullptr; }
  /// From the next packet sent on.
  void set_faults(const Faults& faults);

 private:
  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

  struct FlowKey {
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
    uint64_t clock;  // in which it took off
    bool overdue;    // at its end, behind all that were sent in it
    uint32_t from;
    uint64_t number;  // of those from there
    uint32_t to;
    bool is_copy;  // of a multicast: arrives as it is
    Bytes packet;

    /// In which packets come out of the network, or enter what is behind it.
    auto order() const { return std::tuple(due, clock, overdue, from, number); }
    bool operator>(const Flying& other) const { return order() > other.order(); }
  };
  /// From the sender or, of a packet that vanishes, from the node at whose router it does.
  struct Message {
    enum class Kind : uint8_t { arrives, enters_routers, vanishes };
    Kind kind;
    uint32_t handle;  // in the routers
    Flying flying;
  };
  /// What is of one node, and of the thread that steps it.
  struct Node {
    Node(uint32_t its_number, uint32_t nodes, uint64_t seed);

    uint32_t number;
    RandomStream fate;
    RandomStream bit_errors;  // apart, so that bit errors do not shift the fates of later packets
    std::vector<bool> cut;    // by receiver
    std::unordered_map<FlowKey, Flow, FlowHash> flows;  // that go out here
    std::size_t sweep_at = 64;                          // so many of these: those gone quiet are forgotten
    uint64_t next_deadline = never;                     // of packets held back
    std::priority_queue<Flying, std::vector<Flying>, std::greater<>> flying;  // from here
    uint64_t flown = 0;                                                       // of these, ever
    uint32_t next_handle;

    uint64_t collected = 0;        // clock until which arrivals are
    std::vector<Flying> arriving;  // in this clock
    PacketStore in_routers;        // to here
    Ring<Bytes> arrived;
    NetworkCounters counters;
  };

  void copy(Node& node, const Distances& clocks, uint64_t flight, Fate fate, const Bytes& packet);
  void set_cut(uint32_t from, uint32_t to, bool cut);
  static void corrupt(Bytes& packet, RandomStream& random);
  void fly(Node& node, uint32_t to, uint64_t due, Bytes packet, bool overdue = false, bool is_copy = false);
  void fly_in_order(Node& node, Flow& flow, uint32_t to, uint64_t due, Bytes packet, bool overdue = false);
  void pass_held(Node& node, Flow& flow);
  void release_passed(Node& node, Flow& flow, bool overdue);
  void release_overdue(Node& node);
  void forget_quiet_flows(Node& node) const;
  void collect(Node& node);
  void take(Node& node, Message& message);
  void let_out(Node& node, uint32_t part);
  void enter_routers(Node& node, uint32_t part, Flying& flying);
  void tell_lost(Node& node, uint32_t part);
  void step_carrier();
  void enter_carrier();
  uint64_t under_way() const;

  Faults faults_;
  std::vector<Node> nodes_;
  Mail<Message> mail_;  // to nodes by number; behind them, to the carrier
  uint64_t now_ = 0;
  uint64_t flushed_ = 0;                                     // packets
  std::unordered_map<uint32_t, MulticastClocks> multicast_;  // by address

  std::optional<Routers> routers_;
  std::optional<Torus> torus_;

  std::shared_ptr<Carrier> carrier_;
  std::vector<Flying> entering_carrier_;
  PacketStore in_carrier_;
  uint32_t next_carrier_handle_ = 0;
  uint64_t lost_in_carrier_ = 0;
};

}  // namespace weft::fabric
