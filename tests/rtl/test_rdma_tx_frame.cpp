// SPDX-License-Identifier: Apache-2.0
// rdma_tx_frame: layout and CRC of every packet, the order of its sources, pauses anywhere, and no bubble.
#include <algorithm>
#include <string>

#include "rdma_tx_frame.hpp"

namespace weft::rtl_test {
namespace {

class RdmaTxFrame : public TxFrameTest {
 protected:
  /// Something is always offered, and the sink never pauses: beat follows beat until all has left.
  void expect_no_bubble(uint64_t total, const FramePaces& paces = {}) {
    const uint64_t before = monitor_.beats();
    while (monitor_.beats() == before) ASSERT_NO_FATAL_FAILURE(cycle(paces));
    for (uint64_t n = 1; n < total; ++n) ASSERT_NO_FATAL_FAILURE(cycle(paces));
    EXPECT_EQ(monitor_.beats() - before, total);
    ASSERT_NO_FATAL_FAILURE(finish());
    EXPECT_EQ(monitor_.beats() - before, total);
  }

  /// Keeps some packets of each kind waiting.
  void refill() {
    if (rx_ctl_.queue.empty()) rx_ctl_.queue.push_back(control());
    if (tx_ctl_.queue.empty()) tx_ctl_.queue.push_back(control());
    if (data_.queue.size() < 2) push_data(random_length(bench_, payload));
  }
};

TEST_P(RdmaTxFrame, RandomPacketsAndPauses) {
  FramePaces paces;
  for (unsigned n = 0; n < 200'000; ++n) {
    if (n % 100 == 0) paces = {bench_.pace(), bench_.pace(), bench_.pace(), bench_.pace()};
    refill();
    ASSERT_NO_FATAL_FAILURE(cycle(paces));
    if (n % 20'000 == 0) reset();
  }
  ASSERT_NO_FATAL_FAILURE(finish());
  for (const char kind : {'r', 't', 'd'}) EXPECT_GT(std::count(taken_.begin(), taken_.end(), kind), 3000);
}

TEST_P(RdmaTxFrame, EveryLengthTakesAsManyBeatsAsItNeeds) {
  for (uint16_t length = 1; length <= payload; ++length) {
    const uint64_t before = monitor_.beats();
    push_data(length);
    ASSERT_NO_FATAL_FAILURE(finish());
    EXPECT_EQ(monitor_.beats() - before, beats_of_data(length)) << "length " << length;
  }
}

TEST_P(RdmaTxFrame, ControlOfTheReceiverGoesFirstThenOfTheSenderThenData) {
  for (unsigned n = 0; n < 3; ++n) {
    rx_ctl_.queue.push_back(control());
    tx_ctl_.queue.push_back(control());
    push_data(payload);
  }
  ASSERT_NO_FATAL_FAILURE(finish());
  EXPECT_EQ(taken_, "rrrtttddd");
}

TEST_P(RdmaTxFrame, PacketThatHasBegunIsFinishedBeforeMoreUrgentOnes) {
  for (uint64_t beat = 1; beat < beats_of_data(payload); ++beat) {
    taken_.clear();
    push_data(payload);
    push_data(payload);
    for (uint64_t n = 0; n < beat; ++n) ASSERT_NO_FATAL_FAILURE(cycle({}));
    ASSERT_EQ(taken_, "d");
    tx_ctl_.queue.push_back(control());
    rx_ctl_.queue.push_back(control());
    ASSERT_NO_FATAL_FAILURE(finish());
    EXPECT_EQ(taken_, "drtd") << "control came with beat " << beat;
  }
}

TEST_P(RdmaTxFrame, OneControlPacketAClock) {
  for (unsigned n = 0; n < 500; ++n) {
    rx_ctl_.queue.push_back(control());
    tx_ctl_.queue.push_back(control());
  }
  expect_no_bubble(1000);
}

TEST_P(RdmaTxFrame, DataWithoutBubbles) {
  for (const uint16_t length : {1, 32, 33, 64, 65, 255, 256}) {
    for (unsigned n = 0; n < 100; ++n) push_data(length);
    expect_no_bubble(100 * beats_of_data(length));
  }
}

TEST_P(RdmaTxFrame, ControlBetweenDataWithoutBubbles) {
  uint64_t total = 0;
  for (unsigned n = 0; n < 1000; ++n) {
    push_data(random_length(bench_, payload));
    total += beats_of_data(data_.queue.back().len);
  }
  for (unsigned n = 0; n < 200; ++n, total += 2) {  // sooner through than the data
    rx_ctl_.queue.push_back(control());
    tx_ctl_.queue.push_back(control());
  }
  expect_no_bubble(total, {.rx_ctl = 20, .tx_ctl = 20});
  EXPECT_EQ(taken_.back(), 'd');
}

INSTANTIATE_TEST_SUITE_P(Lanes, RdmaTxFrame, testing::Values(FrameLane{0, 32}, FrameLane{1, 64}),
                         [](const auto& info) { return "bits" + std::to_string(8 * info.param.data_bytes); });

}  // namespace
}  // namespace weft::rtl_test
