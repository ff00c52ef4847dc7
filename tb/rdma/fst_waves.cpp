// SPDX-License-Identifier: Apache-2.0
// For programs whose engines are made for waves.
#include "fst_waves.hpp"

namespace weft::tb {

bool waves_built_in() { return true; }

std::unique_ptr<WaveFile> make_wave_file() { return std::make_unique<FstWaves>(); }

}  // namespace weft::tb
