// SPDX-License-Identifier: Apache-2.0
// When weft_write_lat takes a message to have come.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "examples/await.hpp"

namespace weft::examples {
namespace {

constexpr uint8_t turn = 7, over = 255;

/// Packets of 256 bytes come in this order, one each time that is waited.
std::vector<size_t> waits_of(const std::vector<size_t>& order) {
  std::vector<uint8_t> bytes(256 * order.size());
  std::vector<size_t> waits;
  EXPECT_TRUE(await_all(bytes, turn, over, [&](size_t index, uint8_t value) {
    EXPECT_EQ(value, 0);
    if (waits.size() == order.size()) return false;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(256 * order[waits.size()]), 256, turn);
    waits.push_back(index);
    return true;
  }));
  EXPECT_TRUE(std::ranges::all_of(bytes, [](uint8_t byte) { return byte == turn; }));
  return waits;
}

TEST(AwaitAll, InOrderItLooksAtTheLastByteOnly) {
  EXPECT_EQ(waits_of({0, 1, 2}), (std::vector<size_t>{767, 767, 767}));
}

TEST(AwaitAll, OutOfOrderItWaitsForEachPacket) {
  EXPECT_EQ(waits_of({2, 1, 0}), (std::vector<size_t>{767, 511, 255}));
  EXPECT_EQ(waits_of({2, 0, 1}), (std::vector<size_t>{767, 511, 511}));
}

TEST(AwaitAll, SaysThatThePeerDoesNotWrite) {
  const std::vector<uint8_t> bytes(10);
  EXPECT_THROW(await_all(bytes, turn, over, [](size_t, uint8_t) { return false; }), Fault);
}

TEST(AwaitAll, EndsWithAWriteThatSaysSo) {
  std::vector<uint8_t> bytes(512, turn - 1);
  EXPECT_FALSE(await_all(bytes, turn, over, [&](size_t index, uint8_t) {
    std::fill_n(bytes.begin() + (index < 256 ? 0 : 256), 256, over);
    return true;
  }));
}

}  // namespace
}  // namespace weft::examples
