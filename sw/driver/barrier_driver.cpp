// SPDX-License-Identifier: Apache-2.0
// Host driver of a NIC's barrier engine.
#include "driver/barrier_driver.hpp"

#include <array>

namespace weft::driver {

namespace engine_reg = barrier::formats::reg;
namespace ring_formats = barrier_ring::formats;
namespace ring_reg = barrier_ring::formats::reg;

void BarrierDriver::start(const BarrierSetup& setup, OnDone done) {
  if_closed(0, [this, setup, done = std::move(done)](bool closed) {
    if (!closed) return done(false);
    bus_.write(window_ + engine_reg::SELF, setup.node, [this, setup, done](bool ok) {
      if (!ok) return done(false);
      setup_ = setup;
      write(engine_reg::TICK_PERIOD, setup.tick_period);
      write_ring(ring_reg::BASE_LO, static_cast<uint32_t>(setup.ring_base));
      write_ring(ring_reg::BASE_HI, static_cast<uint32_t>(setup.ring_base >> 32));
      write_ring(ring_reg::LOG2, setup.ring_log2);
      write_ring(ring_reg::IRQ_ENABLE, setup.interrupt ? 1 : 0);
      enable(done);
    });
  });
}

void BarrierDriver::enable_again(OnDone done) {
  if_closed(state_failed, [this, done = std::move(done)](bool failed) {
    if (!failed) return done(false);
    bus_.read(window_ + barrier_ring_offset + ring_reg::TAIL, [this, done](bool read, uint32_t tail) {
      if (!read || tail != head_) return done(false);
      enable(done);
    });
  });
}

/// Calls with whether the ring is neither enabled nor being written, and these bits of STATE are set.
void BarrierDriver::if_closed(uint32_t bits, OnDone then) {
  bus_.read(window_ + barrier_ring_offset + ring_reg::STATE,
            [bits, then = std::move(then)](bool read, uint32_t state) {
              then(read && (state & ~state_failed) == 0 && (state & bits) == bits);
            });
}

void BarrierDriver::enable(OnDone done) {
  head_ = 0;
  memory_.write(setup_.ring_base, std::vector<uint8_t>(size_t{ring_size()} * ring_formats::entry_bytes));
  write_ring(ring_reg::ENABLE, 1, std::move(done));
}

void BarrierDriver::open(uint8_t group, const BarrierGroup& settings, OnOutcome done) {
  // The registers would keep others.
  if (settings.block_log2 > largest_block_log2) return done(Refusal::bad_block);
  if (settings.stride > largest_stride) return done(Refusal::bad_stride);
  ask({engine_reg::OPEN, group, settings, std::move(done)});
}

void BarrierDriver::ask(Command command) {
  commands_.push_back(std::move(command));
  if (commands_.size() == 1) next_command();
}

void BarrierDriver::next_command() {
  const Command& command = commands_.front();
  if (command.reg == engine_reg::LATE_NOW) return read_late();
  if (command.reg != engine_reg::OPEN) return send_command();
  const BarrierGroup& settings = command.settings;
  write(engine_reg::TABLE_GROUP, command.group);
  write(engine_reg::TABLE_INDEX, 0);
  for (const uint16_t member : settings.members) write(engine_reg::MEMBER, member);
  write(engine_reg::INSTANCE, settings.instance);
  write(engine_reg::SHAPE, static_cast<uint32_t>(settings.shape));
  write(engine_reg::BLOCK_LOG2, settings.block_log2);
  write(engine_reg::MULTICAST, settings.multicast);
  write(engine_reg::STRIDE, settings.stride);
  write(engine_reg::GOOD, settings.good);
  write(engine_reg::JUDGE_TRIES, settings.judge_tries);
  write(engine_reg::FIRST, settings.first);
  write(engine_reg::LARGEST, settings.largest);
  write(engine_reg::TRIES, settings.tries);
  write(engine_reg::LATE, settings.late);
  bus_.write(window_ + engine_reg::MEMBERS, static_cast<uint32_t>(settings.members.size()), [this](bool ok) {
    if (!ok) return ended(std::nullopt);  // more than the engine has room for
    send_command();
  });
}

/// What was refused was so for the reason that RESULT says.
void BarrierDriver::send_command() {
  const Command& command = commands_.front();
  bus_.write(window_ + command.reg, command.group, [this](bool ok) {
    if (ok) return ended(Refusal::none);
    bus_.read(window_ + engine_reg::RESULT, [this](bool read, uint32_t result) {
      const auto refusal = static_cast<Refusal>(result);
      ended(read && refusal != Refusal::none ? std::optional(refusal) : std::nullopt);
    });
  });
}

void BarrierDriver::read_late() {
  write(engine_reg::TABLE_GROUP, commands_.front().group);
  bus_.read(window_ + engine_reg::LATE_NOW, [this](bool read, uint32_t late) {
    const bool named = read && late >> 31 != 0;
    const std::optional<uint16_t> node = named ? std::optional(static_cast<uint16_t>(late)) : std::nullopt;
    finish([node](const Command& command) { command.late(node); });
  });
}

void BarrierDriver::ended(std::optional<Refusal> outcome) {
  finish([outcome](const Command& command) { command.done(outcome); });
}

/// The command under way; the next one begins.
void BarrierDriver::finish(const std::function<void(const Command&)>& tell) {
  const Command command = std::move(commands_.front());
  commands_.pop_front();
  if (!commands_.empty()) next_command();
  tell(command);
}

std::optional<BarrierDriver::Completion> BarrierDriver::take() {
  std::array<uint8_t, ring_formats::entry_bytes> bytes{};
  const bool first_lap = (head_ / ring_size()) % 2 == 0;
  memory_.read(next_completion(), std::span(bytes).last(1));  // written last
  if ((ring_formats::unpack_entry(bytes).phase != 0) != first_lap) return std::nullopt;
  memory_.read(slot(head_), bytes);
  ++head_;
  head_wanted_ = true;
  telling_.again();
  return barrier::formats::unpack_completion(std::span(bytes).first<barrier::formats::completion_bytes>());
}

/// A completion may be seen in memory a little before the NIC knows that it is there: then it refuses, and is
/// told again as long as the ring is enabled.
void BarrierDriver::send_head() {
  if (!head_wanted_ || telling_head_) return;
  head_wanted_ = false;
  telling_head_ = true;
  write_ring(ring_reg::HEAD, head_, [this](bool ok) {
    if (ok) {
      telling_head_ = false;
      return telling_.again();
    }
    bus_.read(window_ + barrier_ring_offset + ring_reg::STATE, [this](bool read, uint32_t state) {
      telling_head_ = false;
      head_wanted_ = head_wanted_ || (read && (state & 1) != 0);
      telling_.again();
    });
  });
}

}  // namespace weft::driver
