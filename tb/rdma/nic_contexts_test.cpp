// SPDX-License-Identifier: Apache-2.0
// A NIC with as many contexts as a large machine needs, all in use at the same time, by requests of every
// form from all its queues.
#include <algorithm>

#include "nic_transfer_test.hpp"

namespace weft::tb {
namespace {

constexpr uint32_t contexts = 4096;
constexpr uint32_t nodes = 2;  // each sends to the other
constexpr uint32_t queues = 4;
constexpr uint32_t answers = queues;  // one READ from each queue; as many contexts are kept for answers
constexpr uint32_t messages = 8;      // SENDs from each queue to the same queue there
constexpr uint32_t writes =
    contexts / queues - messages - answers / queues + 16;  // some wait for a context at first
constexpr uint32_t bytes = 64;
constexpr uint32_t delay = 25'000;
constexpr uint16_t tick_cycles = 100;

uint8_t owner_of(uint32_t queue) { return static_cast<uint8_t>(queue % NicBench::owners); }

/// Places in a region: these are written, by both queues of its owner with the same bytes; those behind are
/// read.
constexpr uint32_t written = 1000;

uint64_t offset_of_write(uint32_t index) { return uint64_t{bytes} * (index % written); }
uint64_t offset_of_message(uint32_t queue, uint32_t index) {
  return uint64_t{bytes} * (messages * queue + index);
}
uint64_t offset_of_read(uint32_t queue) { return uint64_t{bytes} * (written + queue); }

class NicContexts : public testing::Test {
 protected:
  static SystemConfig config() {
    SystemConfig config = NicBench::usual_config(nodes, "nic_many");
    config.faults.delay = delay;
    return config;
  }
  static driver::RdmaSetup setup() {
    auto setup = NicBench::usual_setup();
    setup.tick_cycles = tick_cycles;
    setup.rx_timeout = setup.tx_retry = 3 * delay / tick_cycles;
    setup.tx_dead = 8191;
    setup.max_retry = 15;
    setup.backoff = 0;
    return setup;
  }

  void open() {
    for (uint32_t node = 0; node < nodes; ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_.fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_.fill(node, NicBench::target_of(owner) + offset_of_read(0), queues * bytes);
      }
      for (uint32_t queue = 0; queue < queues; ++queue) {
        auto ring = bench_.ring_setup(queue, owner_of(queue));
        ring.sq_log2 = ring.cq_log2 = 11;
        bench_.enable(node, queue, ring);
      }
    }
  }

  /// Offset of a buffer in those of its owner: first of SENDs, then of the READ.
  static uint64_t buffer(uint32_t queue, uint32_t index) {
    return uint64_t{bytes} * ((messages + 1) * (queue / NicBench::owners) + index);
  }

  void post(uint32_t node, uint32_t queue) {
    const uint32_t owner = owner_of(queue), peer = 1 - node;
    const auto put = [&](const queue_formats::Submission& entry) {
      ASSERT_TRUE(bench_.put(node, queue, entry, 0));
    };
    for (uint32_t i = 0; i < messages; ++i) put(bench_.recv_entry(owner, buffer(queue, i), bytes));
    put(bench_.read_entry(owner, peer, offset_of_read(queue), buffer(queue, messages), bytes));
    for (uint32_t i = 0; i < messages; ++i)
      put(bench_.send_entry(owner, peer, queue, offset_of_message(queue, i), bytes));
    for (uint32_t i = 0; i < writes; ++i)
      put(bench_.write_entry(owner, peer, offset_of_write(i), offset_of_write(i), bytes));
    bench_.hosts[node].rings[queue].queue->ring();
  }

  bool all_in_use() {
    for (uint32_t node = 0; node < nodes; ++node) {
      const Scoreboard& scoreboard = bench_.system.node(node).scoreboard();
      if (scoreboard.receiver().free_contexts() > 0 || scoreboard.sender().free_contexts() > 0) return false;
    }
    return true;
  }

  uint64_t outcomes(uint32_t node, Outcome outcome) {
    return bench_.system.node(node).scoreboard().outcomes(outcome);
  }

  std::vector<uint8_t> at(uint32_t node, uint64_t address) {
    return bench_.memory(node).read(address, bytes);
  }

  void expect_all_there(uint32_t node, uint32_t queue) {
    const uint32_t owner = owner_of(queue), peer = 1 - node;
    std::vector<std::vector<uint8_t>> sent, here;
    for (uint32_t i = 0; i < messages; ++i) {
      sent.push_back(at(peer, NicBench::source_of(owner) + offset_of_message(queue, i)));
      here.push_back(at(node, NicBench::buffers_of(owner) + buffer(queue, i)));
    }
    EXPECT_TRUE(std::ranges::is_permutation(here, sent)) << "SENDs take the buffers in any order";
    for (uint32_t i = 0; i < writes; ++i) {
      EXPECT_EQ(at(node, NicBench::target_of(owner) + offset_of_write(i)),
                at(peer, NicBench::source_of(owner) + offset_of_write(i)));
    }
    EXPECT_EQ(at(node, NicBench::buffers_of(owner) + buffer(queue, messages)),
              at(peer, NicBench::target_of(owner) + offset_of_read(queue)));
  }

  NicBench bench_{config(), setup()};
};

// Packets take so long that nothing ends before every context of both halves of both engines is in use. From
// then on packets are lost, so that timers of some of the many end.
TEST_F(NicContexts, AllInUseAtOnceOnBothSidesAndAllRequestsEndWell) {
  ASSERT_EQ(config().node.build.params.n_rx_ctx, contexts);
  ASSERT_EQ(config().node.build.params.n_tx_ctx, contexts);
  open();
  for (uint32_t node = 0; node < nodes; ++node) {
    for (uint32_t queue = 0; queue < queues; ++queue) post(node, queue);
  }
  ASSERT_TRUE(bench_.system.run_until([&] { return all_in_use(); }, 6 * delay)) << bench_.problems();
  for (uint32_t node = 0; node < nodes; ++node) {
    EXPECT_EQ(outcomes(node, Outcome::submit), contexts);
    EXPECT_EQ(outcomes(node, Outcome::grant), contexts);
    EXPECT_EQ(outcomes(node, Outcome::read_taken), answers);
    EXPECT_EQ(outcomes(node, Outcome::complete) + outcomes(node, Outcome::released), 0u);
  }

  SystemConfig lossy = config();
  lossy.faults.loss = 0.01;
  bench_.system.network().set_faults(lossy.faults);
  bench_.expect_settled(10'000'000);
  for (uint32_t node = 0; node < nodes; ++node) {
    EXPECT_EQ(outcomes(node, Outcome::complete), queues * (writes + messages) + answers);
    EXPECT_GT(outcomes(node, Outcome::ask_map), 0u) << "no packet of data was missing";
    EXPECT_GT(outcomes(node, Outcome::done_again), 0u) << "no end of a transfer was lost";
  }
  for (uint32_t node = 0; node < nodes; ++node) {
    for (uint32_t queue = 0; queue < queues; ++queue) expect_all_there(node, queue);
  }
}

}  // namespace
}  // namespace weft::tb
