// SPDX-License-Identifier: Apache-2.0
// Timeouts as measured: what the engine knows of round trips, after RFC 6298 (docs/rdma.md, Timeouts as
// measured).
#pragma once

#include <cstdint>
#include <optional>

#include "rdma/params.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// Smoothed duration and its variation, in ticks, and the timeout that follows.
class RoundTrip {
 public:
  void sample(uint16_t ticks);

  /// srtt + max(1, srtt, 4 rttvar), longest_timeout at the most; nothing before the first sample.
  std::optional<uint16_t> timeout() const;

  bool operator==(const RoundTrip&) const = default;

 private:
  bool known_ = false;
  uint32_t srtt_ = 0;    // eighths of a tick
  uint32_t rttvar_ = 0;  // quarters of a tick
};

/// One measurement at a time, from an event of a context to a later one of the same.
class Stopwatch {
 public:
  struct Event {
    uint16_t id = 0;
    uint16_t now = 0;  // ticks
    bool begins = false, ends = false, cancels = false;
  };

  void see(const Event& event);
  const RoundTrip& round_trip() const { return round_trip_; }

 private:
  struct Begun {
    uint16_t id, now;
  };
  std::optional<Begun> begun_;
  RoundTrip round_trip_;
};

/// What the receiver measures: from a grant to its first packet, and from one packet at WBASE to the next if
/// that comes in order.
class ReceiverTimes {
 public:
  void see(formats::Outcome outcome, uint16_t cid, uint16_t now);
  /// The longer one of both; nothing before a grant was answered.
  std::optional<uint16_t> timeout() const;

 private:
  Stopwatch answer_, pace_;
};

/// What the sender measures: from a request to its answer.
class SenderTimes {
 public:
  void see(formats::Outcome outcome, uint16_t sid, uint16_t now);
  std::optional<uint16_t> timeout() const { return request_.round_trip().timeout(); }

 private:
  Stopwatch request_;
};

/// The timeout in use, where registers say `set` at the most; in paper mode it is that.
uint16_t timeout_in_use(const Config& config, std::optional<uint16_t> measured, uint16_t set);

/// How often a timeout is doubled after `in_vain` of them; in paper mode it is not.
uint8_t doublings(const Config& config, uint8_t in_vain);

}  // namespace weft::rdma
