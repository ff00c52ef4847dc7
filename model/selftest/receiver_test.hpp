// SPDX-License-Identifier: Apache-2.0
// Headers for the receiver's self-test on a board: transfers that begin, advance out of order, end and are
// given up, and packets that are wrong in one thing (rtl/selftest/selftest_receiver.sv).
#pragma once

#include <cstdint>
#include <vector>

#include "rdma/params.hpp"
#include "weft/selftest/formats.hpp"

namespace weft::selftest {

struct ReceiverTest {
  std::vector<formats::ReceiverVector> vectors;
  std::vector<uint32_t> expected;  ///< outcome of each, then the signature
};

/// @param count vectors, at least 1
/// Throws rdma::Violation for sizes without a receiver, or of which fields of a vector are too narrow.
ReceiverTest make_receiver_test(const rdma::Params& params, uint32_t count, uint32_t seed);

}  // namespace weft::selftest
