// SPDX-License-Identifier: Apache-2.0
// A torus or mesh of routers with virtual channels, clock by clock.
//
// Packets are so many flits, of which a link takes one a clock. What happens in a clock follows from what was
// sent at least two clocks before, so the order in which routers are stepped changes nothing. Nothing is
// allocated any more once queues have grown to what they need.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "fabric/geometry.hpp"
#include "fabric/router.hpp"
#include "fabric/routing.hpp"

namespace weft::fabric {

struct TorusConfig {
  Sizes sizes{4, 4, 4};
  bool joined = true;  ///< torus; else mesh
  Algorithm algorithm = Algorithm::dimension_order;
  uint32_t channels = 4;  ///< of a link; at least 2 in a torus, 1 in a mesh, one more if adaptive; at most 8
  uint32_t buffer_flits = 8;  ///< of each channel, 1 to 255
  uint32_t link_clocks = 1;   ///< from router to router, 1 to 1,000
};

class Torus {
 public:
  /// Throws std::invalid_argument for what is not within these limits.
  Torus(const TorusConfig& config, uint64_t seed);

  const Geometry& geometry() const { return geometry_; }

  /// A packet of 1 to 65,535 flits waits at `from` until they have entered the network one by one.
  /// @param handle the caller's, told when it arrives
  void send(uint32_t from, uint32_t to, uint32_t flits, uint32_t handle);

  /// One clock.
  void tick();

  struct Arrival {
    uint32_t node;
    uint32_t handle;
  };
  /// Packets whose last flit came out in the last tick(), by node.
  std::span<const Arrival> arrivals() const { return arrivals_; }

  uint64_t now() const { return now_; }
  bool empty() const { return sent_flits_ == arrived_flits_; }
  uint64_t sent_flits() const { return sent_flits_; }
  uint64_t arrived_flits() const { return arrived_flits_; }
  /// Links between routers crossed by flits.
  uint64_t flit_hops() const;

 private:
  /// A node's side of its link: packets that wait, and the packet that enters.
  struct Node {
    explicit Node(const TorusConfig& config);
    struct Waiting {
      uint32_t to;
      uint32_t flits;
      uint32_t handle;
    };
    Calendar calendar;
    std::deque<Waiting> waiting;
    uint32_t entered = 0;  ///< flits of the first packet
    uint32_t channel = 0;  ///< by which it enters, or the last one did
    std::array<uint32_t, max_channels> credits{};
  };

  void take(uint32_t node);
  void enter(uint32_t node);
  bool find_channel(Node& node) const;

  TorusConfig config_;
  Geometry geometry_;
  Routing routing_;
  std::vector<Router> routers_;
  std::vector<Node> nodes_;
  std::vector<Arrival> arrivals_;
  uint64_t now_ = 0;
  uint64_t sent_flits_ = 0, arrived_flits_ = 0;
};

}  // namespace weft::fabric
