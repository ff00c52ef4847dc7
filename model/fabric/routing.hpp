// SPDX-License-Identifier: Apache-2.0
// Which virtual channels a packet may take next.
//
// Free of deadlock:
// * dimension order: in a mesh no cycle of links is possible. In a torus a packet stays in the lower half of
// the channels of a
//   ring if its way there does not cross the edge between highest and lowest coordinate, else in the upper
//   half. No shortest way that crosses the edge uses the link opposite to it, and none that does not uses the
//   edge, so neither half has a cycle (Dally, Seitz, IEEE Trans. Computers C-36(5), 1987).
// * minimal adaptive: whoever waits in front may always take the escape channel of the way in dimension
// order (but a node's packet that is kept out, for a while: nobody waits for what has not entered), channel 1
//   if the rest of the way in that dimension crosses the edge, else 0, and may leave it again (Duato, IEEE
//   Trans. Parallel and Distributed Systems 4(12), 1993). Between escape channels, also by adaptive ones
//   between them, dimensions only go up, within one the way only goes on, and from channel 1 to 0 only: no
//   cycle.
//   This needs that nobody holds a channel while his first flit waits behind another packet in an adaptive
//   one, where he could not take the escape. So a packet goes to an adaptive channel only if the buffer
//   behind the link takes all of it, and it then holds nothing else, or is empty, and it then is in front
//   (Ma, Enright Jerger, Wang, HPCA 2012, whole packet forwarding). Escapes need no such rule: who is behind
//   another in one waits for him as a channel in dimension order does.
#pragma once

#include <cstdint>

#include "fabric/geometry.hpp"
#include "fabric/lanes.hpp"
#include "fabric/random.hpp"

namespace weft::fabric {

enum class Algorithm : uint8_t {
  dimension_order,   ///< one path for a pair, but for ways of half a ring, whose direction is drawn
  minimal_adaptive,  ///< any shortest path
};

class Routing {
 public:
  /// Throws std::invalid_argument if there are too few channels for the algorithm.
  Routing(const Geometry& geometry, Algorithm algorithm, uint32_t channels);

  /// Lanes of the router's outputs that a packet may take which has come by lane `from` and goes to `to`.
  Lanes next(uint32_t here, uint32_t from, uint32_t to, RandomStream& random) const;

  /// Of these, only when no other one is free.
  Lanes escapes() const { return escapes_; }
  bool adaptive() const { return algorithm_ == Algorithm::minimal_adaptive; }

 private:
  Lanes in_order(uint32_t here, uint32_t from, uint32_t to, RandomStream& random) const;
  Lanes any_shortest(uint32_t here, uint32_t to) const;
  Lanes channels(uint32_t port, uint32_t first, uint32_t behind) const;
  bool crosses_edge(uint32_t here, uint32_t to, uint32_t port) const;

  const Geometry& geometry_;
  Algorithm algorithm_;
  uint32_t channels_;
  Lanes escapes_ = 0;
};

}  // namespace weft::fabric
