// SPDX-License-Identifier: Apache-2.0
// Moves values between plain C++ types and Verilated ports of any width.
#pragma once

#include <verilated.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weft::tb {

/// Verilator does not mask inputs: a value must be cut to the width of its port.
constexpr uint64_t masked(uint64_t value, uint32_t width) {
  return width >= 64 ? value : value & ((1ull << width) - 1);
}

template <typename Port>
void put_bytes(Port& port, const uint8_t* bytes, [[maybe_unused]] size_t count) {
  std::memcpy(&port, bytes, std::min(count, sizeof(port)));
}

template <typename Port>
void get_bytes(const Port& port, uint8_t* bytes, size_t count) {
  std::memcpy(bytes, &port, std::min(count, sizeof(port)));
}

}  // namespace weft::tb
