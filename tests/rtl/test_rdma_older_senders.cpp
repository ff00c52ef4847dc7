// SPDX-License-Identifier: Apache-2.0
// rdma_sender with the older schemes (docs/rdma_baseline.md) in lockstep with the golden model: random posts,
// answers, pauses and resets, as in test_rdma_sender.cpp.
#include "Vcounter_sender.h"
#include "Vkeeping_sender.h"
#include "Vwide_keeping_sender.h"
#include "rdma_sender_lockstep.hpp"
#include "rdma_sender_traffic.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Outcome;

rdma::Config config() {
  rdma::Config config;
  config.node_id = 3;
  config.tx_retry = 20;
  config.tx_dead = 30;
  config.max_retry = 2;
  config.max_busy = 3;
  return config;
}

/// The sizes in CMakeLists.txt.
rdma::Params counting() {
  rdma::Params params = sender_params(false);
  params.scheme = rdma::Scheme::receiver_counter;
  params.window = 64;
  return widest(params);
}

rdma::Params keeping(uint32_t window, uint32_t buffers) {
  rdma::Params params = sender_params(false);
  params.scheme = rdma::Scheme::sender_window;
  params.window = window;
  params.n_send_buffers = buffers;
  return params;
}

template <typename Top>
void run(const rdma::Params& params, unsigned clocks, unsigned times) {
  SenderLockstep<Top> sender(params);
  sender.reset(config());
  SenderTraffic traffic(sender, config());
  traffic.run(clocks);
  traffic.expect_each_outcome(times);
}

template <typename Top>
void run_with_any_settings(const rdma::Params& params) {
  SenderLockstep<Top> sender(params);
  sender.reset(config());
  SenderTraffic(sender, config()).run_with_any_settings(100'000);
  EXPECT_GT(sender.outcomes[Outcome::send], 50u);
}

TEST(RdmaOlderSenders, CountingEqualsTheGoldenModel) { run<Vcounter_sender>(counting(), 400'000, 10); }

TEST(RdmaOlderSenders, CountingEqualsTheGoldenModelWithAnySettings) {
  run_with_any_settings<Vcounter_sender>(counting());
}

// Windows that are nearly always full, of nodes that share them.
TEST(RdmaOlderSenders, KeepingEqualsTheGoldenModel) { run<Vkeeping_sender>(keeping(4, 2), 1'200'000, 50); }

TEST(RdmaOlderSenders, KeepingEqualsTheGoldenModelWithAnySettings) {
  run_with_any_settings<Vkeeping_sender>(keeping(4, 2));
}

TEST(RdmaOlderSenders, KeepingAllThatFitsEqualsTheGoldenModel) {
  run<Vwide_keeping_sender>(widest(keeping(256, 8)), 400'000, 10);
}

TEST(RdmaOlderSenders, KeepingAllThatFitsEqualsTheGoldenModelWithAnySettings) {
  run_with_any_settings<Vwide_keeping_sender>(widest(keeping(256, 8)));
}

}  // namespace
}  // namespace weft::rtl_test
