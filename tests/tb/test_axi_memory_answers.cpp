// SPDX-License-Identifier: Apache-2.0
// What the AXI4 memory itself has to do: keep bytes, answer in order and by the rules, fail where it is told
// to.
#include <algorithm>
#include <deque>
#include <numeric>

#include "axi_memory_test.hpp"

namespace weft::tb::test {
namespace {

class AxiAnswers : public AxiMemoryTest {
 protected:
  /// Reads the burst and returns its bytes; tells the response of the last beat in `response_`.
  std::vector<uint8_t> read(const AxiAddress& address) {
    read_address(address);
    std::vector<uint8_t> bytes;
    for (uint32_t i = 0; i < 1000; ++i) {
      cycle();
      if (!pins_.rvalid) continue;
      bytes.insert(bytes.end(), pins_.rdata.begin(), pins_.rdata.begin() + data_bytes);
      response_ = pins_.rresp;
      if (pins_.rlast) return bytes;
    }
    ADD_FAILURE() << "no last beat";
    return bytes;
  }

  uint8_t response_ = 0xff;
};

TEST_F(AxiAnswers, KeepsWhatIsWrittenAndReadsZeroElsewhere) {
  write(0x1fc0, 64);
  write_data(beat(9, 0xff, true));  // data before its address
  write_address(burst_at(0x2000, 32));
  wait();
  const auto bytes = read(burst_at(0x1fc0, 64));
  EXPECT_EQ(bytes.size(), 64u);
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + 32, [](uint8_t byte) { return byte == 1; }));
  EXPECT_TRUE(std::all_of(bytes.begin() + 32, bytes.end(), [](uint8_t byte) { return byte == 2; }));
  std::vector<uint8_t> partial(32, 0);
  std::fill_n(partial.begin(), 8, 9);
  EXPECT_EQ(read(burst_at(0x2000, 32)), partial);
  EXPECT_EQ(response_, resp_okay);
  expect_clean();
  EXPECT_EQ(answered_, (std::vector<uint64_t>{64, 8}));
  ASSERT_EQ(written_.size(), 2u);
  EXPECT_EQ(written_[1].address, 0x2000u);
  EXPECT_EQ(written_[1].bytes, std::vector<uint8_t>(8, 9));
}

TEST_F(AxiAnswers, BytesChangeNoEarlierThanTheAnswer) {
  write(0x1000, 32);
  EXPECT_EQ(memory_.memory().read(0x1000, 1).front(), 0);
  EXPECT_TRUE(answered_.empty());
  wait();
  EXPECT_EQ(memory_.memory().read(0x1000, 1).front(), 1);
}

TEST_F(AxiAnswers, FailsInsideTheFaultyRangeOnly) {
  write(0x1000, 256);
  wait();
  memory_.inject_errors(0x1040, 0x1060);
  for (const uint64_t address : {0x1020, 0x1060}) {  // up to it, from its end on
    read(burst_at(address, 32));
    EXPECT_EQ(response_, resp_okay) << address;
  }
  EXPECT_EQ(memory_.errors(), 0u);
  read(burst_at(0x1020, 64));
  EXPECT_EQ(response_, resp_slverr);
  EXPECT_EQ(memory_.errors(), 1u);
  write_address(burst_at(0x1020, 64));
  write_data(beat(99, all_lanes, false));
  write_data(beat(99, all_lanes, true));
  while (!pins_.bvalid) cycle();
  EXPECT_EQ(pins_.bresp, resp_decerr) << "either code, in turn";
  EXPECT_EQ(memory_.errors(), 2u);
  wait();
  EXPECT_EQ(refused_, 1u);
  EXPECT_EQ(memory_.memory().read(0x1020, 1).front(), 2) << "a write that fails changes nothing";
  memory_.inject_errors(0, 0);
  read(burst_at(0x1040, 32));
  EXPECT_EQ(response_, resp_okay);
  expect_clean();
}

