// SPDX-License-Identifier: Apache-2.0
// Sizes that units of the engine are tested in besides their own.
#pragma once

#include "rdma/params.hpp"

namespace weft::rtl_test {

/// With numbers as wide as headers and registers have them.
inline rdma::Params widest(rdma::Params params) {
  params.pidx_bits = 24;
  params.msgid_bits = 24;
  params.node_bits = 16;
  params.addr_bits = 63;
  params.sid_bits = 16;
  params.cid_bits = 16;
  return params;
}

}  // namespace weft::rtl_test
