// SPDX-License-Identifier: Apache-2.0
// The AXI4-Stream monitor finds every broken rule, and nothing when driver and sink play by them.
#include <array>
#include <cstdint>
#include <vector>

#include "common/axis.hpp"
#include "monitor_test.hpp"

namespace weft::tb::test {
namespace {

constexpr uint32_t data_bytes = 64;  // two flits a beat: a full beat, a partial one and half a flit differ
constexpr uint64_t full = ~0ull;
constexpr uint64_t one_flit = 0xffff'ffff;

class AxisMonitorTest : public MonitorTest {
 protected:
  /// One clock cycle in which these signals stand.
  void cycle(bool valid, bool ready, const AxisBeat& beat = {}) {
    next_cycle();
    monitor_.sample({beat, valid, ready}, reporter_);
  }
  void pass(const AxisBeat& beat) { cycle(true, true, beat); }

  static AxisBeat beat(uint8_t fill, uint64_t keep, bool last) {
    AxisBeat result;
    result.data.fill(fill);
    result.keep = keep;
    result.last = last;
    return result;
  }

  std::vector<Bytes> packets_;
  AxisMonitor monitor_{"m_axis", data_bytes, [this](Bytes packet) { packets_.push_back(std::move(packet)); }};
};

TEST_F(AxisMonitorTest, CollectsPacketsBeatByBeat) {
  cycle(false, true);
  pass(beat(1, full, false));
  cycle(true, false, beat(2, one_flit, true));
  cycle(true, false, beat(2, one_flit, true));
  pass(beat(2, one_flit, true));
  cycle(false, false);
  pass(beat(3, full, true));
  expect_clean();
  Bytes first(data_bytes, 1);
  first.resize(96, 2);
  EXPECT_EQ(packets_, (std::vector<Bytes>{first, Bytes(data_bytes, 3)}));
  EXPECT_EQ(monitor_.beats(), 3u);
}

TEST_F(AxisMonitorTest, FindsValidThatFallsBeforeReady) {
  cycle(true, false, beat(1, full, true));
  cycle(false, false);
  expect_finding("m_axis: valid fell before ready");
  cycle(true, false, beat(1, full, true));
  cycle(false, true);  // ready comes too late
  expect_finding("m_axis: valid fell before ready");
  cycle(false, true);
  expect_clean();
}

TEST_F(AxisMonitorTest, FindsEveryChangeOfAWaitingBeat) {
  const AxisBeat offered = beat(1, full, true);
  AxisBeat other_data = offered;
  other_data.data.back() ^= 0x80;
  for (const AxisBeat& changed : {other_data, beat(1, one_flit, true), beat(1, full, false)}) {
    cycle(true, false, offered);
    cycle(true, false, changed);
    expect_finding("m_axis: payload changed while valid waited for ready");
    cycle(true, true, offered);  // and once more, in the cycle of the handshake
    expect_finding("m_axis: payload changed while valid waited for ready");
  }
}

TEST_F(AxisMonitorTest, ANewBeatAfterAHandshakeMayDiffer) {
  pass(beat(1, full, false));
  cycle(true, false, beat(2, full, false));
  cycle(true, true, beat(2, full, false));
  cycle(true, false, beat(3, full, true));
  expect_clean();
}

TEST_F(AxisMonitorTest, FindsEmptyKeep) {
  pass(beat(1, 0, true));
  expect_finding("m_axis: tkeep has holes or is empty");
}

TEST_F(AxisMonitorTest, FindsHolesInKeep) {
  for (const uint64_t keep :
       std::array<uint64_t, 4>{full & ~2ull, full << 32, one_flit - 1, one_flit | 1ull << 63}) {
    pass(beat(1, keep, true));
    expect_finding("m_axis: tkeep has holes or is empty");
  }
}

TEST_F(AxisMonitorTest, FindsPartialBeatBeforeTheLast) {
  pass(beat(1, one_flit, false));
  expect_finding("m_axis: tkeep is not full before the last beat");
}

TEST_F(AxisMonitorTest, FindsPartOfAFlit) {
  for (const uint64_t keep :
       std::array<uint64_t, 5>{1, 0xffff, one_flit >> 1, one_flit << 1 | 1, full >> 1}) {
    pass(beat(1, keep, true));
    expect_finding("m_axis: tkeep does not mark whole flits");
  }
}

TEST_F(AxisMonitorTest, LooksAtKeepOnlyWhenTheBeatIsTaken) {
  cycle(false, true, beat(1, 0, false));
  expect_clean();
  EXPECT_EQ(monitor_.beats(), 0u);
}

TEST_F(AxisMonitorTest, ResetForgetsTheBeatAndThePacketUnderWay) {
  pass(beat(1, full, false));
  cycle(true, false, beat(2, full, true));
  monitor_.reset();
  cycle(false, false);
  pass(beat(3, full, true));
  expect_clean();
  EXPECT_EQ(packets_, std::vector<Bytes>{Bytes(data_bytes, 3)});
}

/// Driver, sink and monitor together, with pauses on both sides.
class AxisLoop : public MonitorTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(AxisLoop, DriverAndSinkKeepTheRules) {
  constexpr uint64_t seed = 17;
  std::vector<Bytes> sent, received;
  AxisDriver driver(GetParam(), PauseGenerator(0.4, seed, 0));
  AxisSink sink(PauseGenerator(0.4, seed, 1));
  AxisMonitor monitor("loop", GetParam(), [&](Bytes packet) { received.push_back(std::move(packet)); });
  RandomStream random(seed, 2);
  for (uint32_t i = 0; i < 300; ++i) {
    sent.emplace_back(32 * (1 + random.below(9)), static_cast<uint8_t>(i));
    driver.push(sent.back());
  }
  AxisPins pins;
  for (uint32_t i = 0; i < 20'000 && driver.pending() > 0; ++i) {
    next_cycle();
    driver.drive(pins);
    sink.drive(pins);
    monitor.sample(pins, reporter_);
    driver.sample(pins);
  }
  expect_clean();
  EXPECT_EQ(received, sent);
}

INSTANTIATE_TEST_SUITE_P(DataBytes, AxisLoop, testing::Values(32, 64));

}  // namespace
}  // namespace weft::tb::test
