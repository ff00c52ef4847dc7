// SPDX-License-Identifier: Apache-2.0
// Host driver of a NIC's barrier engine: groups, arriving, and completions from a ring in host memory
// (docs/barrier.md, Inside the NIC).
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "driver/register_bus.hpp"
#include "driver/ring_driver.hpp"
#include "weft/barrier/formats.hpp"
#include "weft/barrier_ring/formats.hpp"

namespace weft::driver {

/// Where the registers of the barrier engine begin in the space of a NIC with so many queues.
constexpr uint32_t barrier_window(uint32_t queues) { return 0x1000u << std::bit_width(queues); }
/// Where, from there on, those of its ring do.
inline constexpr uint32_t barrier_ring_offset = 0x400;

/// The same for all groups of a node.
struct BarrierSetup {
  uint16_t node = 0;
  uint16_t tick_period = 64;  ///< clocks
  uint64_t ring_base = 0;     ///< a multiple of its bytes
  uint8_t ring_log2 = 4;      ///< entries; 1 to 15
  bool interrupt = false;
};

// That the engine's registers take.
inline constexpr uint8_t largest_block_log2 = 10;
inline constexpr uint16_t largest_stride = (1 << barrier::formats::width::STRIDE) - 1;

/// A group, the same at all of its members (docs/barrier.md). Times in ticks.
struct BarrierGroup {
  uint16_t instance = 0;  ///< another one each time that the group's number is used again
  barrier::formats::Shape shape = barrier::formats::Shape::lct;
  std::vector<uint16_t> members = {};  ///< nodes by number
  uint8_t block_log2 = 0;              ///< two levels: blocks of 2^block_log2 members; 0: one level
  uint16_t multicast = 0;         ///< address from which the network copies a packet to all members; 0: none
  uint16_t stride = 1, good = 0;  ///< of judge
  uint8_t judge_tries = 8;
  uint16_t first = 64, largest = 1024;
  uint8_t tries = 8;
  uint32_t late = 4096;
};

class BarrierDriver {
 public:
  using Refusal = barrier::formats::Refusal;
  using Completion = barrier::formats::Completion;
  using OnDone = std::function<void(bool ok)>;
  /// Nothing: the NIC does not answer as it should.
  using OnOutcome = std::function<void(std::optional<Refusal>)>;
  /// A node, or nothing: there is none, or the NIC does not answer as it should.
  using OnNode = std::function<void(std::optional<uint16_t>)>;

  /// @param window barrier_window() of the NIC
  BarrierDriver(RegisterBus& bus, RingMemory& memory, uint32_t window)
      : bus_(bus), memory_(memory), window_(window) {
    telling_.start([this] { send_head(); });
  }
  BarrierDriver(const BarrierDriver&) = delete;
  BarrierDriver& operator=(const BarrierDriver&) = delete;

  /// Zeroes the ring and enables it. Not ok, and nothing has changed: there is no barrier engine, a group is
  /// open, or the ring is enabled already.
  void start(const BarrierSetup& setup, OnDone done);

  /// After memory answered the write of an entry with an error (the interrupt is up, STATE says FAILED): the
  /// ring begins anew, and the entry that could not be written comes first. Not ok, and nothing has changed:
  /// it has not failed, or completions are still to be taken.
  void enable_again(OnDone done);

  // Outcome: none, or why the engine refuses. Commands are sent one after the other, since the engine has one
  // set of registers for what the next group is to be, and one for why it has refused.
  void open(uint8_t group, const BarrierGroup& settings, OnOutcome done);
  void close(uint8_t group, OnOutcome done) {
    ask({barrier::formats::reg::CLOSE, group, {}, std::move(done)});
  }
  /// This node has arrived; the completion comes into the ring.
  void arrive(uint8_t group, OnOutcome done) {
    ask({barrier::formats::reg::ARRIVE, group, {}, std::move(done)});
  }

  /// The last member found late in the group's barrier under way. Waits for commands sent before.
  void late(uint8_t group, OnNode done) {
    commands_.push_back({barrier::formats::reg::LATE_NOW, group, {}, nullptr, std::move(done)});
    if (commands_.size() == 1) next_command();
  }

  /// The oldest completion not yet taken, if there is one; of any group. The NIC is told that it is taken.
  std::optional<Completion> take();

  /// Address of the byte that changes when the next completion comes.
  uint64_t next_completion() const { return slot(head_) + barrier_ring::formats::entry_bytes - 1; }

 private:
  uint32_t ring_size() const { return 1u << setup_.ring_log2; }
  uint64_t slot(uint16_t index) const {
    return setup_.ring_base + uint64_t{index % ring_size()} * barrier_ring::formats::entry_bytes;
  }
  void write(uint32_t reg, uint32_t data) { bus_.write(window_ + reg, data, nullptr); }
  void write_ring(uint32_t reg, uint32_t data, OnWritten done = nullptr) {
    bus_.write(window_ + barrier_ring_offset + reg, data, std::move(done));
  }
  struct Command {
    uint32_t reg;  // OPEN, CLOSE, ARRIVE; LATE_NOW, which is read
    uint8_t group;
    BarrierGroup settings;  // OPEN
    OnOutcome done;         // of the first three
    OnNode late = nullptr;  // of LATE_NOW
  };
  static constexpr uint32_t state_failed = 4;  // of the ring's STATE
  void if_closed(uint32_t bits, OnDone then);
  void enable(OnDone done);
  void ask(Command command);
  void next_command();
  void send_command();
  void read_late();
  void finish(const std::function<void(const Command&)>& tell);
  void ended(std::optional<Refusal> outcome);
  void send_head();

  RegisterBus& bus_;
  RingMemory& memory_;
  uint32_t window_;
  BarrierSetup setup_;
  std::deque<Command> commands_;  // the first one is under way
  uint16_t head_ = 0;             // completions taken
  Repetition telling_;
  bool head_wanted_ = false, telling_head_ = false;
};

}  // namespace weft::driver
