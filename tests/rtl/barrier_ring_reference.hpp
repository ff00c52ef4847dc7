// SPDX-License-Identifier: Apache-2.0
// Completion ring of the barrier engine, as docs/barrier.md (Inside the NIC) and docs/barrier_ring_formats.md
// describe it: what software may write and reads, and which entry lies where in host memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "weft/barrier/formats.hpp"
#include "weft/barrier_ring/formats.hpp"

namespace weft::rtl_test {

namespace ring = barrier_ring::formats;

class BarrierRingReference {
 public:
  struct Entry {
    uint64_t address;
    ring::Entry fields;
  };

  explicit BarrierRingReference(unsigned address_bits) : address_bits_(address_bits) {}

  bool enabled() const { return enabled_; }
  bool writing() const { return writing_; }
  bool failed() const { return failed_; }
  /// A completion whose entry could not be written.
  bool keeps() const { return kept_; }
  unsigned log2() const { return log2_; }
  uint16_t head() const { return head_; }
  uint16_t tail() const { return tail_; }
  uint32_t errors() const { return errors_; }
  uint16_t waiting() const { return static_cast<uint16_t>(tail_ - head_); }
  bool irq() const { return irq_enabled_ && (waiting() != 0 || failed_); }

  /// There is room, and nothing under way.
  bool begins() const { return enabled_ && !writing_ && waiting() < (1u << log2_); }
  bool takes() const { return begins() && !kept_; }

  void take(uint64_t completion) {
    told_ = completion;
    writing_ = true;
  }
  /// The kept one is written again.
  void repeat() {
    kept_ = false;
    writing_ = true;
  }
  /// The one that is under way.
  Entry entry() const {
    const auto told = barrier::formats::unpack_completion(bytes_of(told_));
    Entry entry{base_ + ring::entry_bytes * uint64_t{tail_ % (1u << log2_)}, {}};
    entry.fields.told = told_;
    entry.fields.opcode = static_cast<uint8_t>(ring::EntryOpcode::barrier);
    entry.fields.phase = (tail_ >> log2_) % 2 == 0;
    if (told.ending != static_cast<uint8_t>(barrier::formats::Ending::ok)) {
      entry.fields.status = static_cast<uint8_t>(ring::EntryStatus::dead_peer);
      entry.fields.node = told.dead;
    }
    return entry;
  }
  void answer(bool ok) {
    writing_ = false;
    if (ok) {
      ++tail_;
      return;
    }
    kept_ = failed_ = true;
    enabled_ = false;
    ++errors_;
  }

  bool allows(uint32_t address, uint32_t data, uint8_t strobes) const {
    const bool closed = !enabled_ && !writing_;
    const bool fits = strobes == 15;
    switch (address) {
      case ring::reg::BASE_LO:
      case ring::reg::BASE_HI:
        return fits && closed;
      case ring::reg::LOG2:
        return fits && closed && data >= 1 && data >> ring::width::LOG2 == 0;
      case ring::reg::ENABLE:
        return fits && (data == 0 || (data == 1 && closed && base_is_good()));
      case ring::reg::IRQ_ENABLE:
        return fits && data <= 1;
      case ring::reg::HEAD:
        return fits && data >> ring::width::HEAD == 0 && static_cast<uint16_t>(data - head_) <= waiting();
      default:
        return false;
    }
  }
  /// What is allowed.
  void write(uint32_t address, uint32_t data) {
    switch (address) {
      case ring::reg::BASE_LO:
        base_ = (base_ >> 32 << 32) | data;
        break;
      case ring::reg::BASE_HI:
        base_ = (base_ & 0xffff'ffff) | uint64_t{data} << 32;
        break;
      case ring::reg::LOG2:
        log2_ = data;
        break;
      case ring::reg::IRQ_ENABLE:
        irq_enabled_ = data == 1;
        break;
      case ring::reg::HEAD:
        head_ = static_cast<uint16_t>(data);
        break;
      default:
        enabled_ = data == 1;
        if (!enabled_) break;
        head_ = tail_ = 0;
        failed_ = false;
    }
  }
  std::optional<uint32_t> read(uint32_t address) const {
    switch (address) {
      case ring::reg::ID:
        return ring::reset::ID;
      case ring::reg::VERSION:
        return ring::reset::VERSION;
      case ring::reg::BASE_LO:
        return static_cast<uint32_t>(base_);
      case ring::reg::BASE_HI:
        return static_cast<uint32_t>(base_ >> 32);
      case ring::reg::LOG2:
        return log2_;
      case ring::reg::ENABLE:
        return enabled_;
      case ring::reg::IRQ_ENABLE:
        return irq_enabled_;
      case ring::reg::HEAD:
        return head_;
      case ring::reg::TAIL:
        return tail_;
      case ring::reg::STATE:
        return enabled_ | writing_ << 1 | failed_ << 2;
      case ring::reg::ERRORS:
        return errors_;
      default:
        return std::nullopt;
    }
  }

 private:
  static std::array<uint8_t, 8> bytes_of(uint64_t word) {
    return std::bit_cast<std::array<uint8_t, 8>>(word);
  }
  bool base_is_good() const {
    return base_ % (uint64_t{ring::entry_bytes} << log2_) == 0 &&
           (address_bits_ == 64 || base_ >> address_bits_ == 0);
  }

  unsigned address_bits_;
  uint64_t base_ = 0, told_ = 0;
  unsigned log2_ = ring::reset::LOG2;
  uint32_t errors_ = 0;
  uint16_t head_ = 0, tail_ = 0;
  bool enabled_ = false, irq_enabled_ = false, failed_ = false, writing_ = false, kept_ = false;
};

}  // namespace weft::rtl_test
