// SPDX-License-Identifier: Apache-2.0
// Packets: CRC-32C, encoding, arrival checks.
#include <gtest/gtest.h>

#include <functional>

#include <string_view>

#include "property.hpp"
#include "rdma/packet.hpp"
#include "small_engine.hpp"

namespace weft::rdma::test {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Packet data_packet(uint16_t len) {
  Packet packet{to_receiver(Ptype::data, 2, 5), pattern(len, 1)};
  packet.header.len = len;
  packet.header.pidx = 9;
  return packet;
}

Outcome verdict(const std::vector<uint8_t>& flits) {
  return check_arrival(flits, small_params(), receiver_node).verdict;
}

Outcome verdict(const Packet& packet) { return verdict(encode(packet)); }

uint32_t crc_bit_by_bit(const std::vector<uint8_t>& bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, CheckValue) { EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u); }

TEST(Crc32c, ZerosOfRfc3720) { EXPECT_EQ(crc32c(std::vector<uint8_t>(32, 0)), 0x8A9136AAu); }

TEST(Crc32c, FastEqualsSlowAndChains) {
  EXPECT_PROPERTY("crc", [](const std::vector<uint8_t>& bytes) {
    const auto cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
    const std::span<const uint8_t> all(bytes);
    RC_ASSERT(crc32c(all) == crc_bit_by_bit(bytes));
    RC_ASSERT(crc32c(all.subspan(cut), crc32c(all.first(cut))) == crc32c(all));
  });
}

TEST(Packet, ComesBackAsItWasSent) {
  for (const uint16_t len : {1, 31, 32}) {
    const auto arrival = check_arrival(encode(data_packet(len)), small_params(), receiver_node);
    EXPECT_EQ(arrival.verdict, Outcome::none);
    EXPECT_EQ(arrival.packet.payload, data_packet(len).payload);
    auto header = arrival.packet.header;
    header.crc = 0;
    EXPECT_EQ(header, data_packet(len).header);
  }
}

TEST(Packet, IsPaddedWithZerosToWholeFlits) {
  const auto flits = encode(data_packet(5));
  ASSERT_EQ(flits.size(), 64u);
  for (std::size_t i = 37; i < 64; ++i) EXPECT_EQ(flits[i], 0);
}

TEST(Packet, CrcCoversPaddingAndTakesItsFieldAsZero) {
  auto flits = encode(data_packet(5));
  const auto crc = formats::unpack(std::span<const uint8_t, 32>(flits.data(), 32)).crc;
  for (std::size_t i = 28; i < 32; ++i) flits[i] = 0;
  EXPECT_EQ(crc, crc_bit_by_bit(flits));
}

TEST(Packet, PayloadMustBeLenBytes) {
  auto packet = data_packet(5);
  packet.payload.pop_back();
  EXPECT_THROW(encode(packet), Violation);
}

TEST(Arrival, AnySingleBitFlipIsRejected) {
  for (const auto& packet : {data_packet(5), data_packet(32), Packet{to_receiver(Ptype::rqt, 1, 1), {}}}) {
    const auto good = encode(packet);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      auto bad = good;
      bad[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
      ASSERT_EQ(verdict(bad), Outcome::drop_crc) << "bit " << bit;
    }
  }
}

