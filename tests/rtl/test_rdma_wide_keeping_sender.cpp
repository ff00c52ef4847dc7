// SPDX-License-Identifier: Apache-2.0
// Sender of the sender window (docs/rdma_baseline.md) in lockstep with the golden model: windows as wide as
// they can be, in which all fits.
#include "Vwide_keeping_sender.h"
#include "rdma_older_senders.hpp"

namespace weft::rtl_test {
namespace {

TEST(RdmaOlderSenders, KeepingAllThatFitsEqualsTheGoldenModel) {
  run_older<Vwide_keeping_sender>(widest(keeping(256, 8)), 400'000, 10);
}

TEST(RdmaOlderSenders, KeepingAllThatFitsEqualsTheGoldenModelWithAnySettings) {
  run_older_with_any_settings<Vwide_keeping_sender>(widest(keeping(256, 8)));
}

}  // namespace
}  // namespace weft::rtl_test
