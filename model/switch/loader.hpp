// SPDX-License-Identifier: Apache-2.0
// The loader of a switch lookup block: one image at a time, word by word, from registers or management
// packets.
#pragma once

#include <cstdint>
#include <optional>

#include "switch/image.hpp"

namespace weft::switch_lookup {

class Loader {
 public:
  Loader(const Sizes& sizes, uint64_t switch_id) : sizes_(sizes), switch_id_(switch_id) {}

  /// As a write to LOAD_BEGIN: an image under way is refused.
  void begin();
  /// As a write to LOAD_DATA. @return whether an image was under way that takes it
  bool take(uint32_t word);

  /// As LOAD_STATUS, but that tables are emptied at once: never CLEAR.
  formats::LoadState state() const;
  formats::LoadFault fault() const { return reader_ ? reader_->fault() : formats::LoadFault::none; }
  /// As LOAD_WORDS.
  uint32_t words() const { return reader_ ? reader_->words() : 0; }
  uint32_t images_taken() const { return taken_; }
  uint32_t images_refused() const { return refused_; }
  /// The last one that came into use.
  const std::optional<Image>& in_use() const { return in_use_; }

 private:
  Sizes sizes_;
  uint64_t switch_id_;
  std::optional<ImageLoader> reader_;
  std::optional<Image> in_use_;
  uint32_t taken_ = 0, refused_ = 0;
};

}  // namespace weft::switch_lookup
