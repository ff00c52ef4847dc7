// SPDX-License-Identifier: Apache-2.0
// Timer arithmetic: 16-bit ticks, durations are differences modulo 2^16 (docs/rdma.md, Interfaces and
// Timers).
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::rdma {

inline constexpr uint16_t tick_mask = 0xffff;
inline constexpr uint16_t longest_timeout = 0x1fff;  // ticks, doubled or not

/// Tick at which a timer was restarted last.
class Timer {
 public:
  /// From now on it ends after its timeout, doubled so often.
  void restart(uint16_t now, uint8_t doublings = 0) {
    start_ = now & tick_mask;
    doublings_ = doublings;
  }

  /// Ticks since the restart, modulo 2^16.
  uint16_t elapsed(uint16_t now) const { return static_cast<uint16_t>(now - start_) & tick_mask; }

  bool due(uint16_t now, uint16_t timeout) const { return elapsed(now) >= limit(timeout); }

  /// Ticks past the moment the timer was due, 0 if it is not due.
  uint32_t overdue(uint16_t now, uint16_t timeout) const {
    return due(now, timeout) ? elapsed(now) - limit(timeout) : 0u;
  }

  bool operator==(const Timer&) const = default;

 private:
  uint16_t limit(uint16_t timeout) const {
    const uint32_t doubled = uint32_t{timeout} << doublings_;
    return static_cast<uint16_t>(std::clamp(doubled, 1u, uint32_t{longest_timeout}));
  }

  uint16_t start_ = 0;
  uint8_t doublings_ = 0;
};

}  // namespace weft::rdma
