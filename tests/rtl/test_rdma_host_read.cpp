// SPDX-License-Identifier: Apache-2.0
// rdma_host_read: every packet it fetches is complete and in order, whatever pauses; one that could not be
// read is left out; and memory latency costs no bubbles.
#include <algorithm>
#include <array>
#include <string>

#include "rdma_host_read.hpp"

namespace weft::rtl_test {
namespace {

using RdmaHostRead = HostReadTest;

tb::AxiMemoryConfig memory(uint32_t latency, uint32_t jitter = 0, double pause = 0, uint32_t bursts = 16) {
  tb::AxiMemoryConfig config;
  config.max_reads = bursts;
  config.latency = latency;
  config.jitter = jitter;
  config.pause = pause;
  return config;
}

constexpr uint8_t resp_exokay = 1;

TEST_P(RdmaHostRead, RandomOrdersAndPauses) {
  for (const auto& config : {memory(0), memory(5, 30, 0.1), memory(20, 0, 0.5), memory(1, 3, 0.9)}) {
    for (const bool reset_at_end : {true, false}) {
      start(config);
      ReadPaces paces;
      for (unsigned n = 0; n < 20'000; ++n) {
        if (n % 200 == 0) paces = {bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace()};
        if (orders_.empty()) {
          Order order = make_order(random_length(bench_, lane_.payload));
          if (bench_.chance(10)) {
            order.bad_beat = static_cast<uint32_t>(bench_.below(words(order.header.len)));
            order.resp = static_cast<uint8_t>(1 + bench_.below(3));
          }
          order.over = bench_.chance(10);
          orders_.push_back(order);
        }
        ASSERT_NO_FATAL_FAILURE(cycle(paces));
      }
      if (!reset_at_end) {
        ASSERT_NO_FATAL_FAILURE(finish());
      }
    }
  }
  EXPECT_GT(delivered_, 1000u);
  EXPECT_GT(bad_packets_, 50u);
  EXPECT_GT(faults_, 50u);
  EXPECT_GT(dropped_faults_, 5u);
}

TEST_P(RdmaHostRead, EveryLength) {
  start(memory(3));
  for (uint32_t length = 1; length <= lane_.payload; ++length) {
    orders_.push_back(make_order(static_cast<uint16_t>(length)));
  }
  while (!orders_.empty()) ASSERT_NO_FATAL_FAILURE(cycle({}));
  ASSERT_NO_FATAL_FAILURE(finish());
  EXPECT_EQ(delivered_, lane_.payload);
}

TEST_P(RdmaHostRead, PacketWithAnErrorInAnyBeatIsLeftOut) {
  start(memory(3));
  const auto length = static_cast<uint16_t>(lane_.payload);
  for (uint32_t beat = 0; beat < words(length); ++beat) {
    for (const uint8_t resp : {tb::resp_slverr, tb::resp_decerr, resp_exokay}) {
      Order order = make_order(length);
      order.bad_beat = beat;
      order.resp = resp;
      orders_.push_back(order);
      orders_.push_back(make_order(1));  // the next one is not to blame
    }
  }
  ASSERT_NO_FATAL_FAILURE(finish());
  EXPECT_EQ(bad_packets_, 2 * words(length));
  EXPECT_EQ(delivered_, 4 * words(length));
}

TEST_P(RdmaHostRead, PacketOfATransferThatIsOverIsLeftOut) {
  start(memory(3));
  for (uint32_t n = 0; n < 20; ++n) {
    Order order = make_order(random_length(bench_, lane_.payload));
    order.over = n % 2 == 0;
    orders_.push_back(order);
  }
  ASSERT_NO_FATAL_FAILURE(finish());
  EXPECT_EQ(delivered_, 10u);
}

/// One packet that cannot be read.
class RdmaHostReadFault : public HostReadTest {
 protected:
  void order_bad(bool over = false) {
    Order order = make_order(1);
    order.bad_beat = 0;
    order.resp = tb::resp_slverr;
    order.over = over;
    orders_.push_back(order);
  }
  void cycles(unsigned count, unsigned fault_pace) {
    for (unsigned n = 0; n < count && !HasFatalFailure(); ++n) cycle({100, 100, 100, fault_pace});
  }
};

TEST_P(RdmaHostReadFault, WaitsUntilItIsTakenAndOthersAreDropped) {
  start(memory(3));
  for (unsigned n = 0; n < 3; ++n) order_bad();
  cycles(100, 0);
  EXPECT_TRUE(bench_->fault_valid_o);
  EXPECT_FALSE(bench_->idle_o) << "the sender will be told yet";
  EXPECT_EQ(bad_packets_, 3u);
  EXPECT_EQ(dropped_faults_, 2u);
  cycles(2, 100);
  EXPECT_EQ(faults_, 1u);
  EXPECT_TRUE(bench_->idle_o);
  order_bad();
  cycles(100, 100);
  EXPECT_EQ(faults_, 2u);
}

TEST_P(RdmaHostReadFault, OfATransferThatIsOverIsNotTold) {
  start(memory(3));
  order_bad(true);
  cycles(100, 0);
  EXPECT_EQ(bad_packets_, 1u);
  EXPECT_FALSE(bench_->fault_valid_o);
}

TEST_P(RdmaHostReadFault, ThatWaitsIsForgottenByAReset) {
  start(memory(3));
  order_bad();
  cycles(100, 0);
  ASSERT_TRUE(bench_->fault_valid_o);
  start(memory(3));
  cycles(100, 0);
  EXPECT_FALSE(bench_->fault_valid_o);
  EXPECT_TRUE(bench_->idle_o);
}

TEST_P(RdmaHostRead, IsNotIdleWhileMemoryOwesAnAnswer) {
  start(memory(50));
  ASSERT_NO_FATAL_FAILURE(cycle({}));
  EXPECT_TRUE(bench_->idle_o);
  orders_.push_back(make_order(1));
  for (unsigned n = 0; n < 10 && !orders_.empty(); ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
  ASSERT_TRUE(orders_.empty());
  for (unsigned n = 0; n < 45; ++n) {
    ASSERT_NO_FATAL_FAILURE(cycle({}));
    EXPECT_FALSE(bench_->idle_o) << n << " clocks after the order";
  }
  ASSERT_NO_FATAL_FAILURE(finish());
}

/// Payload words come one a clock from the first to the last. A packet is passed on only when it has come as
/// a whole: a full one comes first, whose delay all others share.
class RdmaHostReadStream : public HostReadTest {
 protected:
  void expect_no_bubble(unsigned latency, const auto& length) {
    start(memory(latency));
    uint64_t total = 0;
    for (unsigned n = 0; n < 500; ++n) {
      orders_.push_back(make_order(n == 0 ? static_cast<uint16_t>(lane_.payload) : length()));
      total += words(orders_.back().header.len);
    }
    while (words_taken_ == 0) ASSERT_NO_FATAL_FAILURE(cycle({}));
    const uint64_t first = bench_.cycle();
    while (words_taken_ < total) ASSERT_NO_FATAL_FAILURE(cycle({}));
    EXPECT_EQ(bench_.cycle() - first, total - 1);
    ASSERT_NO_FATAL_FAILURE(finish());
  }
};

TEST_P(RdmaHostReadStream, FullPackets) {
  expect_no_bubble(20, [&] { return static_cast<uint16_t>(lane_.payload); });
}

TEST_P(RdmaHostReadStream, PacketsOfOneByte) {
  expect_no_bubble(4, [] { return uint16_t{1}; });
}

TEST_P(RdmaHostReadStream, PacketsOfAnyLength) {
  expect_no_bubble(4, [&] { return random_length(bench_, lane_.payload); });
}

/// A buffer for a slow memory. What a fast one takes of it is 64 beats; more is used only while the sink
/// would wait otherwise.
class RdmaHostReadAhead : public HostReadTest {
 protected:
  static constexpr unsigned slow = 200;   // clocks, each of which a beat could come in
  static constexpr uint64_t enough = 64;  // beats
  static constexpr uint64_t behind = 8;   // beats on their way out, and of packets that it must see wait

  /// The sink takes the next header with the last words of a packet.
  void clocks(unsigned count, unsigned payload_pace) {
    const uint32_t packet = words(static_cast<uint16_t>(lane_.payload));
    for (unsigned n = 0; n < count && !HasFatalFailure(); ++n) {
      if (orders_.empty()) orders_.push_back(make_order(static_cast<uint16_t>(lane_.payload)));
      cycle({100, delivered_ * packet < words_taken_ + packet ? 100u : 0, payload_pace});
    }
  }
  uint64_t most_ahead(unsigned count, unsigned payload_pace) {
    uint64_t most = 0;
    for (unsigned n = 0; n < count && !HasFatalFailure(); ++n) {
      clocks(1, payload_pace);
      most = std::max(most, words_ordered_ - words_taken_);
    }
    return most;
  }
};

TEST_P(RdmaHostReadAhead, NoFartherThanAFastMemoryTakes) {
  start(memory(3));
  EXPECT_LE(most_ahead(5'000, 100), enough + behind);
  EXPECT_LE(most_ahead(5'000, 20), enough + behind);
}

TEST_P(RdmaHostReadAhead, AsFarAsASlowMemoryTakesUntilItTakesLess) {
  start(memory(slow, 0, 0, 128));
  clocks(20'000, 100);
  const uint64_t before = words_taken_;
  clocks(5'000, 100);
  EXPECT_GE(words_taken_ - before, 4'950u) << "the sink waits";
  EXPECT_GT(words_ordered_ - words_taken_, slow);
  clocks(100'000, 5);
  EXPECT_LE(most_ahead(5'000, 5), enough + behind) << "of a sink that takes little";
  ASSERT_NO_FATAL_FAILURE(finish());
}

constexpr std::array lanes{
    ReadLane{0, "bits256", 32, 256},       ReadLane{1, "bits512", 64, 256},
    ReadLane{2, "bits256_tight", 32, 256}, ReadLane{3, "bits512_payload4096", 64, 4096},
    ReadLane{4, "bits256_deep", 32, 64},
};

std::string lane_name(const testing::TestParamInfo<ReadLane>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Lanes, RdmaHostRead, testing::ValuesIn(lanes), lane_name);
INSTANTIATE_TEST_SUITE_P(Lanes, RdmaHostReadFault, testing::Values(lanes[0], lanes[3]), lane_name);
INSTANTIATE_TEST_SUITE_P(Lanes, RdmaHostReadAhead, testing::Values(lanes[4]), lane_name);
INSTANTIATE_TEST_SUITE_P(Lanes, RdmaHostReadStream, testing::Values(lanes[0], lanes[1], lanes[3]), lane_name);

}  // namespace
}  // namespace weft::rtl_test
