// SPDX-License-Identifier: Apache-2.0
// The smallest engine, whose queues are full and whose numbers wrap all the time; and nodes reset alone.
#include "random_traffic.hpp"

namespace weft::tb {
namespace {

using rdma::formats::Outcome;
using rdma::formats::Status;

// A network that takes nothing for long: queues fill up, what finds no room is dropped, and all ends well.
class Stall : public testing::TestWithParam<bool> {};

TEST_P(Stall, BlockedOutputsLoseNothing) {
  const bool weft_mode = GetParam();
  SystemConfig config;
  config.nodes = 3;
  config.node.build = *find_rdma_build("small");
  config.faults.loss = 0.02;
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = 16;
  setup.rx_timeout = setup.tx_retry = 60;
  setup.backoff = 0;  // so that there are many control packets
  setup.weft_mode = weft_mode;
  EngineBench bench(config, setup);
  Draw draw(11);
  RandomTraffic traffic(bench, draw, 20);
  traffic.post();
  for (uint32_t round = 0; round < 30; ++round) {
    RdmaNode& blocked = bench.system.node(round % bench.system.size());
    blocked.stall_output(true);
    bench.run(3000);
    blocked.stall_output(false);
    bench.run(500);
  }
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
  uint64_t busy = 0, full = 0;
  for (uint32_t node = 0; node < bench.system.size(); ++node) {
    busy += bench.count(Outcome::drop_busy, node);
    full += bench.count(Outcome::drop_full, node);
  }
  EXPECT_GT(busy, 0u) << "the queue of control packets was never full";
  EXPECT_EQ(full > 0, !weft_mode) << "the resend queue, which only paper mode uses";
}

INSTANTIATE_TEST_SUITE_P(Modes, Stall, testing::Bool(),
                         [](const auto& test) { return test.param ? "weft" : "paper"; });

// What a node posts ends with an error if nothing leaves it any more, and once it can, nothing is left of all
// that.
TEST(StallForGood, EndsAllTransfers) {
  SystemConfig config;
  config.node.build = *find_rdma_build("small");
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = 16;
  setup.rx_timeout = setup.tx_retry = 60;
  setup.tx_dead = 1000;
  setup.max_silent = setup.max_retry = 3;
  EngineBench bench(config, setup);
  Draw draw(31);
  RandomTraffic traffic(bench, draw, 20, 0, 8000);
  traffic.post();
  bench.run(1500);
  RdmaNode& stopped = bench.system.node(0);
  stopped.stall_output(true);
  bench.run(100);
  const size_t well = bench.completions[0].size();
  const uint64_t rounds = 20 / config.node.build.params.n_tx_ctx + 1;
  const uint64_t bound = rounds * (setup.max_retry + 2u) * setup.tx_dead * setup.tick_cycles;
  EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].size() == 20; }, bound));
  EXPECT_LT(well, 20u);
  EXPECT_GT(bench.count(Outcome::still_sending), 0u);
  size_t failed = 0;
  for (const auto& [tag, status] : bench.completions[0]) failed += status != Status::ok ? 1 : 0;
  EXPECT_EQ(failed, 20 - well);
  stopped.stall_output(false);
  bench.expect_settled();
  bench.completions[0].clear();
  bench.completions[1].clear();
  RandomTraffic after(bench, draw, 10);
  after.post();
  EXPECT_TRUE(bench.system.run_until([&] { return after.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  after.expect_bytes();
}

// Receivers that change from one mode to the other while transfers of many windows are under way.
class ModeChange : public testing::TestWithParam<uint64_t> {};

TEST_P(ModeChange, TransfersGoOn) {
  Draw draw(GetParam() + 500);
  SystemConfig config;
  config.seed = GetParam();
  config.node.build = *find_rdma_build(GetParam() % 4 == 0 ? "w32" : "small");
  if (GetParam() % 2 == 0) {
    config.faults.loss = 0.1;
    config.faults.reorder_degree = 20;
    config.faults.duplicate = 0.1;
  }
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = 16;
  setup.rx_timeout = setup.tx_retry = 60;
  setup.tx_dead = 8000;
  setup.weft_mode = draw.below(3) != 0;
  setup.rx_ahead = static_cast<uint8_t>(draw.below(2) * 32);
  setup.adapt = draw.below(2) != 0;
  EngineBench bench(config, setup);
  RandomTraffic traffic(bench, draw, 12, 0, 10'000);
  traffic.post();
  bool weft_mode = setup.weft_mode;
  unsigned under_way = 0;  // changes
  for (uint64_t changes = 1 + draw.below(8); changes > 0; --changes) {
    bench.run(draw.below(4000));
    if (!traffic.complete()) ++under_way;
    weft_mode = !weft_mode;
    for (uint32_t node = 0; node < bench.system.size(); ++node) {
      bench.system.node(node).registers().write(rdma::formats::reg::MODE, weft_mode ? 1 : 0,
                                                [](bool ok) { EXPECT_TRUE(ok); });
    }
  }
  EXPECT_GT(under_way, 0u);
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 20'000'000)) << "hang";
  bench.expect_settled(20'000'000);
  traffic.expect_bytes();
}

INSTANTIATE_TEST_SUITE_P(Moments, ModeChange, testing::Range<uint64_t>(0, 24));

TEST(PostQueue, OrdinaryUseOfTheSmallEngine) {
  EngineBench bench(EngineBench::alone("small"));
  Draw draw(5);
  RandomTraffic traffic(bench, draw, 40);
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000));
  bench.expect_settled();
  traffic.expect_bytes();
  EXPECT_GT(bench.count(Outcome::backoff), 0u) << "more transfers than receive contexts";
}

