// SPDX-License-Identifier: Apache-2.0
// The receiver's sliding window WBASE/WVEC as a value with two pure steps: classify and receive (paper,
// section 3).
#pragma once

#include <cstdint>
#include <vector>

namespace weft::rdma {

/// WVEC; bit 0 of word 0 is WVEC bit 1. window / 64 words, rounded up; bits beyond the window are zero.
using WindowBits = std::vector<uint64_t>;

struct Window {
  uint32_t base = 0;  // WBASE: lowest PIDX not yet received
  WindowBits bits;    // WVEC: bit i says that base + i was received

  bool operator==(const Window&) const = default;
};

/// Where a PIDX lies relative to the window.
enum class Place {
  received,  // below WBASE, or marked in WVEC
  at_base,   // the packet waited for
  ahead,     // inside the window, not received yet
  beyond,    // more than `size` packets ahead of WBASE
};

/// A window of `size` packets beyond WBASE, nothing received.
Window empty_window(uint32_t size);

Place classify(const Window& window, uint32_t size, uint32_t pidx);

/// The window after packet `pidx`, which must be at_base or ahead. At the base WBASE moves on by 1 + L, with
/// L the number of consecutive ones of WVEC from bit 1 on (the paper prints L alone, which is wrong).
Window receive(Window window, uint32_t size, uint32_t pidx);

}  // namespace weft::rdma
