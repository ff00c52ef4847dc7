// SPDX-License-Identifier: Apache-2.0
// rdma_send_copies with packets that are one beat.
#include "Vone_beat_send_copies.h"
#include "rdma_send_copies_bench.hpp"

namespace weft::rtl_test {
namespace {

TEST(RdmaSendCopies, OfOneBeatAnswerEachOrderInItsTurn) { answer_each_order<Vone_beat_send_copies>(1); }

}  // namespace
}  // namespace weft::rtl_test
