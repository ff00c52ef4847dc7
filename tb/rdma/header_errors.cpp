// SPDX-License-Identifier: Apache-2.0
// Bit errors in one field of the headers of passing packets.
#include "header_errors.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "rdma/packet.hpp"

namespace weft::tb {

namespace formats = rdma::formats;

namespace {

constexpr uint64_t most_flips = 3;

void flip(std::vector<uint8_t>& packet, int bit) {
  packet[static_cast<size_t>(bit) / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
}

void mend_crc(std::vector<uint8_t>& packet) {
  using namespace formats;
  constexpr auto first = static_cast<size_t>(field::crc_lsb / 8);
  static_assert(field::crc_lsb % 8 == 0 && field::crc_width == 32);
  std::fill_n(packet.begin() + first, 4, uint8_t{0});
  const uint32_t crc = rdma::crc32c(packet);
  for (size_t i = 0; i < 4; ++i) packet[first + i] = static_cast<uint8_t>(crc >> (8 * i));
}

bool is_data(const std::vector<uint8_t>& packet) {
  const auto header =
      formats::unpack(std::span<const uint8_t, formats::header_bytes>(packet.data(), formats::header_bytes));
  return header.ptype == static_cast<uint8_t>(formats::Ptype::data);
}

}  // namespace

HeaderErrors::HeaderErrors(const HeaderErrorConfig& config, uint64_t seed) : config_(config), random_(seed) {
  if (config.field.width < 4) throw std::invalid_argument("bit errors need a field of at least 4 bits");
  if (config.crc_mended && config.field.name == "crc") {
    throw std::invalid_argument("a bit error in the CRC that the CRC does not show");
  }
}

void HeaderErrors::pass(std::vector<uint8_t>& packet) {
  if (!random_.chance(config_.rate)) return;
  if (config_.crc_mended && !is_data(packet)) return;
  hits_++;
  flip_bits(packet);
  if (config_.crc_mended) mend_crc(packet);
}

void HeaderErrors::flip_bits(std::vector<uint8_t>& packet) {
  const formats::Field& field = config_.field;
  if (config_.crc_mended && field.name == "pidx") return flip(packet, field.lsb + field.width - 1);
  const auto width = static_cast<uint64_t>(field.width);
  const uint64_t flips = 1 + random_.below(most_flips);
  // Evenly spaced positions from a random start: distinct, so that the flips cannot cancel out.
  const uint64_t start = random_.below(width);
  const uint64_t step = 1 + random_.below(width / 4);
  for (uint64_t i = 0; i < flips; ++i) flip(packet, field.lsb + static_cast<int>((start + i * step) % width));
}

}  // namespace weft::tb
