// SPDX-License-Identifier: Apache-2.0
// rdma_window_open and rdma_window_step against the set of all packets received: every state of windows of 2,
// 4 and 8, random ones of 128.
#include <algorithm>
#include <bitset>
#include <set>
#include <sstream>
#include <string>

#include "Vwindow128.h"
#include "Vwindow2.h"
#include "Vwindow4.h"
#include "Vwindow8.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

using Marks = std::bitset<128>;

constexpr uint32_t max_packets = (1u << 24) - 1;  // of a transfer; so the last PIDX is one less
constexpr uint32_t max_pidx = max_packets - 1;

/// All packets received, and nothing else.
class NaiveWindow {
 public:
  /// State with this WBASE and these packets beyond it.
  NaiveWindow(uint32_t size, uint32_t wbase, const std::set<uint32_t>& beyond)
      : size_(size), wbase_(wbase), beyond_(beyond) {}

  bool received(uint32_t pidx) const { return pidx < wbase_ || beyond_.contains(pidx); }
  bool in_window(uint32_t pidx) const { return pidx > wbase_ && pidx <= wbase_ + size_; }
  uint32_t wbase() const { return wbase_; }

  void receive(uint32_t pidx) {
    if (received(pidx) || (pidx != wbase_ && !in_window(pidx))) return;
    beyond_.insert(pidx);
    while (beyond_.erase(wbase_)) ++wbase_;
  }

  /// As docs/rdma_receiver.md has it: the slot of an even lap is marked by 1, of an odd one by 0.
  Marks marks() const {
    Marks result;
    for (uint32_t pidx = wbase_ + 1; pidx <= wbase_ + size_; ++pidx) {
      result[pidx % size_] = received(pidx) != (pidx / size_ % 2 != 0);
    }
    return result;
  }

  uint32_t first_hole() const {
    uint32_t pidx = wbase_ + 1;
    while (received(pidx)) ++pidx;
    return pidx;
  }

 private:
  uint32_t size_;
  uint32_t wbase_;
  std::set<uint32_t> beyond_;  // received, from wbase_ on
};

template <typename Top, uint32_t size>
class WindowBench {
 public:
  /// Sends packet `pidx` into the window in the given state, with and without leave to receive it, and
  /// compares all outputs.
  void check(uint32_t wbase, const std::set<uint32_t>& beyond, uint32_t pidx) {
    const NaiveWindow before(size, wbase, beyond);
    NaiveWindow after = before;
    after.receive(pidx);
    put(before, pidx);
    for (const bool receive : {false, true}) {
      bench_->next_pidx_i =
          bench_.chance(20) ? std::min(after.first_hole(), max_pidx) : any_near(wbase, pidx);
      bench_->receive_i = receive;
      bench_.settle();
      const NaiveWindow& expected = receive ? after : before;
      const std::string what = describe(wbase, beyond, pidx, receive);
      ASSERT_EQ(bench_->at_base_o, pidx == wbase) << what;
      ASSERT_EQ(bench_->in_window_o, before.in_window(pidx)) << what;
      ASSERT_EQ(bench_->new_o, before.in_window(pidx) && !before.received(pidx)) << what;
      ASSERT_EQ(bench_->base_o, expected.wbase()) << what;
      ASSERT_EQ(bench_->first_o, expected.first_hole() % (2 * size)) << what;
      ASSERT_EQ(marks(), expected.marks()) << what;
      ASSERT_TRUE(bench_->same_o) << what;
      bench_.step();  // nothing waits for it but what counts coverage
    }
  }

  /// Every set of packets beyond WBASE, every packet near it and a few far away.
  void check_all_states(uint32_t wbase) {
    for (uint32_t bits = 0; bits < 1u << size; ++bits) {
      std::set<uint32_t> beyond;
      for (uint32_t i = 0; i < size; ++i) {
        if (bits >> i & 1) beyond.insert(wbase + 1 + i);
      }
      if (!beyond.empty() && *beyond.rbegin() > max_pidx) continue;
      const uint32_t reach = 3 * size;
      for (uint32_t pidx = wbase < reach ? 0 : wbase - reach; pidx <= std::min(wbase + reach, max_pidx);
           ++pidx) {
        ASSERT_NO_FATAL_FAILURE(check(wbase, beyond, pidx));
      }
      for (const uint32_t pidx : {0u, 0x800000u, max_pidx})
        ASSERT_NO_FATAL_FAILURE(check(wbase, beyond, pidx));
    }
  }

  Bench<Top>& bench() { return bench_; }

 private:
  /// Where the packet after it may be: same_o compares what the two ways say of it.
  uint32_t any_near(uint32_t wbase, uint32_t pidx) {
    const uint32_t from = bench_.chance(20) ? pidx : wbase < 4 ? 0 : wbase - 4;
    const uint32_t reach = bench_.chance(5) ? max_pidx : 4 * size;
    return std::min(from + static_cast<uint32_t>(bench_.below(reach)), max_pidx);
  }

