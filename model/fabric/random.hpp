// SPDX-License-Identifier: Apache-2.0
// Small seeded random streams, one per node, link or pause generator, so that no two users disturb each
// other.
//
// Generator: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace weft {

/// One random stream. Same seed and stream number: same numbers on every machine.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed, uint64_t stream = 0)
      : state_(mix(seed + golden_gamma) ^ mix(stream + 1)) {}

  uint64_t next() {
    state_ += golden_gamma;
    return mix(state_);
  }

  /// Uniform in [0, bound); 0 for bound 0.
  uint64_t below(uint64_t bound) { return static_cast<uint64_t>((static_cast<Wide>(next()) * bound) >> 64); }

  /// True with the given probability; draws exactly one number whatever the probability.
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t golden_gamma = 0x9e3779b97f4a7c15;

  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace weft
