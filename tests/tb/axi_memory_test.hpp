// SPDX-License-Identifier: Apache-2.0
// An AXI4 memory whose master is the test: it sets the pins by hand, one channel at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "common/axi_memory.hpp"
#include "monitor_test.hpp"

namespace weft::tb::test {

class AxiMemoryTest : public MonitorTest {
 protected:
  static constexpr uint32_t data_bytes = 32;
  static constexpr uint64_t all_lanes = 0xffff'ffff;

  explicit AxiMemoryTest(const AxiMemoryConfig& config = {.latency = 2, .max_reads = 100, .max_writes = 100})
      : memory_(
            config, [this](WrittenBurst burst) { written_.push_back(std::move(burst)); },
            [this](uint64_t bytes, bool ok) { answered_.push_back(bytes), refused_ += !ok; }) {
    pins_.bready = pins_.rready = true;
  }

  /// One clock cycle; the signals of the master stand as the test has set them.
  void cycle() {
    next_cycle();
    memory_.drive(pins_);
    memory_.sample(pins_, reporter_);
  }

  /// Until everything asked for has been answered.
  void wait() {
    for (uint32_t i = 0; i < 1000 && !memory_.idle(); ++i) cycle();
    EXPECT_TRUE(memory_.idle());
  }

  void write_address(const AxiAddress& address) {
    pins_.aw = address;
    pass(pins_.awvalid, pins_.awready);
  }
  void read_address(const AxiAddress& address) {
    pins_.ar = address;
    pass(pins_.arvalid, pins_.arready);
  }
  void write_data(const AxiWriteBeat& data) {
    pins_.w = data;
    pass(pins_.wvalid, pins_.wready);
  }

  /// A whole burst of full beats, each filled with its number.
  void write(uint64_t address, uint32_t bytes) {
    write_address(burst_at(address, bytes));
    const uint32_t beats = bytes / data_bytes;
    for (uint32_t i = 1; i <= beats; ++i) write_data(beat(static_cast<uint8_t>(i), all_lanes, i == beats));
  }

  static AxiAddress burst_at(uint64_t address, uint32_t bytes) {
    return {address, static_cast<uint8_t>(bytes / data_bytes - 1), 5, 1};
  }

  static AxiWriteBeat beat(uint8_t fill, uint64_t strobes, bool last) {
    AxiWriteBeat result;
    result.data.fill(fill);
    result.strb = strobes;
    result.last = last;
    return result;
  }

  AxiPins pins_;
  std::vector<WrittenBurst> written_;
  std::vector<uint64_t> answered_;
  unsigned refused_ = 0;  // of them with an error
  AxiMemory memory_;

 private:
  void pass(bool& valid, const bool& ready) {
    valid = true;
    cycle();
    ASSERT_TRUE(ready) << "the tests count on a memory that is always ready";
    valid = false;
  }
};

}  // namespace weft::tb::test
