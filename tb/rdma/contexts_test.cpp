// SPDX-License-Identifier: Apache-2.0
// An engine with as many contexts as a large machine needs, all in use at the same time.
#include "random_traffic.hpp"

namespace weft::tb {
namespace {

using rdma::formats::Outcome;

constexpr uint32_t contexts = 4096;
constexpr uint32_t waiting = 64;    // posts for which there is no context at first
constexpr uint32_t nodes = 2;       // each sends to the other
constexpr uint32_t delay = 25'000;  // in three of these a node makes all its posts
constexpr uint16_t tick_cycles = 100;
constexpr uint64_t slot = 128;  // up to two packets each

struct Traffic {
  std::vector<uint8_t> bytes[nodes][contexts + waiting];

  static uint64_t offset(uint32_t tag) { return slot * tag; }

  explicit Traffic(Draw& draw) {
    for (auto& of_node : bytes) {
      for (auto& each : of_node) each = random_bytes(draw, 1 + draw.below(slot));
    }
  }

  void post(EngineBench& bench) const {
    for (uint32_t index = 0; index < nodes; ++index) {
      RdmaNode& node = bench.system.node(index);
      uint16_t tag = 0;
      for (const auto& each : bytes[index]) {
        node.memory().memory().write(source_base + offset(tag), each);
        node.driver().post({source_base + offset(tag), destination_base + offset(tag),
                            static_cast<uint32_t>(each.size()), 1 - index, tag});
        tag++;
      }
    }
  }

  void expect_all_there(EngineBench& bench) const {
    for (uint32_t index = 0; index < nodes; ++index) {
      const HostMemory& memory = bench.system.node(1 - index).memory().memory();
      uint16_t tag = 0;
      for (const auto& each : bytes[index]) {
        ASSERT_TRUE(bench.completions[index].contains(tag)) << "transfer " << tag << " of node " << index;
        EXPECT_EQ(rdma::formats::name(bench.completions[index].at(tag)), "OK");
        EXPECT_TRUE(memory.equals(destination_base + offset(tag), each)) << "transfer " << tag;
        tag++;
      }
    }
  }
};

bool all_in_use(EngineBench& bench) {
  for (uint32_t index = 0; index < nodes; ++index) {
    const Scoreboard& scoreboard = bench.system.node(index).scoreboard();
    if (scoreboard.receiver().free_contexts() > 0 || scoreboard.sender().free_contexts() > 0) return false;
  }
  return true;
}

/// What the engine of node 0 has counted.
uint32_t counter(EngineBench& bench, Outcome outcome) {
  return bench.read(rdma::formats::reg::OUTCOME + 4 * static_cast<uint32_t>(outcome));
}

// Packets take so long that nothing ends before every context of both halves of both engines is in use. From
// then on packets are lost, so that timers of some of the many end.
TEST(Contexts, AllInUseAtOnceOnBothSidesAndAllTransfersArrive) {
  SystemConfig config;
  config.nodes = nodes;
  config.node.build = *find_rdma_build("many");
  ASSERT_EQ(config.node.build.params.n_rx_ctx, contexts);
  ASSERT_EQ(config.node.build.params.n_tx_ctx, contexts);
  config.faults.delay = delay;
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = tick_cycles;
  setup.rx_timeout = setup.tx_retry = 3 * delay / tick_cycles;
  setup.backoff = 0;
  EngineBench bench(config, setup);
  Draw draw(4);
  const Traffic traffic(draw);
  traffic.post(bench);

  ASSERT_TRUE(bench.system.run_until([&] { return all_in_use(bench); }, 4 * delay)) << bench.problems();
  for (uint32_t index = 0; index < nodes; ++index) {
    EXPECT_EQ(bench.count(Outcome::submit, index), contexts);
    EXPECT_EQ(bench.count(Outcome::grant, index), contexts);
    EXPECT_EQ(bench.count(Outcome::complete, index) + bench.count(Outcome::released, index), 0u);
  }
  EXPECT_EQ(counter(bench, Outcome::submit), contexts);
  EXPECT_EQ(counter(bench, Outcome::grant), contexts);
  EXPECT_EQ(counter(bench, Outcome::complete) + counter(bench, Outcome::released), 0u);

  config.faults.loss = 0.01;
  bench.system.network().set_faults(config.faults);
  bench.expect_settled();
  traffic.expect_all_there(bench);
  for (uint32_t index = 0; index < nodes; ++index) {
    EXPECT_GT(bench.count(Outcome::ask_map, index), 0u) << "no packet of data was missing";
    EXPECT_GT(bench.count(Outcome::done_again, index), 0u) << "no end of a transfer was lost";
    EXPECT_EQ(bench.count(Outcome::complete, index), contexts + waiting);
  }
}

}  // namespace
}  // namespace weft::tb
