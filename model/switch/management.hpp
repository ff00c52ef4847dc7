// SPDX-License-Identifier: Apache-2.0
// Management packets: tables loaded in-band, by whoever knows the key (docs/switch.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "switch/loader.hpp"

namespace weft::switch_lookup {

inline constexpr uint32_t management_magic = 0x474d5753;
inline constexpr uint32_t management_head_words = formats::management_bytes / 4;
inline constexpr uint32_t most_management_words = 64;  ///< of payload

using ManagementPacket = std::vector<uint32_t>;

/// The packets that load an image: START, then DATA in order, each of at most `words` words of payload.
std::vector<ManagementPacket> management_packets(std::span<const uint32_t> image, uint64_t key,
                                                 uint32_t words = most_management_words);

/// What a lookup block makes of such packets.
class ManagementPort {
 public:
  explicit ManagementPort(Loader& loader) : loader_(loader) {}

  /// 0: no packet is taken.
  void set_key(uint64_t key) { key_ = key; }
  /// @param packet any words. @return why it was dropped, as a whole; nothing if it was taken
  std::optional<formats::ManagementDrop> take(std::span<const uint32_t> packet);
  uint32_t dropped(formats::ManagementDrop why) const { return drops_[static_cast<std::size_t>(why)]; }

 private:
  std::optional<formats::ManagementDrop> fault_of(std::span<const uint32_t> packet) const;

  Loader& loader_;
  uint64_t key_ = 0;
  std::array<uint32_t, formats::count::MANAGEMENT_DROP> drops_{};
};

}  // namespace weft::switch_lookup
