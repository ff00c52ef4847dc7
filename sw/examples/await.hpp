// SPDX-License-Identifier: Apache-2.0
// How weft_write_lat knows that a message has come.
#pragma once

#include <cstdint>
#include <span>

#include "common/fault.hpp"

namespace weft::examples {

/// Until all bytes are `turn`: packets are written in any order. Looks from the end, since in order that is
/// the last one. False as soon as one that it looks at is `over`.
/// @param changes changes(index, value): waits until that byte is another; false: it is not
template <typename Changes>
bool await_all(std::span<const uint8_t> bytes, uint8_t turn, uint8_t over, Changes changes) {
  for (size_t left = bytes.size(); left > 0;) {
    const uint8_t seen = bytes[left - 1];
    if (seen == over) return false;
    if (seen == turn)
      --left;
    else if (!changes(left - 1, seen))
      throw Fault("the peer does not write");
  }
  return true;
}

}  // namespace weft::examples
