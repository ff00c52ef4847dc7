// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream of packets: a driver with pauses, a sink that pauses, and monitors that collect packets as
// bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/findings.hpp"
#include "common/pause.hpp"
#include "common/pins.hpp"
#include "common/stable.hpp"

namespace weft::tb {

using Bytes = std::vector<uint8_t>;

/// So many ones, from the lowest bit on, as tkeep and strobes have them.
constexpr uint64_t low_bits(uint32_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

/// A packet cut into beats, the first flit lowest.
std::vector<AxisBeat> beats_of(const Bytes& packet, uint32_t data_bytes);

/// Sends packets one after the other; a packet starts in a new beat.
class AxisDriver {
 public:
  /// @param data_bytes bus width
  AxisDriver(uint32_t data_bytes, PauseGenerator pause) : data_bytes_(data_bytes), pause_(pause) {}

  void push(const Bytes& packet) { push_beats(beats_of(packet, data_bytes_)); }
  /// Beats as they are, whatever rule they break.
  void push_beats(std::span<const AxisBeat> beats) {
    queue_.insert(queue_.end(), beats.begin(), beats.end());
  }
  /// Beats not yet taken.
  size_t pending() const { return queue_.size(); }
  void reset();

  /// Before the clock edge: sets valid and the beat.
  void drive(AxisPins& pins);
  /// With settled signals: sees whether the beat was taken.
  void sample(const AxisPins& pins);

 private:
  uint32_t data_bytes_;
  PauseGenerator pause_;
  std::deque<AxisBeat> queue_;
  bool offered_ = false;  // a beat is on the bus and must stay there
};

/// Takes beats, with pauses.
class AxisSink {
 public:
  explicit AxisSink(PauseGenerator pause) : pause_(pause) {}
  void drive(AxisPins& pins) { pins.ready = !stalled_ && !pause_.pause(); }

  /// Takes nothing at all from now on, or goes on.
  void stall(bool on) { stalled_ = on; }

 private:
  PauseGenerator pause_;
  bool stalled_ = false;
};

/// Collects the packets that pass and checks the protocol: beats stay until taken, tkeep marks whole flits
/// from the lowest on, only the last beat is partial.
class AxisMonitor {
 public:
  using OnPacket = std::function<void(Bytes)>;

  AxisMonitor(std::string name, uint32_t data_bytes, OnPacket on_packet)
      : name_(std::move(name)), data_bytes_(data_bytes), on_packet_(std::move(on_packet)), stable_(name_) {}

  void sample(const AxisPins& pins, const Reporter& reporter);
  void reset();

  uint64_t beats() const { return beats_; }

 private:
  std::string name_;
  uint32_t data_bytes_;
  OnPacket on_packet_;
  StableCheck<AxisBeat> stable_;
  Bytes packet_;
  uint64_t beats_ = 0;
};

/// Collects the packets that come from a network, which may break every rule of tkeep: then there are no
/// flits to speak of.
class AxisArrivals {
 public:
  /// Nothing: the packet broke a rule of tkeep.
  using OnPacket = std::function<void(std::optional<Bytes>)>;

  AxisArrivals(std::string name, uint32_t data_bytes, OnPacket on_packet)
      : data_bytes_(data_bytes), on_packet_(std::move(on_packet)), stable_(std::move(name)) {}

  void sample(const AxisPins& pins, const Reporter& reporter);
  void reset();

 private:
  uint32_t data_bytes_;
  OnPacket on_packet_;
  StableCheck<AxisBeat> stable_;
  std::optional<Bytes> packet_ = Bytes{};
};

}  // namespace weft::tb
