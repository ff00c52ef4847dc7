// SPDX-License-Identifier: Apache-2.0
// Bit errors in one field of the headers of passing packets, which the CRC shows or which are as if it had
// not.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/random.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

struct HeaderErrorConfig {
  double rate = 0;                  ///< probability that a packet that may be hit is
  rdma::formats::Field field = {};  ///< where the bits are flipped, one to three of them
  /// The CRC is made right again, as by an error that a CRC cannot see. Then only DATA is hit, for which all
  /// fields but PIDX tell, or do not matter; in PIDX the highest bit is flipped, which no transfer reaches.
  bool crc_mended = false;
};

class HeaderErrors {
 public:
  /// Throws std::invalid_argument for field "crc" with `crc_mended`, which would change nothing, and for
  /// fields of less than 4 bits.
  HeaderErrors(const HeaderErrorConfig& config, uint64_t seed);

  /// @param packet whole flits, at least one; changed if it is hit
  void pass(std::vector<uint8_t>& packet);

  uint64_t hits() const { return hits_; }

 private:
  void flip_bits(std::vector<uint8_t>& packet);

  HeaderErrorConfig config_;
  RandomStream random_;
  uint64_t hits_ = 0;
};

}  // namespace weft::tb
