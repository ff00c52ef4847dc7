// SPDX-License-Identifier: Apache-2.0
// rdma_send_copies with packets of two beats.
#include "Vrdma_send_copies.h"
#include "rdma_send_copies_bench.hpp"

namespace weft::rtl_test {
namespace {

TEST(RdmaSendCopies, AnswerEachOrderInItsTurn) { answer_each_order<Vrdma_send_copies>(2); }

TEST(RdmaSendCopies, AfterAResetNothingIsAnswered) {
  SendCopies<Vrdma_send_copies> bench(2);
  for (unsigned n = 0; n < 500 && !HasFatalFailure(); ++n) {
    for (unsigned clocks = 0; clocks < 20; ++clocks) bench.clock({80, 50, 50, 50, 30});
    bench.reset();
    for (unsigned clocks = 0; clocks < 5; ++clocks) bench.clock({0, 0, 100, 100, 100});
  }
}

/// A beat a clock; between two copies there is one clock.
TEST(RdmaSendCopies, ComeWithoutPauses) {
  constexpr unsigned clocks = 3000;
  SendCopies<Vrdma_send_copies> bench(2);
  for (unsigned n = 0; n < clocks; ++n) bench.clock({100, 0, 100, 100, 100});  // every place has been written
  const unsigned of_memory = bench.answered;
  EXPECT_GT(of_memory, clocks * 95 / 100);
  for (unsigned n = 0; n < clocks && !HasFatalFailure(); ++n) bench.clock({100, 100, 100, 100, 100});
  // Packets have one beat or two: at least half of all clocks.
  EXPECT_GT(bench.answered - of_memory, clocks / 2 - 10);
  EXPECT_GT(bench.copies, clocks / 3 - 10);
}

}  // namespace
}  // namespace weft::rtl_test
