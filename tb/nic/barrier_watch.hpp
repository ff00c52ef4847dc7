// SPDX-License-Identifier: Apache-2.0
// The barrier engine of a NIC beside its golden model: each event that the RTL takes is given to the model,
// and what both then send, tell and refuse is compared, down to the entries of the completion ring.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrier/engine.hpp"
#include "barrier/packet.hpp"
#include "barrier_tap.hpp"
#include "rdma_node.hpp"

namespace weft::tb {

/// What of a NIC's parameters the watch must know.
struct BarrierSize {
  uint32_t groups = 4, members = 64, nodes = 64;
};

/// Differences are reported as the node's. To be made before the node leaves reset for the first time, or
/// while it is in reset.
class BarrierWatch : public PortSharer {
 public:
  BarrierWatch(RdmaNode& node, uint32_t window, const BarrierSize& size);
  ~BarrierWatch() override { node_.share_ports(nullptr); }
  BarrierWatch(const BarrierWatch&) = delete;
  BarrierWatch& operator=(const BarrierWatch&) = delete;

  /// The node was reset.
  void reset();

  bool owns_packet(std::span<const uint8_t> packet) const override {
    return barrier::begins_like_packet(packet);
  }
  void left(std::span<const uint8_t> packet) override;
  bool owns(uint64_t address) const override;
  void wrote(const WrittenBurst& burst) override;
  void answered(bool ok) override;

  /// Packets of barriers that have left, entries that are in memory.
  uint64_t packets_left() const { return packets_left_; }
  uint64_t entries_written() const { return entries_written_; }
  uint64_t malformed() const { return malformed_; }
  uint64_t overruns() const { return overruns_; }
  uint64_t write_errors() const { return write_errors_; }
  bool irq() const { return tap_.barrier().irq; }
  /// Nothing that the model has sent or told is still inside.
  bool quiet() const { return packets_.empty() && told_.empty() && !writing_; }

  /// Reads the engine's counters and reports those that are not as the model's; they are there once the
  /// node's registers are idle.
  void compare_counters();

 private:
  using Pins = RdmaPins;

  void sample(const Pins& pins);
  void follow_writes(const AxiLitePins& pins);
  void written(uint32_t address, uint32_t data);
  void ring_written(uint32_t address, uint32_t data);
  void event(const BarrierTrace& trace);
  void told(const BarrierTrace& trace);
  void check_interrupts(const Pins& pins);
  void require(bool holds, const std::string& what);
  void compare_counter(uint32_t reg, uint64_t expected, const std::string& name);
  barrier::GroupSettings settings(uint32_t group) const;
  uint64_t ring_bytes() const;
  uint32_t value(uint32_t reg) const { return values_.at(reg); }

  RdmaNode& node_;
  const BarrierTap& tap_;
  uint32_t window_;
  BarrierSize size_;
  std::optional<barrier::Engine> golden_;
  // registers
  uint32_t address_ = 0, data_ = 0;
  uint8_t strobes_ = 0;
  bool write_under_way_ = false;
  std::map<uint32_t, uint32_t> values_, ring_values_;
  std::vector<std::vector<uint16_t>> tables_;
  std::optional<barrier::Refusal> refusal_;  // of the command under way
  // packets and completions on their way
  std::deque<barrier::PacketBytes> accepted_, packets_;
  std::deque<barrier::Completion> completions_, told_;  // the latter: the ring has taken them
  // ring
  uint16_t tail_ = 0, head_ = 0;
  bool failed_ = false, writing_ = false;
  int irq_settles_ = 0;
  uint64_t malformed_ = 0, overruns_ = 0, taken_ = 0, packets_left_ = 0, entries_written_ = 0,
           write_errors_ = 0;
};

}  // namespace weft::tb
