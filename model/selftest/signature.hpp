// SPDX-License-Identifier: Apache-2.0
// Signature of a sequence of records, as rtl/selftest/selftest_signature.sv makes it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace weft::selftest {

class Signature {
 public:
  /// One record; at most 32 words.
  void add(std::span<const uint32_t> record) {
    uint32_t folded = 0;
    for (int i = 0; i < static_cast<int>(record.size()); ++i) folded ^= std::rotl(record[i], i);
    const uint32_t feedback = (value_ >> 31 ^ value_ >> 21 ^ value_ >> 1 ^ value_) & 1;
    value_ = (value_ << 1 | feedback) ^ folded;
  }
  uint32_t value() const { return value_; }

 private:
  uint32_t value_ = 0;
};

}  // namespace weft::selftest
