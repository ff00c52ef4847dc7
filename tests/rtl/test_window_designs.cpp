// SPDX-License-Identifier: Apache-2.0
// The compared designs of the receive window do the same, one packet a clock: else their numbers would mean
// nothing.
#include <set>

#include "Vwindow_designs_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

constexpr uint32_t window = 16;
constexpr unsigned designs = 4;

TEST(WindowDesigns, AllTakeTheSamePackets) {
  Bench<Vwindow_designs_bench> bench;
  bench->receive_i = 0;
  for (unsigned round = 0; round < 20; ++round) {
    bench->receive_i = 0;
    bench.reset(2);
    std::set<uint32_t> received;
    uint32_t wbase = 0;
    unsigned far = bench.pace();
    while (wbase < 4000) {
      if (bench.chance(2)) far = bench.pace();
      const bool receive = bench.chance(95);
      const auto ahead = static_cast<uint32_t>(bench.below(window + 3));
      uint32_t pidx = bench.chance(far) ? wbase + ahead : wbase;
      if (bench.chance(5)) pidx = static_cast<uint32_t>(bench.below(4096));
      const bool expected = receive && pidx >= wbase && pidx <= wbase + window && !received.contains(pidx);
      if (expected) received.insert(pidx);
      while (received.erase(wbase)) ++wbase;
      bench->receive_i = receive;
      bench->pidx_i = static_cast<uint16_t>(pidx);
      bench.step();  // into the flops at the inputs
      bench->receive_i = 0;
      bench.step();
      bench.step();
      bench.settle();
      for (unsigned design = 0; design < designs; ++design) {
        ASSERT_EQ(bench->taken_o >> design & 1, expected)
            << "design " << design << ", packet " << pidx << " at " << wbase;
        ASSERT_EQ(bench->wbase_o >> (12 * design) & 0xfff, wbase)
            << "design " << design << ", packet " << pidx;
      }
    }
  }
}

}  // namespace
}  // namespace weft::rtl_test
