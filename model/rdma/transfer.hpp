// SPDX-License-Identifier: Apache-2.0
// How a transfer of B bytes is cut into packets: all but the last carry `payload` bytes (docs/rdma.md, Packet
// format).
#pragma once

#include <cstdint>
#include <optional>

#include "rdma/params.hpp"

namespace weft::rdma {

struct Cut {
  uint32_t last = 0;      // PIDX of the last packet, N - 1
  uint32_t last_len = 0;  // bytes in the last packet

  bool operator==(const Cut&) const = default;
};

/// Nothing for a length that cannot be sent: no bytes, or N > 2^pidx_bits - 1 packets.
std::optional<Cut> cut(uint32_t bytes, const Params& params);

/// Bytes that packet `pidx` carries.
uint32_t packet_length(uint32_t pidx, const Cut& cut, const Params& params);

/// Whether address + bytes goes beyond 2^addr_bits.
bool beyond_bus(uint64_t address, uint32_t bytes, const Params& params);

}  // namespace weft::rdma
