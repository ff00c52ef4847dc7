// SPDX-License-Identifier: Apache-2.0
// A router: buffers at its inputs, credits for those of the next ones, and one clock of it.
//
// Clocks of a head that nothing holds up: it arrives and is routed in one, gets its virtual channel in the
// next, the switch in the one after that, then crosses the switch and the link. Virtual channels and switch
// are allocated by one round of iSLIP each (McKeown, IEEE/ACM Trans. Networking 7(2), 1999). A virtual
// channel is free for the next packet when the last flit of one has got the switch; an adaptive one only for
// a packet that fits behind it as a whole, or if the buffer there is empty (routing.hpp says why).
//
// Adaptive routing limits what enters: beyond saturation all adaptive channels would be taken, and the
// escapes alone would drain them, with less than half of the throughput. So a node's packet in front waits
// until its ways are quiet: of the channels that it may take, escapes among them, at least one is free at
// each port, or all are at one (ALO of Baydal, López, Duato, IEEE Trans. Parallel and Distributed Systems
// 16(9), 2005; here with room for the packet as well, or with half of the buffer empty if that is less,
// credits under way counting as taken). Traffic that passes could keep it out for ever, so it is refused for
// TorusConfig::entry_patience clocks at most.
//
// Faults of links strike whole packets: when the first flit gets the switch it is decided whether all of them
// cross the link or vanish there. Those that vanish take their turn in the switch, but no place behind it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/lanes.hpp"
#include "fabric/random.hpp"
#include "fabric/routing.hpp"

namespace weft::fabric {

struct Flit {
  uint32_t handle = 0;       ///< of its packet
  uint32_t to : 20 = 0;      ///< node
  uint32_t channel : 3 = 0;  ///< of the link that it comes by
  uint32_t head : 1 = 0;
  uint32_t tail : 1 = 0;
  uint32_t flits : 6 = 0;  ///< of its packet; most_told_flits: so many, or more
};
inline constexpr uint32_t most_told_flits = 63;
static_assert(max_nodes <= 1u << 20 && max_channels <= 8);

/// What comes in one clock. Each port has a place of its own, so those who write need not know of each other.
struct Slot {
  std::array<uint8_t, 8> came{};     ///< by port: a flit
  std::array<uint8_t, 8> credits{};  ///< by port: channels of which the other side has freed a place
  std::array<Flit, port_count> flits{};
};

/// What comes in the clocks to come.
class Calendar {
 public:
  explicit Calendar(uint32_t clocks_ahead) : slots_(std::bit_ceil(clocks_ahead + 1)) {}
  Slot& at(uint64_t clock) { return slots_[clock & (slots_.size() - 1)]; }

 private:
  std::vector<Slot> slots_;
};

/// The other end of a link: where flits go to and credits come from.
struct Far {
  Calendar* calendar = nullptr;
  uint32_t port = 0;    ///< there
  uint32_t clocks = 0;  ///< of the link
};

/// Clocks from the one in which a flit gets the switch, besides those of the link, to its arrival. A credit
/// for its place leaves in the same clock and needs one.
inline constexpr uint32_t switch_clocks = 2;
inline constexpr uint32_t credit_clocks = 1;

class Router {
 public:
  /// @param longest_link clocks
  /// @param entry_patience with adaptive routing: clocks for which a node's packet in front is refused at
  /// most
  Router(uint32_t node, const Routing& routing, uint32_t channels, uint32_t buffer_flits,
         uint32_t longest_link, uint32_t entry_patience, uint64_t seed);

  Calendar& calendar() { return calendar_; }
  void connect(uint32_t port, const Far& far) { far_[port] = far; }

  /// Of the link behind this port: each packet vanishes there with this probability.
  void set_loss(uint32_t port, double loss);
  /// While the link is cut, all that begin to cross it vanish. Adaptive routing avoids it where another way
  /// is free; a node's packet waits for that as for quiet ways.
  void set_cut(uint32_t port, bool cut);
  bool is_cut(uint32_t port) const { return cut_[port]; }

  /// One clock. Reads what comes in it, writes what comes elsewhere in later ones.
  void step(uint64_t now);

  /// The last flits, of packets that vanished, which did so in the last step().
  std::span<const Flit> lost() const { return lost_; }

  uint64_t flit_hops() const { return flit_hops_; }
  uint64_t lost_flits() const { return lost_flits_; }

 private:
  void note_faults(uint32_t port);
  void take(Slot& slot);
  void take_credits(uint32_t port, uint8_t channels);
  void take_flit(uint32_t port, const Flit& flit);
  void route();
  void allocate_channels();
  Lanes wanted(uint32_t in);
  bool keeps_out(uint32_t in);
  uint32_t places_of(const Flit& head) const;
  bool are_quiet(Lanes ways, uint32_t least) const;
  Lanes with_room(Lanes lanes, uint32_t least) const;
  void allocate_switch(Lanes ready, uint64_t now);
  void pass(uint32_t in, uint64_t now);
  bool vanishes(uint32_t port) {
    const bool lost = link_random_[port].chance(loss_[port]);  // drawn also while the link is cut
    return lost || cut_[port];
  }
  void deliver(uint32_t out, Flit flit, uint64_t now);

  struct Buffer {
    uint16_t first = 0;
    uint16_t count = 0;
    uint8_t out = 0;  ///< lane, of the packet in front
  };
  Flit& front(uint32_t in) { return flits_[in * buffer_flits_ + buffers_[in].first]; }

  const Routing& routing_;
  uint32_t node_;
  uint32_t buffer_flits_;
  uint32_t entry_patience_;
  Calendar calendar_;
  std::array<Far, port_count> far_{};

  // Input lanes whose packet in front
  Lanes to_route_ = 0;  ///< has just come there
  Lanes waiting_ = 0;   ///< waits for an output lane
  Lanes active_ = 0;    ///< has one
  Lanes ready_ = 0;     ///< has one, and a flit is there

  Lanes free_ = 0;        ///< output lanes that no packet has
  Lanes has_credit_ = 0;  ///< output lanes for which there are places
  std::array<uint8_t, lane_count> credits_{};
  std::array<Buffer, lane_count> buffers_{};
  std::array<Lanes, lane_count> may_take_{};      ///< by input lane, what was routed
  std::array<uint32_t, max_channels> refused_{};  ///< by channel of the node: clocks, of the packet in front
  std::vector<Flit> flits_;

  // Where the arbiters look first.
  std::array<uint8_t, lane_count> first_of_output_lane_{};
  std::array<uint8_t, lane_count> first_of_input_lane_{};
  std::array<uint8_t, port_count> first_of_output_{};
  std::array<uint8_t, port_count> first_of_input_{};
  std::array<uint8_t, port_count> first_channel_{};

  // Faults of the links
  std::array<double, port_count> loss_{};
  std::array<bool, port_count> cut_{};
  Lanes faulty_ = 0;     ///< output lanes of links with loss, or cut
  Lanes cut_lanes_ = 0;  ///< of these, of those cut
  Lanes vanishing_ = 0;  ///< output lanes whose packet vanishes
  std::vector<Flit> lost_;

  RandomStream random_;
  std::vector<RandomStream> link_random_;  ///< by port
  uint64_t flit_hops_ = 0, lost_flits_ = 0;
};

}  // namespace weft::fabric
