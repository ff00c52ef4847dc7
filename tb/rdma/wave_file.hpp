// SPDX-License-Identifier: Apache-2.0
// Wave file of a whole simulation. Only programs whose engines are made for waves have one: fst_waves.cpp;
// the others are linked with no_waves.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace weft::tb {

/// Attach every top, then open.
class WaveFile {
 public:
  virtual ~WaveFile() = default;
  virtual void open(const std::string& file) = 0;
  virtual void dump(uint64_t time) = 0;
};

/// Whether this program can write wave files.
bool waves_built_in();

/// Throws std::invalid_argument if this program cannot write wave files.
std::unique_ptr<WaveFile> make_wave_file();

}  // namespace weft::tb
