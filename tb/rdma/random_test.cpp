// SPDX-License-Identifier: Apache-2.0
// Whole engines under random traffic, in lockstep with the golden model; resets in the middle.
#include "random_traffic.hpp"

namespace weft::tb {
namespace {

/// Any engine but the one that is wrong on purpose.
const RdmaBuild& random_build(Draw& draw) {
  std::vector<const RdmaBuild*> sound;
  for (const RdmaBuild& build : rdma_builds()) {
    if (build.name != "broken" && build.queues == 0) sound.push_back(&build);
  }
  return *sound[draw.below(sound.size())];
}

SystemConfig random_config(Draw& draw, uint64_t seed) {
  SystemConfig config;
  config.seed = seed;
  config.nodes = static_cast<uint32_t>(1 + draw.below(3));
  config.node.build = random_build(draw);
  config.node.pause = draw.sometimes(0.6);
  config.node.memory_latency = static_cast<uint32_t>(1 + draw.below(60));
  config.node.memory_jitter = static_cast<uint32_t>(draw.below(60));
  config.faults.loss = draw.sometimes(0.08);
  config.faults.duplicate = draw.sometimes(0.2);
  config.faults.corrupt = draw.sometimes(0.05);
  config.faults.reorder_degree = static_cast<uint32_t>(draw.sometimes(300));
  if (config.node.build.params.scheme == rdma::Scheme::receiver_counter) {
    // All is sent again, also if a packet is held back for longer than a timeout.
    config.faults.loss /= 20;
    config.faults.corrupt /= 20;
    config.faults.duplicate /= 50;
    config.faults.reorder_degree /= 20;
    config.faults.hold_limit = 600;
  }
  config.faults.delay = static_cast<uint32_t>(1 + draw.below(300));
  config.faults.jitter = static_cast<uint32_t>(draw.below(300));
  config.faults.duplicate_lag = static_cast<uint32_t>(1 + draw.below(5000));
  return config;
}

driver::RdmaSetup random_setup(Draw& draw) {
  driver::RdmaSetup setup = EngineBench::usual_setup();
  // TX_DEAD (8191 ticks) must outlast a receiver that asks until MAX_SILENT: docs/rdma.md, Programmer's guide
  setup.tick_cycles = static_cast<uint16_t>(70 + draw.below(31));
  setup.rx_timeout = static_cast<uint16_t>((1000 + draw.below(4000)) / setup.tick_cycles + 1);
  setup.tx_retry = static_cast<uint16_t>((1000 + draw.below(4000)) / setup.tick_cycles + 1);
  setup.weft_mode = draw.below(2) != 0;
  setup.backoff = static_cast<uint8_t>(draw.below(4));
  setup.rx_quota = static_cast<uint16_t>(draw.below(3));
  setup.adapt = draw.below(4) != 0;
  setup.timeout_floor = static_cast<uint16_t>((1000 + draw.below(2000)) / setup.tick_cycles + 1);
  setup.rx_ahead = static_cast<uint8_t>(draw.below(2) * draw.below(64));
  setup.ask_from_after = static_cast<uint8_t>(draw.below(4));
  return setup;
}

class Random : public testing::TestWithParam<uint64_t> {};

TEST_P(Random, TrafficIsAsTheGoldenModelSays) {
  Draw draw(GetParam());
  const SystemConfig config = random_config(draw, GetParam());
  SCOPED_TRACE("build " + config.node.build.name);
  EngineBench bench(config, random_setup(draw));
  RandomTraffic traffic(bench, draw, static_cast<uint32_t>(1 + draw.below(20)));
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
}

TEST_P(Random, ResetInTheMiddleLeavesNothingBehind) {
  Draw draw(GetParam() + 1000);
  const SystemConfig config = random_config(draw, GetParam());
  SCOPED_TRACE("build " + config.node.build.name);
  EngineBench bench(config, random_setup(draw));
  RandomTraffic broken(bench, draw, 12);
  broken.post();
  bench.run(draw.below(8000));
  bench.expect_no_findings();
  bench.system.reset();
  for (auto& of_node : bench.completions) of_node.clear();
  bench.start();
  RandomTraffic traffic(bench, draw, 12);
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range<uint64_t>(1, 101));

}  // namespace
}  // namespace weft::tb
