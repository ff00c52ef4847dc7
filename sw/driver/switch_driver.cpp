// SPDX-License-Identifier: Apache-2.0
// Host driver of a switch lookup block.
#include "driver/switch_driver.hpp"

#include <array>
#include <memory>
#include <utility>

namespace weft::driver {

namespace reg = switch_lookup::formats::reg;
using switch_lookup::formats::LoadFault;
using switch_lookup::formats::LoadState;

void SwitchDriver::start(const SwitchSetup& setup, const OnDone& done) {
  const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  const std::array<std::pair<uint32_t, uint32_t>, 7> settings{{
      {reg::SWITCH_ID_LO, low(setup.switch_id)},
      {reg::SWITCH_ID_HI, high(setup.switch_id)},
      {reg::KEY_LO, low(setup.key)},
      {reg::KEY_HI, high(setup.key)},  // the key is in use with this
      {reg::SEED, setup.seed},
      {reg::SCRUB_PERIOD, setup.scrub_period},
      {reg::IRQ_ENABLE, setup.interrupts},
  }};
  const auto all = std::make_shared<bool>(true);
  for (const auto& [address, value] : settings) {
    const bool last = address == reg::IRQ_ENABLE;
    bus_.write(address, value, [all, last, done](bool ok) {
      *all = *all && ok;
      if (last) done(*all);
    });
  }
}

void SwitchDriver::load(std::vector<uint32_t> image, OnLoaded done) {
  image_ = std::move(image);
  next_ = 0;
  loaded_ = std::move(done);
  stopped_ = false;
  bus_.write(reg::LOAD_BEGIN, 0, [this](bool ok) {
    if (!ok) return tell(std::nullopt);
    if (std::exchange(repeats_, true)) return words_.again();
    words_.start([this] { give_word(); });
  });
}

void SwitchDriver::give_word() {
  if (stopped_ || next_ == image_.size()) return finish_load();
  bus_.write(reg::LOAD_DATA, image_[next_++], [this](bool taken) {
    stopped_ = !taken;  // a word before this one was refused, or the bus has failed
    words_.again();
  });
}

void SwitchDriver::finish_load() {
  bus_.read(reg::LOAD_STATUS, [this](bool status_ok, uint32_t status) {
    bus_.read(reg::LOAD_WORDS, [this, status_ok, status](bool words_ok, uint32_t words) {
      if (!status_ok || !words_ok) return tell(std::nullopt);
      const auto state = static_cast<LoadState>(status & 7);
      if (state == LoadState::refused)
        return tell(SwitchLoad{static_cast<LoadFault>(status >> 4 & 15), words});
      if (stopped_) return tell(std::nullopt);
      tell(SwitchLoad{state == LoadState::done ? LoadFault::none : LoadFault::truncated, words});
    });
  });
}

/// Who is told may load the next image at once.
void SwitchDriver::tell(std::optional<SwitchLoad> loaded) { std::exchange(loaded_, {})(loaded); }

void SwitchDriver::take_events(OnEvents done) {
  bus_.read(reg::IRQ_STATUS, [this, done = std::move(done)](bool ok, uint32_t status) {
    if (!ok) return done(std::nullopt);
    bus_.write(reg::IRQ_STATUS, status, [done, status](bool cleared) {
      if (!cleared) return done(std::nullopt);
      done(SwitchEvents{(status & 1) != 0, (status & 2) != 0, (status & 4) != 0});
    });
  });
}

}  // namespace weft::driver
