// SPDX-License-Identifier: Apache-2.0
// Decides cycle by cycle whether a stream pauses.
#pragma once

#include <cstdint>

#include "fabric/random.hpp"

namespace weft::tb {

/// Pauses each cycle with a fixed probability; with 0 it never pauses and costs nothing.
class PauseGenerator {
 public:
  PauseGenerator(double probability, uint64_t seed, uint64_t stream)
      : probability_(probability), random_(seed, stream) {}

  bool pause() { return probability_ > 0 && random_.chance(probability_); }

 private:
  double probability_;
  RandomStream random_;
};

}  // namespace weft::tb
