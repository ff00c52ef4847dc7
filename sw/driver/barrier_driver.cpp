// SPDX-License-Identifier: Apache-2.0
// Host driver of a NIC's barrier engine.
#include "driver/barrier_driver.hpp"

#include <array>

namespace weft::driver {

namespace engine_reg = barrier::formats::reg;
namespace ring_formats = barrier_ring::formats;
namespace ring_reg = barrier_ring::formats::reg;

void BarrierDriver::start(const BarrierSetup& setup, OnDone done) {
  setup_ = setup;
  head_ = 0;
  memory_.write(setup.ring_base, std::vector<uint8_t>(size_t{ring_size()} * ring_formats::entry_bytes));
  write(engine_reg::TICK_PERIOD, setup.tick_period);
  write_ring(ring_reg::BASE_LO, static_cast<uint32_t>(setup.ring_base));
  write_ring(ring_reg::BASE_HI, static_cast<uint32_t>(setup.ring_base >> 32));
  write_ring(ring_reg::LOG2, setup.ring_log2);
  write_ring(ring_reg::IRQ_ENABLE, setup.interrupt ? 1 : 0);
  bus_.write(window_ + engine_reg::SELF, setup.node, [this, done = std::move(done)](bool ok) {
    if (!ok) return done(false);
    write_ring(ring_reg::ENABLE, 1, done);
  });
}

void BarrierDriver::open(uint8_t group, const BarrierGroup& settings, OnOutcome done) {
  if (settings.block_log2 > largest_block_log2)
    return done(Refusal::bad_block);  // the register would keep another
  opens_.push_back({group, settings, std::move(done)});
  if (opens_.size() == 1) open_next();
}

void BarrierDriver::open_next() {
  const uint8_t group = opens_.front().group;
  const BarrierGroup& settings = opens_.front().settings;
  write(engine_reg::TABLE_GROUP, group);
  write(engine_reg::TABLE_INDEX, 0);
  for (const uint16_t member : settings.members) write(engine_reg::MEMBER, member);
  write(engine_reg::INSTANCE, settings.instance);
  write(engine_reg::SHAPE, static_cast<uint32_t>(settings.shape));
  write(engine_reg::BLOCK_LOG2, settings.block_log2);
  write(engine_reg::STRIDE, settings.stride);
  write(engine_reg::GOOD, settings.good);
  write(engine_reg::JUDGE_TRIES, settings.judge_tries);
  write(engine_reg::FIRST, settings.first);
  write(engine_reg::LARGEST, settings.largest);
  write(engine_reg::TRIES, settings.tries);
  write(engine_reg::LATE, settings.late);
  bus_.write(window_ + engine_reg::MEMBERS, static_cast<uint32_t>(settings.members.size()),
             [this, group](bool ok) {
               if (!ok) return opened(std::nullopt);  // more than the engine has room for
               command(engine_reg::OPEN, group, [this](std::optional<Refusal> outcome) { opened(outcome); });
             });
}

void BarrierDriver::opened(std::optional<Refusal> outcome) {
  const OnOutcome done = std::move(opens_.front().done);
  opens_.pop_front();
  if (!opens_.empty()) open_next();
  done(outcome);
}

/// What was refused was so for the reason that RESULT says.
void BarrierDriver::command(uint32_t reg, uint8_t group, OnOutcome done) {
  bus_.write(window_ + reg, group, [this, done = std::move(done)](bool ok) {
    if (ok) return done(Refusal::none);
    bus_.read(window_ + engine_reg::RESULT, [done](bool read, uint32_t result) {
      const auto refusal = static_cast<Refusal>(result);
      done(read && refusal != Refusal::none ? std::optional(refusal) : std::nullopt);
    });
  });
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
