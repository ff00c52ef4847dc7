// SPDX-License-Identifier: Apache-2.0
// ram_forward: a read sees every write up to the clock after its own.
#include <array>
#include <optional>

#include "Vrdma_rx_parts_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

class RamForward : public testing::Test {
 protected:
  static constexpr unsigned words = 5;

  /// One clock with a read, and with a write if data is given; rdata_o after it is that of the read before.
  void clock(unsigned raddr, unsigned waddr, std::optional<uint16_t> data) {
    bench_->ram_raddr_i = static_cast<uint8_t>(raddr);
    bench_->ram_we_i = data.has_value();
    bench_->ram_waddr_i = static_cast<uint8_t>(waddr);
    bench_->ram_wdata_i = data.value_or(0xdead);
    if (data) contents_[waddr] = *data;
    const std::optional<uint16_t> expected = reading_ ? contents_[*reading_] : std::nullopt;
    bench_.step();
    bench_.settle();
    if (expected) {
      ASSERT_EQ(bench_->ram_rdata_o, *expected) << "cycle " << bench_.cycle();
      ++compared_;
    }
    reading_ = raddr;
  }

  Bench<Vrdma_rx_parts_bench> bench_;
  std::array<std::optional<uint16_t>, words> contents_{};
  std::optional<unsigned> reading_;  // address of the clock before
  unsigned compared_ = 0;
};

TEST_F(RamForward, EqualsArrayUnderRandomAccesses) {
  unsigned writes = 50;
  for (unsigned n = 0; n < 50'000 && !HasFatalFailure(); ++n) {
    if (n % 64 == 0) writes = bench_.pace();
    std::optional<uint16_t> data;
    if (bench_.chance(writes)) data = static_cast<uint16_t>(bench_.below(1 << 16));
    clock(static_cast<unsigned>(bench_.below(words)), static_cast<unsigned>(bench_.below(words)), data);
  }
  EXPECT_GT(compared_, 40'000u);
}

TEST_F(RamForward, SeesWritesOneBeforeWithAndOneAfterTheRead) {
  clock(0, 3, 0x1111);
  clock(3, 0, std::nullopt);
  clock(0, 0, std::nullopt);
  EXPECT_EQ(bench_->ram_rdata_o, 0x1111) << "before";
  clock(3, 3, 0x2222);
  clock(0, 0, std::nullopt);
  EXPECT_EQ(bench_->ram_rdata_o, 0x2222) << "with";
  clock(3, 0, std::nullopt);
  clock(0, 3, 0x3333);
  EXPECT_EQ(bench_->ram_rdata_o, 0x3333) << "one after";
  clock(3, 3, 0x4444);
  clock(0, 3, 0x5555);
  EXPECT_EQ(bench_->ram_rdata_o, 0x5555) << "the later of two";
}

TEST_F(RamForward, DoesNotSeeALaterWrite) {
  clock(0, 3, 0x1111);
  clock(3, 0, std::nullopt);
  clock(0, 0, std::nullopt);
  bench_->ram_we_i = 1;
  bench_->ram_waddr_i = 3;
  bench_->ram_wdata_i = 0x2222;
  bench_.settle();
  EXPECT_EQ(bench_->ram_rdata_o, 0x1111);
}

}  // namespace
}  // namespace weft::rtl_test
