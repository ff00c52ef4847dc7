// SPDX-License-Identifier: Apache-2.0
// The NIC, rule by rule: transfers through rings, protection of local memory, errors, drain, reset.
#include "nic_bench.hpp"

namespace weft::tb {
namespace {

constexpr uint8_t status_of(QueueStatus status) { return static_cast<uint8_t>(status); }
constexpr uint8_t status_of(EngineStatus status) { return static_cast<uint8_t>(status); }

TEST(Nic, WriteThroughARing) {
  NicBench bench(NicBench::usual_config());
  const auto data = bench.fill(0, NicBench::source_of(1), 1000);
  bench.enable(0, 2, 1);
  bench.post(0, 2, bench.write_entry(1, 1, 0, 256, 1000));
  bench.expect_settled();
  EXPECT_EQ(bench.hosts[0].rings[2].completions.size(), 1u);
  EXPECT_TRUE(bench.memory(1).equals(NicBench::target_of(1) + 256, data));
}

}  // namespace
}  // namespace weft::tb
