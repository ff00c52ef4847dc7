// SPDX-License-Identifier: Apache-2.0
// Bit errors in one header field: only there, as often as asked for, and told or not told by the CRC.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "header_errors.hpp"
#include "rdma/packet.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
using formats::Outcome;
using formats::Ptype;

constexpr uint16_t node = 1;
constexpr uint16_t payload_bytes = 256;

std::vector<uint8_t> packet_of(Ptype type) {
  formats::Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.dst = node;
  header.src = 2;
  header.msgid = 77;
  if (type == Ptype::data) header.len = payload_bytes;
  return rdma::encode({header, std::vector<uint8_t>(header.len, 0x5a)});
}

std::vector<int> flipped_bits(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after) {
  std::vector<int> bits;
  for (size_t i = 0; i < before.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      if ((before[i] ^ after[i]) >> bit & 1) bits.push_back(static_cast<int>(8 * i) + bit);
    }
  }
  return bits;
}

bool in_field(int bit, const formats::Field& field) {
  return bit >= field.lsb && bit < field.lsb + field.width;
}

Outcome verdict(const std::vector<uint8_t>& packet) { return rdma::check_arrival(packet, {}, node).verdict; }

class HeaderErrorsTest : public testing::TestWithParam<formats::Field> {};

TEST_P(HeaderErrorsTest, FlipOneToThreeBitsOfTheFieldAndTheCrcTells) {
  HeaderErrors errors({.rate = 1, .field = GetParam()}, 1);
  std::set<size_t> counts;
  std::set<int> places;
  for (int i = 0; i < 2000; ++i) {
    const auto before = packet_of(i % 2 ? Ptype::data : Ptype::done);
    auto after = before;
    errors.pass(after);
    const auto bits = flipped_bits(before, after);
    counts.insert(bits.size());
    for (const int bit : bits) {
      ASSERT_TRUE(in_field(bit, GetParam())) << "bit " << bit;
      places.insert(bit);
    }
    ASSERT_EQ(verdict(after), Outcome::drop_crc);
  }
  EXPECT_EQ(counts, (std::set<size_t>{1, 2, 3}));
  EXPECT_EQ(places.size(), static_cast<size_t>(GetParam().width)) << "some bits are never flipped";
  EXPECT_EQ(errors.hits(), 2000u);
}

TEST_P(HeaderErrorsTest, WithTheCrcMendedOnlyTheFieldDiffersAndOnlyInData) {
  const HeaderErrorConfig config{.rate = 1, .field = GetParam(), .crc_mended = true};
  if (GetParam().name == "crc") {
    EXPECT_THROW(HeaderErrors(config, 1), std::invalid_argument);
    return;
  }
  HeaderErrors errors(config, 1);
  const formats::Field crc = formats::fields.back();
  for (int i = 0; i < 500; ++i) {
    auto control = packet_of(Ptype::rqt);
    errors.pass(control);
    ASSERT_EQ(control, packet_of(Ptype::rqt));
    auto data = packet_of(Ptype::data);
    errors.pass(data);
    uint64_t in_it = 0;
    for (const int bit : flipped_bits(packet_of(Ptype::data), data)) {
      ASSERT_TRUE(in_field(bit, GetParam()) || in_field(bit, crc)) << "bit " << bit;
      in_it += in_field(bit, GetParam());
    }
    ASSERT_GE(in_it, 1u);
    ASSERT_NE(verdict(data), Outcome::drop_crc);
    if (GetParam().name == "pidx") {
      ASSERT_EQ(in_it, 1u) << "might be another packet of the same transfer";
    }
  }
  EXPECT_EQ(errors.hits(), 500u);
}

INSTANTIATE_TEST_SUITE_P(Fields, HeaderErrorsTest, testing::ValuesIn(formats::fields),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(HeaderErrorRate, IsKept) {
  for (const double rate : {0.0, 0.1}) {
    HeaderErrors errors({.rate = rate, .field = formats::fields.front()}, 1);
    const auto before = packet_of(Ptype::done);
    uint64_t changed = 0;
    for (int i = 0; i < 10'000; ++i) {
      auto after = before;
      errors.pass(after);
      changed += after != before;
    }
    EXPECT_EQ(errors.hits(), changed);
    EXPECT_NEAR(static_cast<double>(changed), rate * 10'000, 180);  // six standard deviations
  }
}

TEST(HeaderErrorSeed, DecidesWhatIsHit) {
  const auto run = [](uint64_t seed) {
    HeaderErrors errors({.rate = 0.5, .field = formats::fields.front()}, seed);
    std::vector<std::vector<uint8_t>> packets(100, packet_of(Ptype::data));
    for (auto& packet : packets) errors.pass(packet);
    return packets;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace weft::tb
