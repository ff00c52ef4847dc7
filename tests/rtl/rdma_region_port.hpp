// SPDX-License-Identifier: Apache-2.0
// The port at which rdma_receiver is told its memory regions.
#pragma once

#include <bit>
#include <cstdint>

#include "rdma/params.hpp"

namespace weft::rtl_test {

/// What rdma_regs makes of the REGION registers. Ports are not masked: only a region that the engine takes.
template <typename Top>
void put_region(Top& top, uint8_t number, const rdma::Region& region, uint32_t payload) {
  const int shift = std::countr_zero(payload);
  const bool empty = region.limit <= region.base;
  top.region_set_i = 1;
  top.region_idx_i = number;
  top.region_write_i = region.remote_write && !empty;
  top.region_read_i = region.remote_read && !empty;
  top.region_receive_i = region.receive && !empty;
  top.region_key_i = region.key;
  top.region_base_i = region.base >> shift;
  top.region_last_i = static_cast<uint32_t>(empty ? 0 : (region.limit - 1 - region.base) >> shift);
}

}  // namespace weft::rtl_test
