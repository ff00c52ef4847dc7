// SPDX-License-Identifier: Apache-2.0
// For programs whose engines are made without waves.
#include <stdexcept>

#include "wave_file.hpp"

namespace weft::tb {

bool waves_built_in() { return false; }

std::unique_ptr<WaveFile> make_wave_file() {
  throw std::invalid_argument("this program was built without waves");
}

}  // namespace weft::tb
