// SPDX-License-Identifier: Apache-2.0
// The subset of the regression on the SystemC platform.
#include "subset.hpp"

#include "platform_nodes.hpp"

namespace weft::tb {

FaultyNodes make_faulty_nodes(uint64_t memory_bytes, const fabric::Faults& faults, uint64_t seed) {
  using systemc::Platform;
  auto nodes = std::make_unique<systemc::TwoNodes>(memory_bytes, Platform::ten_clocks,
                                                   Platform::LinkFaults{faults, seed});
  systemc::Platform& platform = nodes->platform();
  return {std::move(nodes), [&platform] { return platform.link()->counters(); }};
}

}  // namespace weft::tb

int sc_main(int argc, char** argv) { return weft::tb::run_subset(argc, argv); }
