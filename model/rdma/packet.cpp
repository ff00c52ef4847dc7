// SPDX-License-Identifier: Apache-2.0
// Encoding of packets, CRC-32C and the checks on arrival.
#include "rdma/packet.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::TransferFlag;

namespace {

constexpr std::size_t slices = 8;
using Tables = std::array<std::array<uint32_t, 256>, slices>;

/// tables[s][b]: CRC register after byte b and s zero bytes, from a register of zero.
constexpr Tables make_tables() {
  constexpr uint32_t reflected_castagnoli = 0x82f63b78;
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? reflected_castagnoli : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t s = 1; s < slices; ++s) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[s - 1][byte];
      tables[s][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

std::size_t flits_of(std::size_t bytes) { return (bytes + flit_bytes - 1) / flit_bytes; }

std::span<const uint8_t, flit_bytes> header_flit(std::span<const uint8_t> flits) {
  return flits.first<flit_bytes>();
}

/// CRC of the packet with the header's crc field taken as zero.
uint32_t packet_crc(Header header, std::span<const uint8_t> flits) {
  header.crc = 0;
  return crc32c(flits.subspan(flit_bytes), crc32c(formats::pack(header)));
}

bool known_type(uint8_t ptype, const Params& params) {
  const auto last = params.transfers ? Ptype::read : Ptype::ack;
  return ptype >= static_cast<uint8_t>(Ptype::rqt) && ptype <= static_cast<uint8_t>(last);
}

uint8_t known_flags(const Params& params) {
  constexpr uint8_t of_transfers = static_cast<uint8_t>(TransferFlag::imm) |
                                   static_cast<uint8_t>(TransferFlag::send) |
                                   static_cast<uint8_t>(TransferFlag::read);
  return params.transfers ? formats::flag_all | of_transfers : formats::flag_all;
}

bool fits(uint32_t value, uint32_t bits) { return uint64_t{value} < uint64_t{1} << bits; }

/// Numbers that this engine could keep, or compare with what it keeps.
bool numbers_fit(const Header& header, const Params& params) {
  return fits(header.src, params.node_bits) && fits(header.sid, params.sid_bits) &&
         fits(header.msgid, params.msgid_bits) && (!for_sender(header) || fits(header.cid, params.cid_bits));
}

bool well_formed(const Header& header, std::size_t flits, const Params& params) {
  const bool is_data = header.ptype == static_cast<uint8_t>(Ptype::data);
  return numbers_fit(header, params) && known_type(header.ptype, params) &&
         (header.flags & ~known_flags(params)) == 0 && header.len <= params.payload &&
         flits == 1 + flits_of(header.len) && is_data == (header.len != 0);
}

}  // namespace

uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed) {
  uint32_t crc = ~seed;
  for (; bytes.size() >= slices; bytes = bytes.subspan(slices)) {
    uint32_t next = 0;
    for (std::size_t i = 0; i < slices; ++i) {
      const uint32_t mixed_in = i < 4 ? crc >> (8 * i) : 0;
      next ^= tables[slices - 1 - i][(bytes[i] ^ mixed_in) & 0xff];
    }
    crc = next;
  }
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ tables[0][(crc ^ byte) & 0xff];
  return ~crc;
}

std::vector<uint8_t> encode(Packet packet) {
  if (packet.payload.size() != packet.header.len) {
    throw Violation("a packet of len " + std::to_string(packet.header.len) + " has " +
                    std::to_string(packet.payload.size()) + " bytes of payload");
  }
  std::vector<uint8_t> flits(flit_bytes * (1 + flits_of(packet.payload.size())), 0);
  std::copy(packet.payload.begin(), packet.payload.end(), flits.begin() + flit_bytes);
  packet.header.crc = packet_crc(packet.header, flits);
  const auto header = formats::pack(packet.header);
  std::copy(header.begin(), header.end(), flits.begin());
  return flits;
}

Arrival check_arrival(std::span<const uint8_t> flits, const Params& params, std::optional<uint16_t> node_id) {
  if (flits.empty() || flits.size() % flit_bytes != 0) {
    throw Violation("an arriving packet of " + std::to_string(flits.size()) + " bytes is not whole flits");
  }
  const std::size_t count = flits.size() / flit_bytes;
  Arrival arrival;
  Header& header = arrival.packet.header;
  header = formats::unpack(header_flit(flits));

  const bool cut_off = count > 1 + params.payload / flit_bytes;
  if (!cut_off && header.crc != packet_crc(header, flits)) {
    arrival.verdict = Outcome::drop_crc;
  } else if (cut_off || !well_formed(header, count, params)) {
    arrival.verdict = Outcome::drop_malformed;
  } else if (header.dst != node_id) {
    arrival.verdict = Outcome::drop_not_mine;
  } else {
    const auto payload = flits.subspan(flit_bytes, header.len);
    arrival.packet.payload.assign(payload.begin(), payload.end());
  }
  return arrival;
}

bool for_sender(const Header& header) {
  const auto type = static_cast<Ptype>(header.ptype);
  return type == Ptype::rsp || type == Ptype::resend || type == Ptype::done || type == Ptype::ack;
}

bool for_inbox(const Header& header) {
  return header.ptype == static_cast<uint8_t>(Ptype::rsp) && has_flag(header, TransferFlag::read);
}

bool has_flag(const Header& header, uint8_t flag) { return (header.flags & flag) != 0; }

bool has_flag(const Header& header, TransferFlag flag) {
  return has_flag(header, static_cast<uint8_t>(flag));
}

void set_flag(Header& header, TransferFlag flag) { header.flags |= static_cast<uint8_t>(flag); }

}  // namespace weft::rdma
