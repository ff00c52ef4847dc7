// SPDX-License-Identifier: Apache-2.0
// rdma_receiver in lockstep with the golden model under random packets, timeouts, pauses, answers of memory,
// settings and resets.
#include <string>

#include "rdma_baseline/outcomes.hpp"
#include "rdma_receiver_traffic.hpp"
#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverRandom : public RandomReceiverTest<ReceiverLockstep> {};

TEST_F(RdmaReceiverRandom, EqualsTheGoldenModelInBothModesWithPausesAndResets) {
  for (unsigned n = 0; n < 400'000; ++n) {
    if (n % 512 == 0) random_paces();
    if (bench_.below(300) == 0) random_settings();
    if (bench_.below(10'000) == 0) receiver_.reset(config());
    random_clock();
    if (HasFatalFailure()) FAIL() << "clock " << n;
  }
  end_all();
  for (auto code = static_cast<int>(Outcome::grant); code < static_cast<int>(Outcome::submit); ++code) {
    const auto outcome = static_cast<Outcome>(code);
    if (name(outcome) == "?" || rdma::is_of_older_schemes(outcome)) continue;
    EXPECT_GT(receiver_.outcomes[outcome], 50u) << name(outcome);
    RecordProperty(std::string(name(outcome)), std::to_string(receiver_.outcomes[outcome]));
  }
  EXPECT_GT(receiver_.dropped, 50u);
  EXPECT_GT(receiver_.stolen.size(), 20u);
}

}  // namespace
}  // namespace weft::rtl_test
