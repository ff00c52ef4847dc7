// SPDX-License-Identifier: Apache-2.0
// The lanes of store_bench.sv: one of a kind at a time, and a quiet start.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "Vstore_bench.h"
#include "bench.hpp"

namespace weft::rtl_test {

/// store_bench just out of reset, its lanes not asked to do anything.
class StoreBench : public Bench<Vstore_bench> {
 public:
  explicit StoreBench(uint8_t lane) {
    top().lane_i = lane;
    top().ram_we_i = 0;
    top().ram_re_i = 0;
    top().list_pop_i = 0;
    top().list_push_i = 0;
    top().bank_inc_i = 0;
    reset();
  }
};

/// One lane of one kind: its index among its kind in store_bench.sv and its size (words, numbers, counters).
struct Store {
  uint8_t index;
  unsigned size;
};

inline std::ostream& operator<<(std::ostream& out, const Store& store) {
  return out << "lane " << int{store.index} << ", size " << store.size;
}

/// "size16", for the names of parameterised tests.
inline std::string store_name(const testing::TestParamInfo<Store>& info) {
  return "size" + std::to_string(info.param.size);
}

}  // namespace weft::rtl_test
