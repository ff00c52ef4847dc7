// SPDX-License-Identifier: Apache-2.0
// ram_1r1w: a read sees the write of the same cycle, and rdata_o holds whatever is written later.
#include "ram_reference.hpp"

namespace weft::rtl_test {
namespace {

class Ram1r1w : public RamTest {};

TEST_P(Ram1r1w, EqualsArrayUnderRandomAccesses) { random_accesses(Collisions::new_data, 50'000); }

TEST_P(Ram1r1w, ReadSeesWriteOfTheSameCycleAndHoldsThroughLaterOnes) {
  write(0, 0x1111);
  cycle();
  write(0, 0x2222);
  read(0);
  cycle();
  EXPECT_EQ(bench_->ram_rdata_o, 0x2222);
  write(0, 0x3333);
  cycle();
  EXPECT_EQ(bench_->ram_rdata_o, 0x2222);
  read(0);
  cycle();
  EXPECT_EQ(bench_->ram_rdata_o, 0x3333);
  write(0, 0x4444);
  cycle();
  EXPECT_EQ(bench_->ram_rdata_o, 0x3333);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ram1r1w, testing::Values(Store{1, 1}, Store{2, 5}, Store{3, 16}), store_name);

}  // namespace
}  // namespace weft::rtl_test
