// SPDX-License-Identifier: Apache-2.0
// What a receiver of scheme receiver_counter keeps of a transfer (docs/rdma_baseline.md, Receiver counter).
#pragma once

#include <cstdint>

#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// Packets of one attempt at the whole transfer.
struct Count {
  uint8_t attempt = 0;   ///< modulo 256
  uint32_t packets = 0;  ///< of this attempt
  uint32_t residue = 0;  ///< sum of mix(PIDX) of these, less what LAST says that it should be; modulo 2^32
  bool came = false;     ///< any packet of the transfer has come, whatever the attempt

  bool operator==(const Count&) const = default;
};

/// A bijection of 32 bits that is not linear: of packets that a network doubles and loses only the right ones
/// have the right sum, but for one set in 2^32. Four rounds of Speck32 (Beaulieu et al., 2013) with fixed
/// keys.
uint32_t mix(uint32_t pidx);

/// Takes a packet of this attempt.
Count take(Count count, const formats::Header& data);

/// Whether all packets of a transfer of so many have come, each once.
bool is_complete(const Count& count, uint32_t packets);

/// None of the next attempt has come.
Count next_attempt(const Count& count);

// DATA: arg has the attempt above the RKEY, and above that, in the last packet, the sum.
uint8_t attempt_of(const formats::Header& data);
void set_attempt(formats::Header& data, uint8_t attempt, uint32_t sum);

// RESEND: arg has the attempt that is asked for, and whether any packet of the transfer has come.
uint64_t asking(const Count& count);
uint8_t asked_attempt(const formats::Header& resend);
bool asks_of_none_come(const formats::Header& resend);

/// What a trace shows instead of WVEC: attempt, and the residue above it.
uint64_t trace_bits(const Count& count);

}  // namespace weft::rdma
