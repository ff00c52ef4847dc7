// SPDX-License-Identifier: Apache-2.0
// Host driver of a switch lookup block: settings, images by registers, what its interrupt is for
// (docs/switch.md, Programmer's guide).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "driver/register_bus.hpp"
#include "weft/switch_lookup/formats.hpp"

namespace weft::driver {

struct SwitchSetup {
  uint64_t switch_id = 0;        ///< GUID; images for others are refused
  uint64_t key = 0;              ///< that management packets have to name; 0: none is taken
  uint32_t seed = 1;             ///< of the choice among backup ports; another one for each switch
  uint16_t scrub_period = 1024;  ///< clocks from one entry that is scrubbed to the next; 0: none
  uint8_t interrupts = 0b011;    ///< bit 0: uncorrectable, 1: refused, 2: in use; more bits: not ok
};

/// What became of an image.
struct SwitchLoad {
  switch_lookup::formats::LoadFault fault = switch_lookup::formats::LoadFault::none;  ///< none: it is in use
  uint32_t words = 0;  ///< that were taken, with the one that was refused
};

/// What the interrupt was raised for, and cleared by being read here.
struct SwitchEvents {
  bool uncorrectable = false;  ///< packets are dropped: load the image again
  bool refused = false, in_use = false;
};

/// One call at a time: the next one when the one before has said what became of it, or from there. It has to
/// live until then.
class SwitchDriver {
 public:
  using OnDone = std::function<void(bool ok)>;
  /// Nothing: the block does not answer as it should.
  using OnLoaded = std::function<void(std::optional<SwitchLoad>)>;
  using OnEvents = std::function<void(std::optional<SwitchEvents>)>;

  explicit SwitchDriver(RegisterBus& bus) : bus_(bus) {}
  SwitchDriver(const SwitchDriver&) = delete;
  SwitchDriver& operator=(const SwitchDriver&) = delete;

  void start(const SwitchSetup& setup, const OnDone& done);
  /// Lookups go on with the old tables until the last word. @param image as write_image() has it; one that
  /// ends early is TRUNCATED, and refused when the next one begins
  void load(std::vector<uint32_t> image, OnLoaded done);
  void take_events(OnEvents done);

 private:
  void give_word();
  void finish_load();
  void tell(std::optional<SwitchLoad> loaded);

  RegisterBus& bus_;
  Repetition words_;
  bool repeats_ = false;  // words_ knows what to repeat
  std::vector<uint32_t> image_;
  std::size_t next_ = 0;
  bool stopped_ = false;
  OnLoaded loaded_;
};

}  // namespace weft::driver
