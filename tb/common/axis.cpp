// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream driver and monitor.
#include "common/axis.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::tb {

namespace {
uint64_t low_bits(uint32_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }
}  // namespace

void AxisDriver::reset() {
  queue_.clear();
  offset_ = 0;
  offered_ = false;
}

void AxisDriver::load_beat(AxisBeat& beat) const {
  const Bytes& packet = queue_.front();
  const auto count = static_cast<uint32_t>(std::min<size_t>(data_bytes_, packet.size() - offset_));
  beat.data.fill(0);
  std::memcpy(beat.data.data(), packet.data() + offset_, count);
  beat.keep = low_bits(count);
  beat.last = offset_ + count == packet.size();
}

void AxisDriver::drive(AxisPins& pins) {
  if (offered_) return;
  pins.valid = !queue_.empty() && !pause_.pause();
  if (!pins.valid) return;
  load_beat(pins.beat);
  offered_ = true;
}

void AxisDriver::sample(const AxisPins& pins) {
  if (!pins.valid || !pins.ready) return;
  offered_ = false;
  offset_ += data_bytes_;
  if (!pins.beat.last) return;
  queue_.pop_front();
  offset_ = 0;
}

void AxisMonitor::reset() {
  stable_.reset();
  packet_.clear();
}

void AxisMonitor::check_keep(const AxisBeat& beat, const Reporter& reporter) const {
  const int count = std::popcount(beat.keep);
  if (beat.keep != low_bits(static_cast<uint32_t>(count)) || count == 0) {
    reporter.add(name_ + ": tkeep has holes or is empty");
  } else if (!beat.last && static_cast<uint32_t>(count) != data_bytes_) {
    reporter.add(name_ + ": tkeep is not full before the last beat");
  } else if (count % 32 != 0) {
    reporter.add(name_ + ": tkeep does not mark whole flits");
  }
}

void AxisMonitor::sample(const AxisPins& pins, const Reporter& reporter) {
  stable_.sample(pins.valid, pins.ready, pins.beat, reporter);
  if (!pins.valid || !pins.ready) return;
  beats_++;
  check_keep(pins.beat, reporter);
  const auto count = std::min<uint32_t>(data_bytes_, static_cast<uint32_t>(std::popcount(pins.beat.keep)));
  packet_.insert(packet_.end(), pins.beat.data.begin(), pins.beat.data.begin() + count);
  if (!pins.beat.last) return;
  on_packet_(std::move(packet_));
  packet_.clear();
}

}  // namespace weft::tb
