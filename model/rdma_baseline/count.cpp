// SPDX-License-Identifier: Apache-2.0
// Counting packets, and telling a set that is complete from one with doubles.
#include "rdma_baseline/count.hpp"

#include <bit>

#include "rdma/packet.hpp"

namespace weft::rdma {

namespace {

constexpr unsigned attempt_place = 24;  // of DATA's arg, above the RKEY
constexpr unsigned sum_place = 32;
constexpr unsigned came_place = 8;  // of RESEND's

}  // namespace

uint32_t mix(uint32_t pidx) {
  auto high = static_cast<uint16_t>(pidx >> 16);
  auto low = static_cast<uint16_t>(pidx);
  for (const uint16_t key : {0x243f, 0x6a88, 0x85a3, 0x08d3}) {  // digits of pi
    high = static_cast<uint16_t>(std::rotr(high, 7) + low) ^ key;
    low = std::rotl(low, 2) ^ high;
  }
  return uint32_t{high} << 16 | low;
}

Count take(Count count, const formats::Header& data) {
  count.came = true;
  count.packets += 1;
  count.residue += mix(data.pidx);
  if ((data.flags & formats::flag_last) != 0) count.residue -= static_cast<uint32_t>(data.arg >> sum_place);
  return count;
}

bool is_complete(const Count& count, uint32_t packets) {
  return count.packets == packets && count.residue == 0;
}

Count next_attempt(const Count& count) {
  Count next;
  next.attempt = static_cast<uint8_t>(count.attempt + 1);
  next.came = count.came;
  return next;
}

uint8_t attempt_of(const formats::Header& data) { return static_cast<uint8_t>(data.arg >> attempt_place); }

void set_attempt(formats::Header& data, uint8_t attempt, uint32_t sum) {
  data.arg |= uint64_t{attempt} << attempt_place;
  if ((data.flags & formats::flag_last) != 0) data.arg |= uint64_t{sum} << sum_place;
}

uint64_t asking(const Count& count) { return uint64_t{count.came} << came_place | count.attempt; }

uint8_t asked_attempt(const formats::Header& resend) { return static_cast<uint8_t>(resend.arg); }

bool asks_of_none_come(const formats::Header& resend) { return (resend.arg >> came_place & 1) == 0; }

uint64_t trace_bits(const Count& count) { return uint64_t{count.residue} << 8 | count.attempt; }

}  // namespace weft::rdma
