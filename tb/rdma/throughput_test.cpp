// SPDX-License-Identifier: Apache-2.0
// Line rate, counted in clocks at the pins of the whole engine: one header a clock, and no bubble between
// packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine_bench.hpp"

namespace weft::tb {
namespace {

using rdma::formats::Outcome;

/// Sends the packets without pauses; the clocks from the first to the last retired event, both counted.
uint64_t clocks_to_retire(EngineBench& bench, const std::vector<std::vector<uint8_t>>& packets) {
  Scoreboard& scoreboard = bench.system.node(0).scoreboard();
  const uint64_t before = scoreboard.events();
  for (const auto& packet : packets) bench.system.node(0).receive(packet);
  EXPECT_TRUE(bench.system.run_until([&] { return scoreboard.events() > before; }, 1000));
  const uint64_t first = bench.system.cycle();
  EXPECT_TRUE(
      bench.system.run_until([&] { return scoreboard.events() == before + packets.size(); }, 1'000'000));
  return bench.system.cycle() - first + 1;
}

void grant(EngineBench& bench, uint16_t transfers, uint32_t bytes) {
  for (uint16_t sid = 0; sid < transfers; ++sid) {
    bench.expect_outcome(flits_of(request(sid, bytes)), Outcome::grant);
  }
}

/// Timers must not end meanwhile: their events would be counted too.
driver::RdmaSetup patient_setup() {
  driver::RdmaSetup setup = EngineBench::usual_setup();
  setup.rx_timeout = 8191;
  return setup;
}

// Packets of one beat: transfers of a single packet whose 32 bytes share the beat with the header. Repeats of
// it are duplicates only if each sees what the one a clock before has done.
constexpr uint32_t one_beat_bytes = 32;

TEST(Throughput, OneHeaderAClockSameContextBackToBack) {
  constexpr size_t packets = 8000;
  EngineBench bench(EngineBench::alone("line"), patient_setup());
  grant(bench, 1, one_beat_bytes);
  const std::vector<std::vector<uint8_t>> stream(packets, data_packet(0, 0, 1, one_beat_bytes));
  EXPECT_EQ(clocks_to_retire(bench, stream), packets);
  EXPECT_EQ(bench.count(Outcome::finish), 1u);
  EXPECT_EQ(bench.count(Outcome::drop_duplicate), packets - 1);
  bench.expect_no_findings();
}

TEST(Throughput, OneHeaderAClockAnyOrderOfContexts) {
  constexpr uint16_t transfers = 256;
  constexpr size_t copies = 16;
  EngineBench bench(EngineBench::alone("line"), patient_setup());
  grant(bench, transfers, one_beat_bytes);
  std::vector<std::vector<uint8_t>> stream;
  for (size_t copy = 0; copy < copies; ++copy) {
    for (uint16_t sid = 0; sid < transfers; ++sid) stream.push_back(data_packet(sid, 0, 1, one_beat_bytes));
  }
  std::mt19937_64 random(1);
  std::shuffle(stream.begin(), stream.end(), random);
  EXPECT_EQ(clocks_to_retire(bench, stream), stream.size());
  EXPECT_EQ(bench.count(Outcome::finish), transfers);
  EXPECT_EQ(bench.count(Outcome::drop_duplicate), stream.size() - transfers);
  bench.expect_no_findings();
}

// The table in docs/rdma.md, Timing.
TEST(Latency, FifteenClocksFromTheLastBeatToTheEvent) {
  EngineBench bench(EngineBench::alone("w128"), patient_setup());
  grant(bench, 1, 1000);
  for (const uint16_t bytes : {256, 24}) {  // nine beats, two beats
    const uint64_t events = bench.system.node(0).scoreboard().events();
    bench.system.node(0).receive(data_packet(0, bytes == 256 ? 0 : 1, bytes == 256 ? 4 : 2, bytes));
    ASSERT_TRUE(bench.system.run_until([&] { return bench.system.node(0).beats_waiting() == 0; }, 100));
    const uint64_t last_beat = bench.system.cycle();
    ASSERT_TRUE(
        bench.system.run_until([&] { return bench.system.node(0).scoreboard().events() > events; }, 100));
    EXPECT_EQ(bench.system.cycle() - last_beat, 15u) << bytes << " bytes";
  }
  bench.expect_no_findings();
}

TEST(Throughput, NoBubbleBetweenFullPackets) {
  constexpr uint32_t packets = 500;
  constexpr uint32_t payload = 256;
  constexpr uint32_t beats = 1 + payload / 32;
  EngineBench bench(EngineBench::alone("w128"), patient_setup());
  grant(bench, 1, packets * payload);
  std::vector<std::vector<uint8_t>> stream;
  for (uint32_t pidx = 0; pidx < packets; ++pidx) stream.push_back(data_packet(0, pidx, packets, payload));
  EXPECT_EQ(clocks_to_retire(bench, stream), (packets - 1) * beats + 1);
  bench.expect_no_findings();
}

}  // namespace
}  // namespace weft::tb
