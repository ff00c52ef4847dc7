// SPDX-License-Identifier: Apache-2.0
// What a NIC with a barrier engine shows of it, beside the pins that it shares with the RDMA engine.
#pragma once

#include <array>
#include <cstdint>

namespace weft::tb {

struct BarrierTrace {
  bool event = false;  ///< for one clock, likewise all others
  uint8_t what = 0;    ///< 0 to 2: command, 3: packet, 4: tick
  uint32_t group = 0;
  std::array<uint8_t, 32> packet{};
  bool overrun = false;  ///< the packet that was just checked is dropped
  bool arrived = false;
  std::array<uint8_t, 32> arrival{};  ///< of a packet that is none: zero
  bool told = false;
  std::array<uint8_t, 8> completion{};
  bool irq = false;      ///< of the barrier's completion ring
  bool any_irq = false;  ///< the NIC's
};

/// A model of a NIC that may have a barrier engine.
class BarrierTap {
 public:
  virtual ~BarrierTap() = default;
  virtual bool has_barrier() const = 0;
  /// As of the last settling.
  virtual const BarrierTrace& barrier() const = 0;
};

}  // namespace weft::tb
