// SPDX-License-Identifier: Apache-2.0
// Wave file in GTKWave's format FST.
#pragma once

#include <verilated_fst_c.h>

#include <cstdint>
#include <string>

#include "wave_file.hpp"

namespace weft::tb {

class FstWaves : public WaveFile {
 public:
  ~FstWaves() override { fst_.close(); }

  template <typename Top>
  void attach(Top& top) {
    top.trace(&fst_, 99);
  }
  void open(const std::string& file) override { fst_.open(file.c_str()); }
  void dump(uint64_t time) override { fst_.dump(time); }

 private:
  VerilatedFstC fst_;
};

}  // namespace weft::tb
