// SPDX-License-Identifier: Apache-2.0
// rdma_window against the set of all packets received: every state of 8 bits, random ones of 128.
#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "rdma_blocks.hpp"

namespace weft::rtl_test {
namespace {

constexpr uint32_t max_pidx = (1u << 24) - 1;

/// All packets received, and nothing else.
class NaiveWindow {
 public:
  /// State with this WBASE and these packets beyond it.
  NaiveWindow(uint32_t size, uint32_t wbase, const std::set<uint32_t>& beyond)
      : size_(size), wbase_(wbase), beyond_(beyond) {}

  bool received(uint32_t pidx) const { return pidx < wbase_ || beyond_.contains(pidx); }
  bool too_far(uint32_t pidx) const { return pidx > wbase_ + size_; }
  bool at_base(uint32_t pidx) const { return pidx == wbase_; }
  uint32_t wbase() const { return wbase_; }

  void receive(uint32_t pidx) {
    if (received(pidx) || too_far(pidx)) return;
    beyond_.insert(pidx);
    while (beyond_.erase(wbase_)) ++wbase_;
  }

 private:
  uint32_t size_;
  uint32_t wbase_;
  std::set<uint32_t> beyond_;  // received, from wbase_ on
};

/// One of the two windows of the bench, as plain numbers.
struct Output {
  bool duplicate;
  bool beyond;
  bool in_order;
  uint32_t wbase;
  std::vector<bool> wvec;

  bool operator==(const Output&) const = default;
};

class RdmaWindow : public testing::Test {
 protected:
  /// Sends packet `pidx` into the window of `size` bits in the given state, and compares all outputs.
  void check(uint32_t size, uint32_t wbase, const std::set<uint32_t>& beyond, uint32_t pidx) {
    bench_->pidx_i = pidx;
    bench_->wbase_i = wbase;
    for (uint32_t bit = 0; bit < 128; ++bit) set_bit(bit, beyond.contains(wbase + 1 + bit));
    bench_.settle();
    const NaiveWindow before(size, wbase, beyond);
    NaiveWindow after = before;
    after.receive(pidx);
    Output expected{before.received(pidx), before.too_far(pidx), before.at_base(pidx), after.wbase(), {}};
    for (uint32_t i = 1; i <= size; ++i) expected.wvec.push_back(after.received(after.wbase() + i));
    const Output actual = size == 8 ? output8() : output128();
    ASSERT_EQ(actual.duplicate, expected.duplicate) << describe(size, wbase, beyond, pidx);
    ASSERT_EQ(actual.beyond, expected.beyond) << describe(size, wbase, beyond, pidx);
    ASSERT_EQ(actual.in_order, expected.in_order) << describe(size, wbase, beyond, pidx);
    ASSERT_EQ(actual.wbase, expected.wbase) << describe(size, wbase, beyond, pidx);
    ASSERT_EQ(actual.wvec, expected.wvec) << describe(size, wbase, beyond, pidx);
  }

  /// Marks of a random state of the 128-bit window: long runs of ones with few holes are likely.
  std::set<uint32_t> random_marks(uint32_t wbase) {
    std::set<uint32_t> marks;
    const uint64_t run = bench_.below(129);
    const unsigned density = bench_.pace();
    for (uint32_t i = 1; i <= 128 && wbase + i <= max_pidx; ++i) {
      if (i <= run || bench_.chance(density)) marks.insert(wbase + i);
    }
    return marks;
  }

  RdmaBlocksBench bench_;

 private:
  static std::string describe(uint32_t size, uint32_t wbase, const std::set<uint32_t>& beyond,
                              uint32_t pidx) {
    std::ostringstream text;
    text << "window of " << size << ", WBASE " << wbase << ", packet " << pidx << ", received beyond WBASE:";
    for (const uint32_t mark : beyond) text << ' ' << mark;
    return text.str();
  }
  void set_bit(uint32_t bit, bool value) {
    const uint32_t mask = uint32_t{1} << (bit % 32);
    uint32_t& word = bench_->wvec_i[bit / 32];
    word = value ? word | mask : word & ~mask;
  }
  Output output8() {
    Output out{
        bench_->duplicate8_o != 0, bench_->beyond8_o != 0, bench_->in_order8_o != 0, bench_->wbase8_o, {}};
    for (int bit = 0; bit < 8; ++bit) out.wvec.push_back(bench_->wvec8_o >> bit & 1);
    return out;
  }
  Output output128() {
    Output out{bench_->duplicate128_o != 0,
               bench_->beyond128_o != 0,
               bench_->in_order128_o != 0,
               bench_->wbase128_o,
               {}};
    for (int bit = 0; bit < 128; ++bit) out.wvec.push_back(bench_->wvec128_o[bit / 32] >> (bit % 32) & 1);
    return out;
  }
};

TEST_F(RdmaWindow, EveryStateAndPacketOfEightBits) {
  for (const uint32_t wbase : {0u, 1u, 20u, 255u, max_pidx - 9}) {
    for (uint32_t bits = 0; bits < 256; ++bits) {
      std::set<uint32_t> beyond;
      for (uint32_t i = 0; i < 8; ++i) {
        if (bits >> i & 1) beyond.insert(wbase + 1 + i);
      }
      for (uint32_t pidx = wbase < 20 ? 0 : wbase - 20; pidx <= std::min(wbase + 20, max_pidx); ++pidx) {
        ASSERT_NO_FATAL_FAILURE(check(8, wbase, beyond, pidx));
      }
      for (const uint32_t pidx : {0u, 0x800000u, max_pidx}) {
        ASSERT_NO_FATAL_FAILURE(check(8, wbase, beyond, pidx));
      }
    }
  }
}

TEST_F(RdmaWindow, RandomStatesAndPacketsOf128Bits) {
  for (int n = 0; n < 20'000; ++n) {
    const uint32_t wbase =
        static_cast<uint32_t>(bench_.chance(50) ? bench_.below(300) : bench_.below(max_pidx));
    const std::set<uint32_t> beyond = random_marks(wbase);
    const uint32_t lowest = wbase < 10 ? 0 : wbase - 10;
    const auto near = static_cast<uint32_t>(lowest + bench_.below(160));
    const auto anywhere = static_cast<uint32_t>(bench_.below(max_pidx + 1));
    const uint32_t pidx = bench_.chance(40) ? wbase : bench_.chance(90) ? near : anywhere;
    ASSERT_NO_FATAL_FAILURE(check(128, wbase, beyond, std::min(pidx, max_pidx)));
  }
}

TEST_F(RdmaWindow, EveryRunOfOnesOf128BitsAdvancesByItsLengthAndOne) {
  for (uint32_t run = 0; run <= 128; ++run) {
    std::set<uint32_t> beyond;
    for (uint32_t i = 1; i <= run; ++i) beyond.insert(1000 + i);
    ASSERT_NO_FATAL_FAILURE(check(128, 1000, beyond, 1000));
    EXPECT_EQ(bench_->wbase128_o, 1000 + run + 1);
  }
}

}  // namespace
}  // namespace weft::rtl_test
