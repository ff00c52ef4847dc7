// SPDX-License-Identifier: Apache-2.0
// rdma_sender with the older schemes (docs/rdma_baseline.md) in lockstep with the golden model: random posts,
// answers, pauses and resets, as in test_rdma_sender.cpp.
#pragma once

#include "rdma_sender_lockstep.hpp"
#include "rdma_sender_traffic.hpp"

namespace weft::rtl_test {

/// The sizes in CMakeLists.txt.
inline rdma::Params counting() {
  rdma::Params params = sender_params(false);
  params.scheme = rdma::Scheme::receiver_counter;
  params.window = 64;
  return widest(params);
}

inline rdma::Params keeping(uint32_t window, uint32_t buffers) {
  rdma::Params params = sender_params(false);
  params.scheme = rdma::Scheme::sender_window;
  params.window = window;
  params.n_send_buffers = buffers;
  return params;
}

/// Top: rdma_sender with these parameters.
template <typename Top>
void run_older(const rdma::Params& params, unsigned clocks, unsigned times) {
  SenderLockstep<Top> sender(params);
  sender.reset(sender_config());
  SenderTraffic traffic(sender, sender_config());
  traffic.run(clocks);
  traffic.expect_each_outcome(times);
}

template <typename Top>
void run_older_with_any_settings(const rdma::Params& params) {
  SenderLockstep<Top> sender(params);
  sender.reset(sender_config());
  SenderTraffic(sender, sender_config()).run_with_any_settings(100'000);
  EXPECT_GT(sender.outcomes[rdma::formats::Outcome::send], 50u);
}

}  // namespace weft::rtl_test
