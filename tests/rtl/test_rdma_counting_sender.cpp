// SPDX-License-Identifier: Apache-2.0
// Sender of the receiver counter (docs/rdma_baseline.md) in lockstep with the golden model.
#include "Vcounter_sender.h"
#include "rdma_older_senders.hpp"

namespace weft::rtl_test {
namespace {

TEST(RdmaOlderSenders, CountingEqualsTheGoldenModel) { run_older<Vcounter_sender>(counting(), 400'000, 10); }

TEST(RdmaOlderSenders, CountingEqualsTheGoldenModelWithAnySettings) {
  run_older_with_any_settings<Vcounter_sender>(counting());
}

}  // namespace
}  // namespace weft::rtl_test
