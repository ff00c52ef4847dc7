// SPDX-License-Identifier: Apache-2.0
// What may carry packets between the nodes of a Network, behind its faults, in place of routers: any model of
// a fabric that tells when a packet has arrived, or that it is lost.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::fabric {

class Carrier {
 public:
  /// A packet by the number that it was sent with.
  struct Arrival {
    uint32_t node = 0;
    uint32_t handle = 0;
  };

  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  virtual uint32_t nodes() const = 0;
  /// A packet, of whatever length; several may come from a node in one clock. Handles of packets under way
  /// are unlike.
  virtual void send(uint32_t from, uint32_t to, uint32_t handle) = 0;
  /// One clock.
  virtual void step() = 0;
  /// In the last clock.
  virtual const std::vector<Arrival>& arrived() const = 0;
  virtual const std::vector<uint32_t>& lost() const = 0;
  /// Nothing that was sent so far is told of any more.
  virtual void flush() = 0;
};

}  // namespace weft::fabric