  static std::string describe(uint32_t wbase, const std::set<uint32_t>& beyond, uint32_t pidx, bool receive) {
    std::ostringstream text;
    text << "window of " << size << ", WBASE " << wbase << ", packet " << pidx
         << (receive ? "" : " looked at only") << ", received beyond WBASE:";
    for (const uint32_t mark : beyond) text << ' ' << mark;
    return text.str();
  }

  void put(const NaiveWindow& window, uint32_t pidx) {
    const Marks marks = window.marks();
    bench_->base_i = window.wbase();
    bench_->first_i = static_cast<uint8_t>(window.first_hole() % (2 * size));
    for (uint32_t word = 0; word < 4; ++word) {
      bench_->marks_i[word] = static_cast<uint32_t>((marks >> (32 * word) & Marks(0xffffffffu)).to_ulong());
    }
    bench_->pidx_i = pidx;
  }

  Marks marks() {
    Marks result;
    for (uint32_t bit = 0; bit < size; ++bit) result[bit] = bench_->marks_o[bit / 32] >> (bit % 32) & 1;
    return result;
  }

  Bench<Top> bench_;
};

constexpr uint32_t places[] = {0,        1,          2, 3, 7, 8, 20, 255, 256, max_pidx - 9, max_pidx - 1,
                               max_pidx, max_packets};

TEST(RdmaWindow, EveryStateAndPacketOfTwoBits) {
  WindowBench<Vwindow2, 2> window;
  for (const uint32_t wbase : places) ASSERT_NO_FATAL_FAILURE(window.check_all_states(wbase));
}

TEST(RdmaWindow, EveryStateAndPacketOfFourBits) {
  WindowBench<Vwindow4, 4> window;
  for (const uint32_t wbase : places) ASSERT_NO_FATAL_FAILURE(window.check_all_states(wbase));
}

TEST(RdmaWindow, EveryStateAndPacketOfEightBits) {
  WindowBench<Vwindow8, 8> window;
  for (const uint32_t wbase : places) ASSERT_NO_FATAL_FAILURE(window.check_all_states(wbase));
  for (uint32_t wbase = 0; wbase < 32; ++wbase) ASSERT_NO_FATAL_FAILURE(window.check_all_states(wbase));
}

class RdmaWindow128 : public testing::Test {
 protected:
  /// Marks of a random state: long runs of ones with few holes are likely.
  std::set<uint32_t> random_marks(uint32_t wbase) {
    std::set<uint32_t> marks;
    const uint64_t run = bench_.below(129);
    const unsigned density = bench_.pace();
    for (uint32_t i = 1; i <= 128 && wbase + i <= max_pidx; ++i) {
      if (i <= run || bench_.chance(density)) marks.insert(wbase + i);
    }
    return marks;
  }

  WindowBench<Vwindow128, 128> window_;
  Bench<Vwindow128>& bench_ = window_.bench();
};

TEST_F(RdmaWindow128, RandomStatesAndPackets) {
  for (int n = 0; n < 20'000; ++n) {
    const uint32_t wbase =
        static_cast<uint32_t>(bench_.chance(50) ? bench_.below(300) : bench_.below(max_pidx));
    const std::set<uint32_t> beyond = random_marks(wbase);
    const uint32_t lowest = wbase < 10 ? 0 : wbase - 10;
    const auto near = static_cast<uint32_t>(lowest + bench_.below(160));
    const auto anywhere = static_cast<uint32_t>(bench_.below(max_pidx + 1));
    const uint32_t pidx = bench_.chance(40) ? wbase : bench_.chance(90) ? near : anywhere;
    ASSERT_NO_FATAL_FAILURE(window_.check(wbase, beyond, std::min(pidx, max_pidx)));
  }
}

TEST_F(RdmaWindow128, EveryRunOfOnesAdvancesByItsLengthAndOne) {
  for (uint32_t wbase = 1000; wbase < 1260; ++wbase) {
    for (uint32_t run = 0; run <= 128; ++run) {
      std::set<uint32_t> beyond;
      for (uint32_t i = 1; i <= run; ++i) beyond.insert(wbase + i);
      ASSERT_NO_FATAL_FAILURE(window_.check(wbase, beyond, wbase));
      EXPECT_EQ(bench_->base_o, wbase + run + 1);
    }
  }
}

// The holes that are remembered are the packets that matter next.
TEST_F(RdmaWindow128, EveryHoleInAFullWindowIsFilled) {
  for (uint32_t hole = 1; hole <= 128; ++hole) {
    for (uint32_t second = hole + 1; second <= 128; ++second) {
      std::set<uint32_t> beyond;
      const uint32_t wbase = 5000 + hole + 3 * second;
      for (uint32_t i = 1; i <= 128; ++i) {
        if (i != hole && i != second) beyond.insert(wbase + i);
      }
      for (const uint32_t pidx : {wbase, wbase + hole, wbase + second}) {
        ASSERT_NO_FATAL_FAILURE(window_.check(wbase, beyond, pidx));
      }
    }
  }
}

}  // namespace
}  // namespace weft::rtl_test
