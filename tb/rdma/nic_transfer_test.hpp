// SPDX-License-Identifier: Apache-2.0
// What the tests of transfers through the rings of several NICs share.
#pragma once

#include <optional>
#include <vector>

#include "nic_bench.hpp"

namespace weft::tb {

using queue_formats::Opcode;
using rdma::formats::Outcome;

constexpr uint8_t status_of(EngineStatus status) { return static_cast<uint8_t>(status); }
constexpr uint8_t code_of(Opcode opcode) { return static_cast<uint8_t>(opcode); }

/// Queue 0 of owner 0 and queue 1 of owner 1 on every node.
class TransferTest : public testing::Test {
 protected:
  void build(const SystemConfig& config = NicBench::usual_config(2, "nic_full"),
             const driver::RdmaSetup& setup = NicBench::usual_setup()) {
    bench_.emplace(config, setup);
    for (uint32_t node = 0; node < config.nodes; ++node) {
      for (uint8_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_->fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_->fill(node, NicBench::target_of(owner), NicBench::region_bytes);
        bench_->enable(node, owner, owner);
      }
    }
  }
  NicBench& bench() { return *bench_; }

  uint64_t outcomes(uint32_t node, Outcome outcome) {
    return bench().system.node(node).scoreboard().outcomes(outcome);
  }
  void run_until(uint32_t node, Outcome outcome, uint64_t count = 1) {
    EXPECT_TRUE(bench().system.run_until([&] { return outcomes(node, outcome) >= count; }, 100'000))
        << rdma::formats::name(outcome) << " does not come\n"
        << bench().problems();
  }
  const queue_formats::Completion& completion(uint32_t node, uint32_t queue, size_t index = 0) {
    return bench().hosts[node].rings[queue].completions.at(index);
  }
  void expect_bytes(uint32_t from_node, uint64_t from, uint32_t to_node, uint64_t to, uint32_t bytes) {
    EXPECT_TRUE(bench().memory(to_node).equals(to, bench().memory(from_node).read(from, bytes)));
  }
  /// Nothing of these bytes was written (memory reads as zero then).
  void expect_untouched(uint32_t node, uint64_t address, uint32_t bytes) {
    EXPECT_TRUE(bench().memory(node).equals(address, std::vector<uint8_t>(bytes)));
  }

  std::optional<NicBench> bench_;
};

}  // namespace weft::tb