TEST(Arrival, RandomPacketsWithOneBitFlippedAreRejected) {
  EXPECT_PROPERTY("bit flip", [] {
    auto packet = data_packet(static_cast<uint16_t>(*rc::gen::inRange(1, 33)));
    packet.header.pidx = *rc::gen::arbitrary<uint32_t>();
    packet.header.arg = *rc::gen::arbitrary<uint64_t>();
    packet.payload = pattern(packet.header.len, *rc::gen::arbitrary<uint32_t>());
    auto flits = encode(packet);
    RC_ASSERT(verdict(flits) == Outcome::none);
    const auto bit = *rc::gen::inRange<std::size_t>(0, flits.size() * 8);
    flits[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    RC_ASSERT(verdict(flits) == Outcome::drop_crc);
  });
}

TEST(Arrival, Malformed) {
  auto unknown_type = data_packet(5);
  for (const uint8_t type : {0, 8, 255}) {
    unknown_type.header.ptype = type;
    EXPECT_EQ(verdict(unknown_type), Outcome::drop_malformed);
  }
  auto unknown_flag = data_packet(5);
  unknown_flag.header.flags = 16;
  EXPECT_EQ(verdict(unknown_flag), Outcome::drop_malformed);
  EXPECT_EQ(verdict(data_packet(33)), Outcome::drop_malformed);  // more than the payload
  EXPECT_EQ(verdict(data_packet(0)), Outcome::drop_malformed);
  auto release = data_packet(5);
  release.header.ptype = static_cast<uint8_t>(Ptype::release);
  EXPECT_EQ(verdict(release), Outcome::drop_malformed);
}

TEST(Arrival, NumbersWiderThanTheEnginesAreMalformed) {
  const auto with = [](Ptype type, const std::function<void(Header&)>& change) {
    auto packet = type == Ptype::data ? data_packet(5) : Packet{to_receiver(type, 0, 0), {}};
    change(packet.header);
    return verdict(packet);
  };
  for (const auto type :
       {Ptype::rqt, Ptype::rsp, Ptype::data, Ptype::resend, Ptype::done, Ptype::release, Ptype::ack}) {
    SCOPED_TRACE(formats::name(type));
    EXPECT_EQ(with(type, [](Header&) {}), Outcome::none);
    EXPECT_EQ(with(type, [](Header& h) { h.src = 255; }), Outcome::none);
    EXPECT_EQ(with(type, [](Header& h) { h.src = 256; }), Outcome::drop_malformed);
    EXPECT_EQ(with(type, [](Header& h) { h.sid = 15; }), Outcome::none);
    EXPECT_EQ(with(type, [](Header& h) { h.sid = 16; }), Outcome::drop_malformed);
    EXPECT_EQ(with(type, [](Header& h) { h.msgid = 15; }), Outcome::none);
    EXPECT_EQ(with(type, [](Header& h) { h.msgid = 16; }), Outcome::drop_malformed);
    const bool to_sender =
        type == Ptype::rsp || type == Ptype::resend || type == Ptype::done || type == Ptype::ack;
    EXPECT_EQ(with(type, [](Header& h) { h.cid = 1023; }), Outcome::none);
    EXPECT_EQ(with(type, [](Header& h) { h.cid = 1024; }),
              to_sender ? Outcome::drop_malformed : Outcome::none);
  }
}

TEST(Arrival, NothingIsMineBeforeTheNodeNumberIsKnown) {
  auto packet = data_packet(5);
  for (const uint16_t dst : {0, 7}) {
    packet.header.dst = dst;
    EXPECT_EQ(check_arrival(encode(packet), small_params(), std::nullopt).verdict, Outcome::drop_not_mine);
  }
}

/// Encode, then lie about len under a right CRC.
std::vector<uint8_t> with_len(Packet packet, uint16_t len) {
  auto flits = encode(packet);
  packet.header.len = len;
  packet.header.crc = 0;
  auto header = formats::pack(packet.header);
  std::copy(header.begin(), header.end(), flits.begin());
  packet.header.crc = crc32c(flits);
  header = formats::pack(packet.header);
  std::copy(header.begin(), header.end(), flits.begin());
  return flits;
}

TEST(Arrival, NumberOfFlitsMustFitLen) {
  Params params = small_params();
  params.payload = 64;
  const auto check = [&](uint16_t bytes, uint16_t len) {
    return check_arrival(with_len(data_packet(bytes), len), params, receiver_node).verdict;
  };
  EXPECT_EQ(check(33, 64), Outcome::none);
  EXPECT_EQ(check(33, 32), Outcome::drop_malformed);
  EXPECT_EQ(check(32, 33), Outcome::drop_malformed);
}

TEST(Arrival, TooLongIsMalformedWhateverItsCrc) {
  EXPECT_EQ(verdict(std::vector<uint8_t>(96, 0x55)), Outcome::drop_malformed);
  EXPECT_EQ(verdict(std::vector<uint8_t>(64, 0x55)), Outcome::drop_crc);
}

TEST(Arrival, ChecksCrcThenFormThenNode) {
  auto packet = data_packet(5);
  packet.header.dst = 99;
  EXPECT_EQ(verdict(packet), Outcome::drop_not_mine);
  packet.header.flags = 0x40;
  EXPECT_EQ(verdict(packet), Outcome::drop_malformed);
  auto flits = encode(packet);
  flits.back() ^= 1;
  EXPECT_EQ(verdict(flits), Outcome::drop_crc);
}

TEST(Arrival, OnlyWholeFlitsArrive) {
  EXPECT_THROW(verdict(std::vector<uint8_t>{}), Violation);
  EXPECT_THROW(verdict(std::vector<uint8_t>(33, 0)), Violation);
}

TEST(Packet, GoesToTheSenderByType) {
  for (const auto type : {Ptype::rsp, Ptype::resend, Ptype::done}) {
    EXPECT_TRUE(for_sender(to_sender(type, 0, 0)));
  }
  for (const auto type : {Ptype::rqt, Ptype::data, Ptype::release}) {
    EXPECT_FALSE(for_sender(to_sender(type, 0, 0)));
  }
}

}  // namespace
}  // namespace weft::rdma::test
