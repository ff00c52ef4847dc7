// SPDX-License-Identifier: Apache-2.0
// Races of docs/rdma_queues.md, each brought about on purpose, as those of nic_races_test.cpp.
#include "nic_races.hpp"

namespace weft::tb {
namespace {

using NicQueueRaces = NicRaces;

TEST_F(NicQueueRaces, BadRingsAreRefused) {
  build();
  auto setup = bench().ring_setup(2, 0);
  setup.sq_base += 64;
  std::optional<bool> answer;
  bench().hosts[0].administrator->enable(2, setup, [&](bool ok) { answer = ok; });
  wait_until([&] { return answer.has_value(); }, "answer");
  EXPECT_FALSE(answer.value_or(true));
  bench().enable(0, 2, 0);
  bench().expect_settled();
}

TEST_F(NicQueueRaces, QueueBeingDisabledTakesNothingMore) {
  build();
  for (uint32_t n = 0; n < 8; ++n)
    bench().post(0, 0, bench().write_entry(0, 1, 4096 * n, 4096 * n, 4096), no_status);
  wait_until([&] { return node(0).queues().under_way() >= 5; }, "five requests");
  disable_at_once(0, 0);
  wait_until([&] { return state(0, 0) == queue_formats::QueueState::drain; }, "DRAIN");
  EXPECT_FALSE(write(0, driver::ring_register(queue_reg::Q_CTL), 0)) << "a second time";
  EXPECT_FALSE(write(0, driver::ring_register(queue_reg::SQ_TAIL, 0), 9));
  EXPECT_FALSE(write(0, driver::ring_register(queue_reg::CQ_HEAD, 0), 0));
  ASSERT_EQ(state(0, 0), queue_formats::QueueState::drain);
  bench().hosts[0].rings[0].enabled = false;
  wait_until([&] { return state(0, 0) == queue_formats::QueueState::off; }, "OFF");
  bench().expect_settled();
}

/// Memory stalls at each clock of an entry's way, then the queue is disabled, then memory goes on, with an
/// error for one of: the entry, the completion, the message.
class NicRacesDrain : public NicRaces, public testing::WithParamInterface<uint32_t> {
 protected:
  struct Range {
    uint64_t base, limit;
  };
  static Range faulty(const driver::RingSetup& setup) {
    switch (GetParam()) {
      case 0:
        return {setup.sq_base, setup.sq_base + 64};
      case 1:
        return {setup.cq_base, setup.cq_base + 32};
      default:
        return {setup.msi_addr, setup.msi_addr + 4};
    }
  }
};

TEST_P(NicRacesDrain, MemoryFailsWhileAQueueIsBeingDisabled) {
  build();
  const auto setup = bench().ring_setup(2, 0);
  for (unsigned lag = 0; lag < 100 && !bench().failed(); ++lag) {
    bench().enable(0, 2, setup);
    auto& ring = *bench().hosts[0].rings[2].queue;
    bench().hosts[0].rings[2].enabled = false;  // whether its completion comes depends on the lag
    ring.acknowledge(true);
    auto entry = bench().write_entry(0, 0x10000, 0, 0, 64);  // ends at once: there is no such node
    entry.node = 0x10000;
    ring.put(entry);
    ring.ring();
    bench().run(lag);
    node(0).memory().stall(true);
    disable_at_once(0, 2);
    bench().run(60);
    const auto [base, limit] = faulty(setup);
    node(0).memory().inject_errors(base, limit);
    node(0).memory().stall(false);
    wait_until([&] { return state(0, 2) == queue_formats::QueueState::off; }, "OFF");
    node(0).memory().inject_errors(0, 0);
  }
  bench().expect_settled();
}

INSTANTIATE_TEST_SUITE_P(Faults, NicRacesDrain, testing::Range<uint32_t>(0, 3));

}  // namespace
}  // namespace weft::tb
