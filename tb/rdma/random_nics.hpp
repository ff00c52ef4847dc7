// SPDX-License-Identifier: Apache-2.0
// What the random tests of several NICs share: a bad network with pauses on every stream, drawn from a seed.
#pragma once

#include "nic_bench.hpp"
#include "random_traffic.hpp"

namespace weft::tb {

/// Two or three NICs of this build.
inline SystemConfig bad_network(Draw& draw, const char* build, uint64_t seed) {
  SystemConfig config = NicBench::usual_config(static_cast<uint32_t>(2 + draw.below(2)), build);
  config.seed = seed;
  config.node.pause = draw.sometimes(0.5);
  config.node.memory_jitter = static_cast<uint32_t>(draw.below(40));
  config.faults.loss = draw.sometimes(0.05);
  config.faults.duplicate = draw.sometimes(0.05);
  config.faults.corrupt = draw.sometimes(0.03);
  config.faults.reorder_degree = static_cast<uint32_t>(draw.below(2) * draw.below(64));
  config.faults.jitter = static_cast<uint32_t>(draw.below(100));
  return config;
}

/// Retries enough for such a network; either mode.
inline driver::RdmaSetup patient_setup(Draw& draw) {
  auto setup = NicBench::usual_setup();
  setup.max_retry = 15;
  setup.weft_mode = draw.below(4) != 0;
  return setup;
}

}  // namespace weft::tb
