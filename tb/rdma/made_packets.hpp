// SPDX-License-Identifier: Apache-2.0
// Packets made by hand, from a node that does not exist to node 0.
#pragma once

#include <cstdint>
#include <vector>

#include "rdma/packet.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

inline constexpr uint64_t source_base = 0x1000'0000;
inline constexpr uint64_t destination_base = 0x10'0000'0000;

/// Header of a packet to node 0 from node 7, which exists only in the tests.
inline rdma::formats::Header header_to_zero(rdma::formats::Ptype type) {
  rdma::formats::Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.dst = 0;
  header.src = 7;
  header.sid = 3;
  header.msgid = 5;
  return header;
}

inline std::vector<uint8_t> flits_of(const rdma::formats::Header& header) {
  return rdma::encode({header, std::vector<uint8_t>(header.len, 0xa5)});
}

/// CRC put right after the bytes were changed by hand.
inline std::vector<uint8_t> with_crc(std::vector<uint8_t> flits) {
  for (size_t i = 28; i < 32; ++i) flits[i] = 0;
  const uint32_t crc = rdma::crc32c(flits);
  for (size_t i = 0; i < 4; ++i) flits[28 + i] = static_cast<uint8_t>(crc >> (8 * i));
  return flits;
}

/// A request of transfer `sid` for `bytes` bytes at the start of the region's part `sid`.
inline rdma::formats::Header request(uint16_t sid, uint32_t bytes) {
  rdma::formats::Header header = header_to_zero(rdma::formats::Ptype::rqt);
  header.sid = sid;
  header.pidx = bytes;
  const uint64_t part = (uint64_t{bytes} + 255) / 256 * 256;
  header.arg = destination_base + sid * part;
  return header;
}

/// Packet `pidx` of `count` of transfer `sid`; a node just started grants its contexts in order, so that its
/// CID is `sid`.
inline std::vector<uint8_t> data_packet(uint16_t sid, uint32_t pidx, uint32_t count, uint32_t payload) {
  rdma::formats::Header header = header_to_zero(rdma::formats::Ptype::data);
  header.sid = sid;
  header.cid = sid;
  header.gen = 1;
  header.pidx = pidx;
  header.len = static_cast<uint16_t>(payload);
  header.flags = pidx + 1 == count ? rdma::formats::flag_last : 0;
  return flits_of(header);
}

}  // namespace weft::tb
