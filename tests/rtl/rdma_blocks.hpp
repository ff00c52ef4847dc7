// SPDX-License-Identifier: Apache-2.0
// rdma_blocks_bench with all inputs at rest.
#pragma once

#include <cstring>

#include "Vrdma_blocks_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {

class RdmaBlocksBench : public Bench<Vrdma_blocks_bench> {
 public:
  RdmaBlocksBench() {
    top().crc_i = 0;
    std::memset(&top().flit_i, 0, sizeof top().flit_i);
    top().now_i = 0;
    top().limit0_i = 0;
    top().limit1_i = 0;
    top().set_i = 0;
    top().expired_ready_i = 0;
    top().decided_i = 0;
    top().many_set_i = 0;
    top().many_expired_ready_i = 0;
    top().many_decided_i = 0;
    top().odd_set_i = 0;
    top().odd_expired_ready_i = 0;
    top().odd_decided_i = 0;
    reset();
  }
};

}  // namespace weft::rtl_test
