// SPDX-License-Identifier: Apache-2.0
// The copies that the sender window keeps of what it reads (docs/rdma_baseline.md), where memory answers with
// errors.
#include <vector>

#include "engine_bench.hpp"
#include "made_packets.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
using formats::Outcome;
using formats::Status;

/// One node and itself; its buffer waits for answers less long than memory takes, so copies are asked for
/// that are not there yet.
class CopiesOfSlowMemory : public testing::Test {
 protected:
  static constexpr uint32_t payload = 64;

  static SystemConfig slow() {
    SystemConfig config = EngineBench::alone("txwindow_small");
    config.node.memory_latency = 300;
    return config;
  }
  static driver::RdmaSetup impatient() {
    driver::RdmaSetup setup = EngineBench::usual_setup();
    setup.tick_cycles = 1;
    setup.rx_timeout = 4000;
    setup.tx_retry = 100;
    setup.tx_dead = 4000;
    return setup;
  }

  Status end_of(uint16_t tag, uint32_t packets) {
    bench_.system.node(0).driver().post({source_base, destination_base, packets * payload, 0, tag});
    EXPECT_TRUE(bench_.system.run_until([&] { return bench_.completions[0].contains(tag); }, 10'000));
    return bench_.completions[0][tag];
  }

  EngineBench bench_{slow(), impatient()};
};

TEST_F(CopiesOfSlowMemory, AreSentOnceTheyAreThere) {
  AxiMemory& memory = bench_.system.node(0).memory();
  const std::vector<uint8_t> bytes(8 * payload, 0x3c);
  memory.memory().write(source_base, bytes);
  EXPECT_EQ(end_of(1, 8), Status::ok);
  EXPECT_TRUE(memory.memory().equals(destination_base, bytes));
  EXPECT_GT(bench_.count(Outcome::resend_one), 0u);
  bench_.expect_settled();
}

/// The copy comes right behind the read that failed, of which the sender has not been told yet.
TEST_F(CopiesOfSlowMemory, OfWhatCannotBeReadAreSentByNobody) {
  AxiMemory& memory = bench_.system.node(0).memory();
  unsigned sent = 0;
  bench_.system.tamper_with(
      [&](Bytes& packet) { sent += packet[0] == static_cast<uint8_t>(formats::Ptype::data); });
  for (uint16_t tag = 0; tag < 40; tag += 2) {
    memory.inject_errors(source_base, source_base + 1);
    const unsigned before = sent;
    EXPECT_EQ(end_of(tag, 1), Status::source_error);
    bench_.run(500);
    EXPECT_EQ(sent, before);
    memory.inject_errors(0, 0);
    EXPECT_EQ(end_of(tag + 1, 8), Status::ok);
    bench_.expect_settled();
  }
  EXPECT_EQ(bench_.count(Outcome::source_failed), 20u);
  EXPECT_GT(bench_.count(Outcome::resend_one), 0u);
}

}  // namespace
}  // namespace weft::tb
