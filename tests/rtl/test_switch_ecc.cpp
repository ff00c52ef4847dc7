// SPDX-License-Identifier: Apache-2.0
// Check bits of table entries: every single wrong bit is corrected, every pair is found.
#include <gtest/gtest.h>

#include "Vswitch_ecc_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {
namespace {

constexpr uint32_t bits = 23;

TEST(SwitchEcc, CorrectsOneWrongBitAndFindsTwo) {
  Bench<Vswitch_ecc_bench> bench;
  for (int word = 0; word < 200; ++word) {
    const auto data = static_cast<uint32_t>(bench.any(17));
    const auto look = [&](uint32_t wrong) {
      bench->data_i = data;
      bench->wrong_i = wrong;
      bench.settle();
    };
    look(0);
    ASSERT_EQ(bench->data_o, data);
    ASSERT_FALSE(bench->corrected_o || bench->bad_o);
    for (uint32_t a = 0; a < bits; ++a) {
      look(1u << a);
      ASSERT_EQ(bench->data_o, data) << a;
      ASSERT_TRUE(bench->corrected_o && !bench->bad_o) << a;
      for (uint32_t b = 0; b < a; ++b) {
        look(1u << a | 1u << b);
        ASSERT_TRUE(bench->bad_o && !bench->corrected_o) << a << ' ' << b;
      }
    }
  }
}

}  // namespace
}  // namespace weft::rtl_test
