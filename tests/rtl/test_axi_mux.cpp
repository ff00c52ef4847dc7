// SPDX-License-Identifier: Apache-2.0
// rr_arbiter, axi_read_mux and axi_write_mux: fair, nothing mixed up whatever pauses, and no bubbles.
#include <algorithm>
#include <array>
#include <cstdint>

#include "axi_mux.hpp"

namespace weft::rtl_test {
namespace {

tb::AxiMemoryConfig memory(uint32_t latency, uint32_t jitter = 0, double pause = 0) {
  tb::AxiMemoryConfig config;
  config.latency = latency;
  config.jitter = jitter;
  config.pause = pause;
  config.max_reads = config.max_writes = 64;
  return config;
}

/// The first requester behind the one taken last, cyclically.
class ArbiterReference {
 public:
  explicit ArbiterReference(unsigned size) : size_(size), last_(size - 1) {}

  uint64_t grant(uint64_t requests) const {
    for (unsigned step = 1; step <= size_; ++step) {
      const unsigned index = (last_ + step) % size_;
      if (requests >> index & 1) return uint64_t{1} << index;
    }
    return 0;
  }
  void take(uint64_t granted) {
    if (granted) last_ = static_cast<unsigned>(__builtin_ctzll(granted));
  }

 private:
  unsigned size_;
  unsigned last_;
};

TEST(RrArbiter, GrantsTheFirstBehindTheLast) {
  Bench<Vaxi_mux_bench> bench;
  const std::array<unsigned, 3> sizes{1, 5, 64};
  std::array references{ArbiterReference(1), ArbiterReference(5), ArbiterReference(64)};
  bench->s_arvalid_i = bench->s_awvalid_i = bench->s_wvalid_i = bench->rvalid_i = bench->bvalid_i = 0;
  bench->req_i = bench->take_i = 0;
  bench.reset();
  unsigned pace = 50;
  for (unsigned n = 0; n < 100'000; ++n) {
    if (n % 100 == 0) pace = bench.pace();
    uint64_t requests = 0;
    for (unsigned i = 0; i < 64; ++i) requests |= uint64_t{bench.chance(pace)} << i;
    bench->req_i = requests;
    bench->take_i = bench.chance(70);
    bench.settle();
    for (unsigned i = 0; i < 3; ++i) {
      const uint64_t mask = sizes[i] == 64 ? ~uint64_t{0} : (uint64_t{1} << sizes[i]) - 1;
      const uint64_t expected = references[i].grant(requests & mask);
      uint64_t granted = 0;
      std::memcpy(&granted, reinterpret_cast<const uint8_t*>(&bench->gnt_o) + 8 * i, 8);
      ASSERT_EQ(granted, expected) << "arbiter of " << sizes[i];
      ASSERT_EQ(bench->gnt_valid_o >> i & 1, expected != 0);
      if (expected) {
        ASSERT_EQ(bench->idx_o >> 8 * i & 0xff, static_cast<unsigned>(__builtin_ctzll(expected)));
      }
      if (bench->take_i) references[i].take(granted);
    }
    bench.step();
  }
}

using AxiMux = AxiMuxTest;

TEST_F(AxiMux, RandomTrafficKeepsMastersApart) {
  uint64_t errors = 0;
  for (const auto& config : {memory(0), memory(5, 30, 0.1), memory(20, 0, 0.5), memory(1, 3, 0.9)}) {
    for (const bool reset_at_end : {true, false}) {
      start(config);
      MuxPaces paces;
      for (unsigned n = 0; n < 10'000; ++n) {
        if (n % 200 == 0) {
          for (unsigned m = 0; m < masters; ++m) {
            paces.address[m] = bench_.pace();
            paces.data[m] = bench_.pace();
            paces.answer[m] = bench_.pace();
          }
        }
        for (unsigned m = 0; m < masters; ++m) {
          if (masters_[m].to_read.empty()) add_read(m);
          if (masters_[m].to_write.empty()) add_write(m);
        }
        ASSERT_NO_FATAL_FAILURE(cycle(paces));
      }
      for (const Master& master : masters_) errors += master.errors;
      if (!reset_at_end) {
        ASSERT_NO_FATAL_FAILURE(finish());
      }
    }
  }
  EXPECT_GT(errors, 100u);
}

/// Counts clocks in which the port moves a beat, from the first beat of all to the last.
TEST_F(AxiMux, BeatsOfAllMastersFollowWithoutBubble) {
  for (const uint8_t max_len : {uint8_t{0}, uint8_t{7}}) {
    start(memory(4));
    for (unsigned n = 0; n < 300; ++n) {
      for (unsigned m = 0; m < masters; ++m) {
        add_read(m, max_len);
        add_write(m, max_len);
      }
    }
    std::array<uint64_t, 2> first{}, last{}, beats{};
    while (!quiet()) {
      const auto moved = [&] {
        std::array<uint64_t, 2> sum{};
        for (const Master& m : masters_) sum = {sum[0] + m.beats_read, sum[1] + m.beats_written};
        return sum;
      };
      const auto before = moved();
      const uint64_t now = bench_.cycle();
      ASSERT_NO_FATAL_FAILURE(cycle({}));
      const auto after = moved();
      for (unsigned kind = 0; kind < 2; ++kind) {
        if (after[kind] == before[kind]) continue;
        if (beats[kind]++ == 0) first[kind] = now;
        last[kind] = now;
      }
    }
    for (unsigned kind = 0; kind < 2; ++kind) {
      EXPECT_EQ(last[kind] - first[kind] + 1, beats[kind])
          << (kind ? "writes" : "reads") << " up to " << max_len + 1 << " beats";
    }
  }
}

/// Masters that never rest get the same number of bursts.
TEST_F(AxiMux, SharesAreEqual) {
  start(memory(3, 5, 0.2));
  for (unsigned n = 0; n < 20'000; ++n) {
    for (unsigned m = 0; m < masters; ++m) {
      if (masters_[m].to_read.size() < 2) add_read(m, 0);
      if (masters_[m].to_write.size() < 2) add_write(m, 0);
    }
    ASSERT_NO_FATAL_FAILURE(cycle({}));
  }
  const auto [least, most] =
      std::minmax({masters_[0].beats_read, masters_[1].beats_read, masters_[2].beats_read});
  EXPECT_GT(least, 1000u);
  EXPECT_LE(most - least, 4u);
  const auto [fewest, all] = std::minmax({masters_[0].answers, masters_[1].answers, masters_[2].answers});
  EXPECT_GT(fewest, 1000u);
  EXPECT_LE(all - fewest, 4u);
}

TEST_F(AxiMux, AMasterAloneGetsAll) {
  start(memory(2));
  for (unsigned n = 0; n < 500; ++n) add_read(1, 0);
  const uint64_t begin = bench_.cycle();
  ASSERT_NO_FATAL_FAILURE(finish());
  EXPECT_LE(bench_.cycle() - begin, 520u);
}

}  // namespace
}  // namespace weft::rtl_test
