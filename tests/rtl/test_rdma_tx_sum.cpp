// SPDX-License-Identifier: Apache-2.0
// rdma_tx_sum beside sums of the golden model's mix: packets of few contexts at all distances, their numbers
// from all of the 24 bits, so that a packet whose number only ends in zeros does not begin a new sum.
#include <array>
#include <cstdint>
#include <deque>

#include "Vrdma_tx_sum_bench.h"
#include "bench.hpp"
#include "rdma_baseline/count.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Header;

constexpr unsigned contexts = 8;  // N_TX_CTX of rdma_tx_sum_bench.sv
constexpr unsigned pidx_bits = 24;

class RdmaTxSum : public testing::Test {
 protected:
  void SetUp() override {
    bench_->valid_i = 0;
    bench_.reset(2);
  }

  /// DATA of a context; number 0 begins an attempt.
  Header packet(uint16_t sid, uint32_t pidx, bool last) {
    Header header = random_header(bench_);
    header.ptype = static_cast<uint8_t>(rdma::formats::Ptype::data);
    header.flags = static_cast<uint8_t>((header.flags & ~rdma::formats::flag_last) |
                                        (last ? rdma::formats::flag_last : 0));
    header.sid = sid;
    header.pidx = pidx;
    return header;
  }

  /// One clock, in which this comes in or nothing.
  void clock(const Header* header) {
    bench_->valid_i = header != nullptr;
    if (header) {
      put_header(bench_->header_i, *header);
      expected_.push_back(summed(*header));
    }
    bench_.settle();
    ASSERT_EQ(bench_->busy_o, inside_ != 0);
    ASSERT_EQ(bench_->valid_o, inside_ >> 1);
    if (bench_->valid_o) {
      ASSERT_EQ(text(get_header(bench_->header_o)), text(expected_.front()));
      expected_.pop_front();
    }
    inside_ = (inside_ << 1 | bench_->valid_i) & 3;
    bench_.step();
  }

  Bench<Vrdma_tx_sum_bench> bench_;

 private:
  /// As it has to leave.
  Header summed(Header header) {
    uint32_t& sum = sums_[header.sid];
    sum = (header.pidx == 0 ? 0 : sum) + rdma::mix(header.pidx);
    if (header.flags & rdma::formats::flag_last)
      header.arg = (header.arg & 0xffff'ffff) | uint64_t{sum} << 32;
    return header;
  }

  std::array<uint32_t, contexts> sums_{};
  std::deque<Header> expected_;
  unsigned inside_ = 0;  // by stage
};

TEST_F(RdmaTxSum, BeginsAnewWithPacketZeroOnly) {
  for (unsigned bit = 0; bit < pidx_bits; ++bit) {
    const auto sid = static_cast<uint16_t>(bit % contexts);
    for (const uint32_t pidx : {0u, 1u, 1u << bit, (1u << bit) + 1}) {
      const Header header = packet(sid, pidx, pidx > 1);
      ASSERT_NO_FATAL_FAILURE(clock(&header));
      ASSERT_NO_FATAL_FAILURE(clock(nullptr));
    }
  }
  for (unsigned n = 0; n < 3; ++n) ASSERT_NO_FATAL_FAILURE(clock(nullptr));
}

TEST_F(RdmaTxSum, RandomPacketsOfAnyContextInAnyClock) {
  unsigned pace = 100;
  for (unsigned sid = 0; sid < contexts; ++sid) {
    const Header first = packet(static_cast<uint16_t>(sid), 0, false);
    ASSERT_NO_FATAL_FAILURE(clock(&first));
  }
  for (unsigned n = 0; n < 100'000; ++n) {
    if (n % 1000 == 0) pace = bench_.pace();
    const auto pidx = static_cast<uint32_t>(bench_.below(uint64_t{1} << bench_.below(pidx_bits + 1)));
    const Header header = packet(static_cast<uint16_t>(bench_.below(contexts)), pidx, bench_.chance(30));
    ASSERT_NO_FATAL_FAILURE(clock(bench_.chance(pace) ? &header : nullptr));
  }
}

}  // namespace
}  // namespace weft::rtl_test
