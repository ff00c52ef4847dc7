// SPDX-License-Identifier: Apache-2.0
// The receiver's sliding window.
#include "rdma/window.hpp"

#include <bit>

namespace weft::rdma {
namespace {

constexpr uint32_t word_bits = 64;

bool marked(const WindowBits& bits, uint32_t index) {
  return ((bits[index / word_bits] >> (index % word_bits)) & 1) != 0;
}

/// Consecutive ones from index 0 on; at most the window's size, as bits beyond it are zero or do not exist.
uint32_t leading_run(const WindowBits& bits) {
  uint32_t run = 0;
  for (const uint64_t word : bits) {
    const auto ones = static_cast<uint32_t>(std::countr_one(word));
    run += ones;
    if (ones != word_bits) break;
  }
  return run;
}

WindowBits shifted_down(const WindowBits& bits, uint32_t by) {
  const std::size_t words = by / word_bits;
  const uint32_t rest = by % word_bits;
  WindowBits result(bits.size(), 0);
  for (std::size_t i = 0; i + words < bits.size(); ++i) {
    result[i] = bits[i + words] >> rest;
    if (rest != 0 && i + words + 1 < bits.size()) result[i] |= bits[i + words + 1] << (word_bits - rest);
  }
  return result;
}

}  // namespace

Window empty_window(uint32_t size) { return {0, WindowBits((size + word_bits - 1) / word_bits, 0)}; }

Place classify(const Window& window, uint32_t size, uint32_t pidx) {
  if (pidx < window.base) return Place::received;
  const uint32_t distance = pidx - window.base;
  if (distance == 0) return Place::at_base;
  if (distance > size) return Place::beyond;
  return marked(window.bits, distance - 1) ? Place::received : Place::ahead;
}

Window receive(Window window, uint32_t size, uint32_t pidx) {
  switch (classify(window, size, pidx)) {
    case Place::ahead: {
      const uint32_t index = pidx - window.base - 1;
      window.bits[index / word_bits] |= uint64_t{1} << (index % word_bits);
      break;
    }
    case Place::at_base: {
      const uint32_t step = 1 + leading_run(window.bits);
      window.base += step;
      window.bits = shifted_down(window.bits, step);
      break;
    }
    case Place::received:
    case Place::beyond:
      break;  // nothing to receive
  }
  return window;
}

}  // namespace weft::rdma
