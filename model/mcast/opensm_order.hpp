// SPDX-License-Identifier: Apache-2.0
// The order in which OpenSM has switches.
#pragma once

#include <cstdint>

namespace weft::mcast {

/// OpenSM sorts switches by their GUIDs as a little-endian machine reads them: by the last byte, then by the
/// one before it and so on. To be compared as a number.
inline uint64_t opensm_key(uint64_t guid) {
  uint64_t key = 0;
  for (int byte = 0; byte < 8; ++byte) key = key << 8 | (guid >> 8 * byte & 0xff);
  return key;
}

}  // namespace weft::mcast
