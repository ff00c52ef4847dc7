// SPDX-License-Identifier: Apache-2.0
// Headers and payload for the tests of the RDMA blocks: headers to and from ports, random, and as text;
// payload as beats.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "common/signals.hpp"
#include "rdma/packet.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rtl_test {

template <typename Port>
void put_header(Port& port, const rdma::formats::Header& header) {
  tb::put_bytes(port, rdma::formats::pack(header).data(), rdma::formats::header_bytes);
}

template <typename Port>
rdma::formats::Header get_header(const Port& port) {
  std::array<uint8_t, rdma::formats::header_bytes> bytes;
  tb::get_bytes(port, bytes.data(), bytes.size());
  return rdma::formats::unpack(bytes);
}

/// With the CRC that a packet of this header alone has.
inline rdma::formats::Header sealed(rdma::formats::Header header) {
  header.crc = 0;
  header.crc = rdma::crc32c(rdma::formats::pack(header));
  return header;
}

/// Every bit of every field random; `bench` is any Bench.
rdma::formats::Header random_header(auto& bench) {
  std::array<uint8_t, rdma::formats::header_bytes> bytes;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(bench.below(256));
  return rdma::formats::unpack(bytes);
}

/// 1 to `payload` bytes; ends of flits and of the payload are likely.
uint16_t random_length(auto& bench, uint32_t payload) {
  if (bench.chance(50)) return static_cast<uint16_t>(1 + bench.below(payload));
  const std::array<uint32_t, 10> edges{1, 2, 31, 32, 33, 63, 64, 65, payload - 1, payload};
  return static_cast<uint16_t>(std::min(edges[bench.below(edges.size())], payload));
}

/// Beats of so many bytes, the last one padded with zeros.
inline std::vector<std::vector<uint8_t>> beats(std::vector<uint8_t> bytes, uint32_t beat_bytes) {
  bytes.resize((bytes.size() + beat_bytes - 1) / beat_bytes * beat_bytes);
  std::vector<std::vector<uint8_t>> result;
  for (auto at = bytes.begin(); at != bytes.end(); at += beat_bytes) result.emplace_back(at, at + beat_bytes);
  return result;
}

inline std::string text(const rdma::formats::Header& header) {
  std::ostringstream out;
  out << name(static_cast<rdma::formats::Ptype>(header.ptype)) << std::hex << " flags " << int{header.flags}
      << " dst " << header.dst << " src " << header.src << " sid " << header.sid << " cid " << header.cid
      << " gen " << int{header.gen} << " msgid " << header.msgid << " len " << header.len << " pidx "
      << header.pidx << " arg " << header.arg << " crc " << header.crc;
  return out.str();
}

}  // namespace weft::rtl_test
