// SPDX-License-Identifier: Apache-2.0
// Speed of the lookup block, counted in clocks at its pins, each result compared with the golden model.
#pragma once

#include <cstdint>
#include <string>

#include "switch/image.hpp"

namespace weft::tb {

/// What goes through the block, and how often either side pauses.
struct RateCase {
  std::string what;
  uint32_t inputs = 1;         ///< that send
  double multicast = 0.5;      ///< share of the lookups; the others are unicast
  double input_pauses = 0;     ///< share of clocks in which an input has nothing to send
  double output_pauses = 0;    ///< share of clocks in which results are not taken
  uint32_t scrub_period = 0;   ///< clocks; 0: no scrubbing
  bool updates = false;        ///< images come by management packets, one after the other
  bool compared = true;        ///< otherwise the RTL alone
  double wanted = 0;           ///< lookups for each clock that either side leaves; 0: none wanted
  bool wants_latency = false;  ///< that each takes four clocks
};

struct LookupRate {
  uint64_t lookups = 0, clocks = 0;
  uint64_t usable = 0;  ///< clocks in which there was a request, and results were taken
  uint64_t least_latency = 0, most_latency = 0, latency_sum = 0;  ///< clocks, the first and last one included
  uint64_t images = 0;                                            ///< that came into use
  double seconds = 0;                                             ///< of processor time

  double per_clock() const { return static_cast<double>(lookups) / static_cast<double>(clocks); }
  double per_usable() const { return static_cast<double>(lookups) / static_cast<double>(usable); }
  double latency() const { return static_cast<double>(latency_sum) / static_cast<double>(lookups); }
  double per_second() const { return static_cast<double>(lookups) / seconds; }
};

/// Of the block that is measured, which has four inputs.
switch_lookup::Sizes rate_sizes();

/// @param clocks that are counted, after some that fill the block
/// Throws LookupMismatch if a result differs from the golden model's.
LookupRate measure(const RateCase& rate_case, uint64_t clocks, uint64_t seed);

/// Lookups a second of the golden model alone, of the same mix.
double golden_lookups_per_second(uint64_t lookups, uint64_t seed);

}  // namespace weft::tb
