// SPDX-License-Identifier: Apache-2.0
// Cutting transfers into packets.
#include "rdma/transfer.hpp"

namespace weft::rdma {

std::optional<Cut> cut(uint32_t bytes, const Params& params) {
  const uint64_t packets = (uint64_t{bytes} + params.payload - 1) / params.payload;
  const uint64_t most = (uint64_t{1} << params.pidx_bits) - 1;
  if (packets == 0 || packets > most) return std::nullopt;
  const auto last = static_cast<uint32_t>(packets - 1);
  return Cut{last, bytes - last * params.payload};
}

uint32_t packet_length(uint32_t pidx, const Cut& cut, const Params& params) {
  return pidx == cut.last ? cut.last_len : params.payload;
}

bool beyond_bus(uint64_t address, uint32_t bytes, const Params& params) {
  const uint64_t highest = ~uint64_t{0} >> (64 - params.addr_bits);  // 2^addr_bits - 1
  return address > highest || (bytes != 0 && bytes - 1 > highest - address);
}

}  // namespace weft::rdma