// More transfers than MSGID can number, over a network that repeats and holds back packets of long ago.
TEST(Wrap, TransferNumbersStartOverAndNothingIsTakenForAnother) {
  SystemConfig config;
  config.node.build = *find_rdma_build("small");
  config.faults.loss = 0.02;
  config.faults.duplicate = 0.1;
  config.faults.duplicate_lag = 400;
  config.faults.jitter = 200;
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = 16;
  setup.rx_timeout = setup.tx_retry = 60;
  setup.first_msgid = 50;
  EngineBench bench(config, setup);
  Draw draw(23);
  for (int round = 0; round < 8; ++round) {  // 8 x 30 transfers a node, 64 numbers
    for (auto& of_node : bench.completions) of_node.clear();
    RandomTraffic traffic(bench, draw, 30);
    traffic.post();
    ASSERT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
    traffic.expect_bytes();
  }
  bench.expect_settled();
}

class LoneReset : public testing::TestWithParam<uint32_t> {};

// One side starts over in the middle, the network keeps what is under way. The other side ends each of its
// transfers, and new ones that are numbered apart from the old succeed, also to the same memory: a new key
// keeps out what is left of the old ones.
TEST_P(LoneReset, OtherSideEndsItsTransfersAndNewOnesAreRight) {
  SystemConfig config;
  config.node.build = *find_rdma_build("w32");
  config.faults.loss = 0.02;
  config.faults.reorder_degree = 20;
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.tick_cycles = 16;
  setup.rx_timeout = setup.tx_retry = 60;
  setup.tx_dead = 8000;
  EngineBench bench(config, setup);
  Draw draw(GetParam());
  RandomTraffic broken(bench, draw, 12);
  broken.post();
  bench.run(500 + 300 * GetParam());
  const uint32_t victim = GetParam() % 2;
  bench.system.reset_node(victim);
  bench.completions[victim].clear();
  bench.restart(victim, 1000);
  const auto survivor_done = [&] { return bench.completions[1 - victim].size() == 12; };
  EXPECT_TRUE(bench.system.run_until(survivor_done, 5'000'000)) << "a transfer of the other side never ends";
  for (auto& of_node : bench.completions) of_node.clear();
  constexpr uint16_t new_key = 0x1234;
  for (uint32_t node = 0; node < bench.system.size(); ++node) {
    bench.system.node(node).driver().set_region(0,
                                                {destination_base, destination_base + region_bytes, new_key});
  }
  bench.run(500);  // registers are written, and what was decided before is in memory
  RandomTraffic traffic(bench, draw, 12, driver::rdma_rkey(0, new_key));
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
}

INSTANTIATE_TEST_SUITE_P(Moments, LoneReset, testing::Range<uint32_t>(0, 40));

}  // namespace
}  // namespace weft::tb
