// SPDX-License-Identifier: Apache-2.0
// A RAM under random reads and writes beside an array; shared by the tests of ram_sdp and ram_1r1w.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store_lanes.hpp"

namespace weft::rtl_test {

enum class Collisions { avoided, new_data };

class RamTest : public testing::TestWithParam<Store> {
 protected:
  void write(unsigned address, uint16_t data) {
    bench_->ram_we_i = 1;
    bench_->ram_waddr_i = static_cast<uint8_t>(address);
    bench_->ram_wdata_i = data;
  }
  void read(unsigned address) {
    bench_->ram_re_i = 1;
    bench_->ram_raddr_i = static_cast<uint8_t>(address);
  }

  /// Ends the cycle, follows in the array, compares rdata_o as far as it is defined.
  void cycle() {
    const auto& top = bench_.top();
    if (top.ram_we_i) words_[top.ram_waddr_i] = top.ram_wdata_i;
    if (top.ram_re_i) expected_ = words_[top.ram_raddr_i];
    bench_.step();
    bench_->ram_we_i = 0;
    bench_->ram_re_i = 0;
    bench_.settle();
    if (expected_) {
      ASSERT_EQ(top.ram_rdata_o, *expected_) << "cycle " << bench_.cycle();
    }
  }

  void random_accesses(Collisions collisions, unsigned cycles) {
    for (unsigned n = 0; n < cycles && !HasFatalFailure(); ++n) {
      if (n % 64 == 0) {
        writes_ = bench_.pace();
        reads_ = bench_.pace();
      }
      const unsigned waddr = address();
      const unsigned raddr = address();
      const bool writes = bench_.chance(writes_);
      if (writes) write(waddr, static_cast<uint16_t>(bench_.below(1 << 16)));
      const bool meet = writes && raddr == waddr;
      if (bench_.chance(reads_) && !(meet && collisions == Collisions::avoided)) read(raddr);
      cycle();
    }
  }

  unsigned address() { return static_cast<unsigned>(bench_.below(lane_.size)); }

  const Store lane_ = GetParam();
  StoreBench bench_{lane_.index};

 private:
  std::vector<std::optional<uint16_t>> words_ = std::vector<std::optional<uint16_t>>(GetParam().size);
  std::optional<uint16_t> expected_;
  unsigned writes_ = 0;
  unsigned reads_ = 0;
};

}  // namespace weft::rtl_test
