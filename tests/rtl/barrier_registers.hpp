// SPDX-License-Identifier: Apache-2.0
// Registers of a barrier engine of any size: they read as written, all bits at once only, and refuse the
// rest.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "barrier/engine.hpp"
#include "weft/barrier/formats.hpp"

namespace weft::rtl_test {

/// @param engine a tb::LockstepNode without open groups
template <typename Engine>
void check_registers(Engine& engine, std::mt19937_64& random) {
  namespace reg = barrier::formats::reg;
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  const std::vector<std::pair<uint32_t, uint32_t>> widths{
      {reg::SELF, 16},     {reg::TICK_PERIOD, 16}, {reg::TABLE_GROUP, 8}, {reg::TABLE_INDEX, 16},
      {reg::INSTANCE, 16}, {reg::GOOD, 16},        {reg::JUDGE_TRIES, 8}, {reg::FIRST, 16},
      {reg::LARGEST, 16},  {reg::TRIES, 8},        {reg::LATE, 32},       {reg::MULTICAST, 16}};
  for (int round = 0; round < 30; round++) {
    for (const auto& [address, width] : widths) {
      const auto largest = static_cast<uint32_t>((uint64_t{1} << width) - 1);
      const uint32_t value = static_cast<uint32_t>(random() >> 32) & largest;
      EXPECT_TRUE(engine.write(address, value)) << address;
      EXPECT_EQ(engine.read(address), value) << address;
      EXPECT_FALSE(engine.write(address, ~value & largest, static_cast<uint8_t>(below(15)))) << address;
      EXPECT_EQ(engine.read(address), value) << address;
      if (width == 32) continue;
      EXPECT_FALSE(engine.write(address, (~value & largest) | 1U << (width + below(32 - width)))) << address;
      EXPECT_EQ(engine.read(address), value) << address;
    }
    const uint32_t shape = below(barrier::shapes.size());
    EXPECT_TRUE(engine.write(reg::SHAPE, shape));
    EXPECT_FALSE(engine.write(reg::SHAPE, static_cast<uint32_t>(barrier::shapes.size()) + below(100)));
    EXPECT_EQ(engine.read(reg::SHAPE), shape);
    const uint32_t members = round == 0 ? Engine::members : below(Engine::members + 1);
    EXPECT_TRUE(engine.write(reg::MEMBERS, members));
    EXPECT_EQ(engine.read(reg::MEMBERS), members);
    EXPECT_FALSE(engine.write(reg::MEMBERS, Engine::members + 1 + below(100000)));
    EXPECT_EQ(engine.read(reg::MEMBERS), members);
    const uint32_t stride = below(2048);
    EXPECT_TRUE(engine.write(reg::STRIDE, stride));
    EXPECT_EQ(engine.read(reg::STRIDE), stride);
    EXPECT_FALSE(engine.write(reg::STRIDE, 2048 + below(60000)));
    EXPECT_EQ(engine.read(reg::STRIDE), stride);
    const uint32_t block = below(barrier::largest_block_log2 + 1);
    EXPECT_TRUE(engine.write(reg::BLOCK_LOG2, block));
    EXPECT_FALSE(engine.write(reg::BLOCK_LOG2, barrier::largest_block_log2 + 1 + below(100)));
    EXPECT_EQ(engine.read(reg::BLOCK_LOG2), block);
    for (const auto& [address, largest] : std::vector<std::pair<uint32_t, uint32_t>>{
             {reg::SHAPE, static_cast<uint32_t>(barrier::shapes.size()) - 1},
             {reg::MEMBERS, Engine::members},
             {reg::STRIDE, 2047},
             {reg::BLOCK_LOG2, barrier::largest_block_log2}}) {
      const uint32_t bit = 1U << (round + 1);
      EXPECT_EQ(engine.write(address, bit), bit <= largest) << address << ", " << bit;
    }
    EXPECT_FALSE(engine.read(1 + 4 * below(200)).has_value()) << "no register begins there";
    EXPECT_FALSE(engine.write(0x200 + below(0x200), 0));
    EXPECT_FALSE(engine.read(0x200 + below(0x200)).has_value());
  }
}

}  // namespace weft::rtl_test
