// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream driver and monitor.
#include "common/axis.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::tb {

namespace {
/// The rule of tkeep that a beat breaks, empty if none.
std::string keep_fault(const AxisBeat& beat, uint32_t data_bytes) {
  const int count = std::popcount(beat.keep);
  if (beat.keep != low_bits(static_cast<uint32_t>(count)) || count == 0) return "tkeep has holes or is empty";
  if (!beat.last && static_cast<uint32_t>(count) != data_bytes) {
    return "tkeep is not full before the last beat";
  }
  if (count % 32 != 0) return "tkeep does not mark whole flits";
  return {};
}

void append(Bytes& packet, const AxisBeat& beat, uint32_t data_bytes) {
  const auto count = std::min<uint32_t>(data_bytes, static_cast<uint32_t>(std::popcount(beat.keep)));
  packet.insert(packet.end(), beat.data.begin(), beat.data.begin() + count);
}
}  // namespace

std::vector<AxisBeat> beats_of(const Bytes& packet, uint32_t data_bytes) {
  std::vector<AxisBeat> beats;
  for (size_t offset = 0; offset < packet.size(); offset += data_bytes) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(data_bytes, packet.size() - offset));
    AxisBeat& beat = beats.emplace_back();
    std::memcpy(beat.data.data(), packet.data() + offset, count);
    beat.keep = low_bits(count);
    beat.last = offset + count == packet.size();
  }
  return beats;
}

void AxisDriver::reset() {
  queue_.clear();
  offered_ = false;
}

void AxisDriver::drive(AxisPins& pins) {
  if (offered_) return;
  pins.valid = !queue_.empty() && !pause_.pause();
  if (!pins.valid) return;
  pins.beat = queue_.front();
  offered_ = true;
}

void AxisDriver::sample(const AxisPins& pins) {
  if (!pins.valid || !pins.ready) return;
  offered_ = false;
  queue_.pop_front();
}

void AxisMonitor::reset() {
  stable_.reset();
  packet_.clear();
}

void AxisMonitor::sample(const AxisPins& pins, const Reporter& reporter) {
  stable_.sample(pins.valid, pins.ready, pins.beat, reporter);
  if (!pins.valid || !pins.ready) return;
  beats_++;
  const std::string fault = keep_fault(pins.beat, data_bytes_);
  if (!fault.empty()) reporter.add(name_ + ": " + fault);
  append(packet_, pins.beat, data_bytes_);
  if (!pins.beat.last) return;
  on_packet_(std::move(packet_));
  packet_.clear();
}

void AxisArrivals::reset() {
  stable_.reset();
  packet_ = Bytes{};
}

void AxisArrivals::sample(const AxisPins& pins, const Reporter& reporter) {
  stable_.sample(pins.valid, pins.ready, pins.beat, reporter);
  if (!pins.valid || !pins.ready) return;
  if (!keep_fault(pins.beat, data_bytes_).empty()) packet_.reset();
  if (packet_) append(*packet_, pins.beat, data_bytes_);
  if (!pins.beat.last) return;
  on_packet_(std::move(packet_));
  packet_ = Bytes{};
}

}  // namespace weft::tb
