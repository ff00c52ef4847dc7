// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream of packets: a driver with pauses, a sink that pauses, and a monitor that collects packets as
// bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "common/findings.hpp"
#include "common/pause.hpp"
#include "common/pins.hpp"
#include "common/stable.hpp"

namespace weft::tb {

using Bytes = std::vector<uint8_t>;

/// Sends packets one after the other; a packet starts in a new beat.
class AxisDriver {
 public:
  /// @param data_bytes bus width
  AxisDriver(uint32_t data_bytes, PauseGenerator pause) : data_bytes_(data_bytes), pause_(pause) {}

  void push(Bytes packet) { queue_.push_back(std::move(packet)); }
  size_t pending() const { return queue_.size(); }
  void reset();

  /// Before the clock edge: sets valid and the beat.
  void drive(AxisPins& pins);
  /// With settled signals: sees whether the beat was taken.
  void sample(const AxisPins& pins);

 private:
  void load_beat(AxisBeat& beat) const;

  uint32_t data_bytes_;
  PauseGenerator pause_;
  std::deque<Bytes> queue_;
  size_t offset_ = 0;     // into the first packet
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
  void check_keep(const AxisBeat& beat, const Reporter& reporter) const;

  std::string name_;
  uint32_t data_bytes_;
  OnPacket on_packet_;
  StableCheck<AxisBeat> stable_;
  Bytes packet_;
  uint64_t beats_ = 0;
};

}  // namespace weft::tb
