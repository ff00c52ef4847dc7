// SPDX-License-Identifier: Apache-2.0
// The lanes of rdma_host_write_bench.sv.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>

#include "Vrdma_host_write_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {

using HostWriteBench = Bench<Vrdma_host_write_bench>;

/// One instance in rdma_host_write_bench.sv.
struct WriteLane {
  uint8_t index;
  unsigned bytes;  // of a beat
  unsigned payload;
  unsigned addr_bits;
  unsigned cid_bits;
  unsigned underway;

  friend std::ostream& operator<<(std::ostream& out, const WriteLane& lane) {
    return out << "lane " << int{lane.index};
  }
};

inline constexpr std::array write_lanes{WriteLane{0, 32, 256, 48, 10, 64}, WriteLane{1, 64, 256, 40, 5, 8},
                                        WriteLane{2, 64, 64, 64, 16, 16}, WriteLane{3, 32, 4096, 33, 3, 4}};

inline std::string write_lane_name(const testing::TestParamInfo<WriteLane>& info) {
  return "beat" + std::to_string(info.param.bytes) + "payload" + std::to_string(info.param.payload);
}

}  // namespace weft::rtl_test
