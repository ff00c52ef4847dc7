// SPDX-License-Identifier: Apache-2.0
// Sender of the sender window (docs/rdma_baseline.md) in lockstep with the golden model: windows that are
// nearly always full, of nodes that share them.
#include "Vkeeping_sender.h"
#include "rdma_older_senders.hpp"

namespace weft::rtl_test {
namespace {

TEST(RdmaOlderSenders, KeepingEqualsTheGoldenModel) {
  run_older<Vkeeping_sender>(keeping(4, 2), 1'200'000, 50);
}

TEST(RdmaOlderSenders, KeepingEqualsTheGoldenModelWithAnySettings) {
  run_older_with_any_settings<Vkeeping_sender>(keeping(4, 2));
}

}  // namespace
}  // namespace weft::rtl_test
