// SPDX-License-Identifier: Apache-2.0
// Packets on the wire: encoding, CRC-32C, and the checks on arrival (docs/rdma.md, Packet format).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rdma/params.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

inline constexpr std::size_t flit_bytes = 32;

/// A header and its `header.len` bytes of payload, not padded. `header.crc` only means something after an
/// arrival.
struct Packet {
  formats::Header header;
  std::vector<uint8_t> payload;

  bool operator==(const Packet&) const = default;
};

/// CRC-32C (Castagnoli, reflected, initial and final value all ones). `seed` is the CRC of the bytes before
/// these.
uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed = 0);

/// Whole flits as they go over the wire, payload padded with zeros, crc filled in.
/// Throws Violation if the payload is not `header.len` bytes.
std::vector<uint8_t> encode(Packet packet);

/// Verdict `none`: the packet is fine. Otherwise one of DROP_CRC, DROP_MALFORMED, DROP_NOT_MINE; then the
/// header is as it came (it may be nonsense) and the payload is empty.
struct Arrival {
  formats::Outcome verdict = formats::Outcome::none;
  Packet packet;
};

/// Arrival checks 1 to 3. `flits` is one packet as received; throws Violation unless it is one or more whole
/// flits. Nothing in `node_id`: the register has not been written.
Arrival check_arrival(std::span<const uint8_t> flits, const Params& params, std::optional<uint16_t> node_id);

/// What an ACK asks for, in `arg`: bit i stands for packet WBASE + i; above it log2 of the window.
inline constexpr uint32_t ack_map_bits = 56;
inline constexpr uint64_t ack_map_mask = (uint64_t{1} << ack_map_bits) - 1;

/// Arrival check 4: RSP, RESEND, DONE and ACK go to the sender, all else to the receiver.
bool for_sender(const formats::Header& header);

/// With `transfers`: of these RSP with flag READ go to the inbox instead.
bool for_inbox(const formats::Header& header);

bool has_flag(const formats::Header& header, uint8_t flag);
bool has_flag(const formats::Header& header, formats::TransferFlag flag);
void set_flag(formats::Header& header, formats::TransferFlag flag);

}  // namespace weft::rdma
