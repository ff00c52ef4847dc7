// SPDX-License-Identifier: Apache-2.0
// A torus or mesh of routers with virtual channels, clock by clock.
//
// Packets are so many flits, of which a link takes one a clock. What happens in a clock follows from what was
// sent at least two clocks before, so the order in which routers are stepped changes nothing, and threads may
// step parts of them at the same time. Nothing is allocated any more once queues have grown to what they
// need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/geometry.hpp"
#include "fabric/ring.hpp"
#include "fabric/router.hpp"
#include "fabric/routing.hpp"

namespace weft::fabric {

struct TorusConfig {
  Sizes sizes{4, 4, 4};
  bool joined = true;  ///< torus; else mesh
  Algorithm algorithm = Algorithm::dimension_order;
  uint32_t channels = 4;  ///< of a link; at least 2 in a torus, 1 in a mesh, one more if adaptive; at most 8
  uint32_t buffer_flits = 8;      ///< of each channel, 1 to 255
  uint32_t link_clocks = 1;       ///< from router to router, 1 to 1,000
  uint32_t entry_patience = 256;  ///< adaptive: clocks for which a node's packet in front is refused at most
                                  ///< while its ways are not quiet (router.hpp); 0: never
  double link_loss = 0;           ///< probability that a packet vanishes on a link from router to router
};

/// Without others under way a packet of one flit takes so many clocks from send() to arrived(), and so many
/// more, with its link, for each router behind the first.
inline constexpr uint32_t entry_clocks = 7;
inline constexpr uint32_t router_clocks = 4;

class Torus {
 public:
  /// Throws std::invalid_argument for what is not within these limits.
  Torus(const TorusConfig& config, uint64_t seed);
  Torus(const Torus&) = delete;
  Torus& operator=(const Torus&) = delete;

  const Geometry& geometry() const { return geometry_; }

  /// A packet of 1 to 65,535 flits waits at `from` until they have entered the network one by one.
  /// @param handle the caller's, told when it arrives or is lost
  void send(uint32_t from, uint32_t to, uint32_t flits, uint32_t handle);

  /// From now on packets that begin to cross this link vanish; one direction only.
  void set_cut(uint32_t node, uint32_t port, bool cut);

  /// Forgets every packet; random numbers begin anew, links stay cut.
  void flush();

  /// One clock of the nodes from `first` to `behind` - 1 and of their routers. Threads may do so at the same
  /// time for nodes of their own, and hand over packets that these send; then one calls advance().
  void step(uint32_t first, uint32_t behind);
  void advance() { ++now_; }
  /// One clock of all.
  void tick() {
    step(0, geometry_.nodes());
    advance();
  }

  /// The packet whose last flit came out at this node in the last clock, if any.
  std::optional<uint32_t> arrived(uint32_t node) const {
    return nodes_[node].has_arrived ? std::optional(nodes_[node].arrived) : std::nullopt;
  }
  /// Last flits, with handle and destination, of packets that vanished behind this node's router: those that
  /// did so in the last clock.
  std::span<const Flit> lost(uint32_t node) const { return routers_[node].lost(); }

  uint64_t now() const { return now_; }
  bool empty() const { return sent_flits() == arrived_flits() + lost_flits(); }
  uint64_t sent_flits() const;
  uint64_t arrived_flits() const;
  uint64_t lost_flits() const;
  /// Links between routers crossed by flits.
  uint64_t flit_hops() const;

 private:
  /// A node's side of its link: packets that wait, and the packet that enters.
  struct Node {
    explicit Node(const TorusConfig& config);
    struct Waiting {
      uint32_t to = 0;
      uint32_t flits = 0;
      uint32_t handle = 0;
    };
    Calendar calendar;
    Ring<Waiting> waiting;
    uint32_t entered = 0;  ///< flits of the first packet
    uint32_t channel = 0;  ///< by which it enters, or the last one did
    std::array<uint32_t, max_channels> credits{};
    bool has_arrived = false;
    uint32_t arrived = 0;
    uint64_t sent_flits = 0, arrived_flits = 0;
  };

  void build();
  void take(uint32_t node);
  void enter(uint32_t node);
  bool find_channel(Node& node) const;

  TorusConfig config_;
  uint64_t seed_;
  Geometry geometry_;
  Routing routing_;
  std::vector<Router> routers_;
  std::vector<Node> nodes_;
  uint64_t now_ = 0;
};

}  // namespace weft::fabric