TEST_F(AxiAnswers, ResetForgetsWhatIsUnderWayAndKeepsTheBytes) {
  write(0x1000, 32);
  wait();
  answered_.clear();
  pins_.rready = false;
  read_address(burst_at(0x1000, 32));
  write(0x2000, 32);
  write_data(beat(1, all_lanes, false));
  memory_.reset();
  pins_.rvalid = pins_.bvalid = false;
  EXPECT_TRUE(memory_.idle());
  for (uint32_t i = 0; i < 20; ++i) {
    cycle();
    EXPECT_FALSE(pins_.rvalid || pins_.bvalid);
  }
  write(0x4000, 32);
  wait();
  EXPECT_EQ(answered_, std::vector<uint64_t>{32});
  EXPECT_EQ(memory_.memory().read(0x1000, 1).front(), 1);
  EXPECT_EQ(memory_.memory().read(0x2000, 1).front(), 0);
  expect_clean();
}

/// A master that plays by the rules with bursts of any size, against a memory with pauses and jitter.
class AxiTraffic : public AxiMemoryTest {
 protected:
  struct ReadAnswer {
    BusData data;
    uint8_t response;
    bool last;
    bool operator==(const ReadAnswer&) const = default;
  };

  AxiTraffic()
      : AxiMemoryTest(
            {.latency = 3, .jitter = 20, .max_reads = 4, .max_writes = 3, .pause = 0.3, .seed = seed}) {
    for (uint32_t i = 0; i < bursts; ++i) {
      const auto beats = static_cast<uint32_t>(1 + random_.below(8));
      addresses_.push_back(burst_at(256ull * i, beats * data_bytes));
      for (uint32_t b = 0; b < beats; ++b) {
        beats_.push_back(beat(static_cast<uint8_t>(random_.next()), all_lanes, b + 1 == beats));
      }
    }
    reads_ = addresses_;
  }

  /// Offers the next of the queue with a pause now and then; what is offered stays.
  template <typename Payload>
  void offer(bool& valid, Payload& payload, const std::deque<Payload>& queue) {
    valid = valid || (!queue.empty() && random_.chance(0.6));
    if (valid) payload = queue.front();
  }

  void step() {
    offer(pins_.awvalid, pins_.aw, addresses_);
    offer(pins_.wvalid, pins_.w, beats_);
    pins_.bready = random_.chance(0.6);
    pins_.rready = random_.chance(0.6);
    cycle();
    stable_b_.sample(pins_.bvalid, pins_.bready, pins_.bresp, reporter_);
    stable_r_.sample(pins_.rvalid, pins_.rready, {pins_.rdata, pins_.rresp, pins_.rlast}, reporter_);
    if (pins_.awvalid && pins_.awready) addresses_.pop_front(), pins_.awvalid = false;
    if (pins_.wvalid && pins_.wready) beats_.pop_front(), pins_.wvalid = false;
  }

  static constexpr uint64_t seed = 31;
  static constexpr uint32_t bursts = 300;

  RandomStream random_{seed, 7};
  std::deque<AxiAddress> addresses_, reads_;
  std::deque<AxiWriteBeat> beats_;
  StableCheck<uint8_t> stable_b_{"b"};
  StableCheck<ReadAnswer> stable_r_{"r"};
};

TEST_F(AxiTraffic, GivesNoFindingAndLosesNothing) {
  const auto beats = beats_;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 50'000 && !(addresses_.empty() && beats_.empty() && memory_.idle()); ++i) step();
  expect_clean();
  ASSERT_EQ(answered_.size(), bursts);
  bytes = std::accumulate(answered_.begin(), answered_.end(), uint64_t{0});
  EXPECT_EQ(bytes, beats.size() * data_bytes);

  // All of it back again, several bursts under way at once.
  uint64_t next = 0;
  for (uint32_t i = 0; i < 50'000 && next < beats.size(); ++i) {
    offer(pins_.arvalid, pins_.ar, reads_);
    step();
    if (pins_.arvalid && pins_.arready) reads_.pop_front(), pins_.arvalid = false;
    if (!pins_.rvalid || !pins_.rready) continue;
    ASSERT_TRUE(std::equal(pins_.rdata.begin(), pins_.rdata.begin() + data_bytes, beats[next].data.begin()))
        << "beat " << next << ", seed " << seed;
    ASSERT_EQ(pins_.rlast, beats[next].last) << "beat " << next << ", seed " << seed;
    next++;
  }
  EXPECT_EQ(next, beats.size());
  memory_.check_quiet(reporter_);
  expect_clean();
}

}  // namespace
}  // namespace weft::tb::test
