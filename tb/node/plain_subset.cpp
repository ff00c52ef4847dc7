// SPDX-License-Identifier: Apache-2.0
// The subset of the regression in the plain C++ harness, on NICs of the size that the SystemC module has.
#include <vector>

#include "node_system.hpp"
#include "subset.hpp"

namespace weft::tb {

FaultyNodes make_faulty_nodes(uint64_t memory_bytes, const fabric::Faults& faults, uint64_t seed) {
  const auto memories =
      std::make_shared<std::vector<std::vector<uint8_t>>>(2, std::vector<uint8_t>(memory_bytes));
  auto nodes = std::make_unique<NodeSystem>(
      std::vector<std::span<uint8_t>>{memories->begin(), memories->end()}, faults, seed, "nic_systemc");
  NodeSystem& system = *nodes;
  return {std::move(nodes), [memories, &system] { return system.network_counters(); }};
}

}  // namespace weft::tb

int main(int argc, char** argv) { return weft::tb::run_subset(argc, argv); }
