// SPDX-License-Identifier: Apache-2.0
// Random draws of the fault campaign's plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "fabric/random.hpp"
#include "rdma/params.hpp"

namespace weft::sim {

class Dice {
 public:
  Dice(uint64_t seed, uint64_t stream) : random_(seed, stream) {}
  uint64_t below(uint64_t bound) { return random_.below(bound); }
  uint64_t between(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t count) { return below(count) == 0; }
  double fraction() { return static_cast<double>(below(1000)) / 1000; }
  /// Half of the time nothing, else up to `most`.
  double sometimes(double most) { return one_in(2) ? 0 : most * fraction(); }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  RandomStream random_;
};

/// Length of a transfer: from one byte to two windows.
inline uint32_t draw_bytes(Dice& dice, const rdma::Params& params) {
  const uint64_t two_windows = uint64_t{2} * params.payload * params.window;
  const uint64_t most[] = {params.payload, 2000, 2000, 16'384, dice.one_in(4) ? two_windows : 2000};
  return static_cast<uint32_t>(dice.between(1, dice.pick(most)));
}

/// A place of so many bytes behind `next`, with a payload's room to the one after it.
inline uint64_t take_place(uint64_t& next, uint64_t bytes, uint64_t payload) {
  const uint64_t address = next;
  next += (bytes + 2 * payload - 1) / payload * payload;
  return address;
}

}  // namespace weft::sim
