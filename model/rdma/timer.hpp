// SPDX-License-Identifier: Apache-2.0
// Timer arithmetic: 16-bit ticks, durations are differences modulo 2^16 (docs/rdma.md, Interfaces).
#pragma once

#include <cstdint>

namespace weft::rdma {

inline constexpr uint16_t tick_mask = 0xffff;

/// Tick at which a timer was restarted last.
class Timer {
 public:
  void restart(uint16_t now) { start_ = now & tick_mask; }

  /// Ticks since the restart, modulo 2^16.
  uint16_t elapsed(uint16_t now) const { return static_cast<uint16_t>(now - start_) & tick_mask; }

  bool due(uint16_t now, uint16_t timeout) const { return elapsed(now) >= at_least_one(timeout); }

  /// Ticks past the moment the timer was due, 0 if it is not due.
  uint32_t overdue(uint16_t now, uint16_t timeout) const {
    return due(now, timeout) ? elapsed(now) - at_least_one(timeout) : 0u;
  }

  bool operator==(const Timer&) const = default;

 private:
  static uint16_t at_least_one(uint16_t timeout) { return timeout == 0 ? 1 : timeout; }

  uint16_t start_ = 0;
};

}  // namespace weft::rdma
