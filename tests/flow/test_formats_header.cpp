// SPDX-License-Identifier: Apache-2.0
// The generated C++ header places fields where spec/rdma.json says.
#include <gtest/gtest.h>

#include <string>

#include "weft/rdma/formats.hpp"

namespace weft::rdma::formats {
namespace {

TEST(FormatsHeader, PlacesFieldsLittleEndianFromBitZero) {
  Header header;
  header.ptype = 0x03;
  header.dst = 0x1234;
  header.msgid = 0xabcdef;
  header.crc = 0x89abcdef;
  const auto bytes = pack(header);
  EXPECT_EQ(bytes[0], 0x03);
  EXPECT_EQ(bytes[2], 0x34);
  EXPECT_EQ(bytes[3], 0x12);
  EXPECT_EQ(bytes[11], 0xef);
  EXPECT_EQ(bytes[13], 0xab);
  EXPECT_EQ(bytes[28], 0xef);
  EXPECT_EQ(bytes[31], 0x89);
}

TEST(FormatsHeader, UnpackReversesPackForEveryBit) {
  for (int bit = 0; bit < header_bits; ++bit) {
    std::array<std::uint8_t, header_bytes> bytes{};
    bytes[static_cast<std::size_t>(bit) / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(pack(unpack(bytes)), bytes) << "bit " << bit;
  }
}

TEST(FormatsHeader, CutsOffBitsBeyondAFieldsWidth) {
  Header header;
  header.msgid = 0xff000001;
  Header expected;
  expected.msgid = 0x000001;
  EXPECT_EQ(unpack(pack(header)), expected);
}

TEST(FormatsHeader, NamesValues) {
  EXPECT_EQ(name(Ptype::data), "DATA");
  EXPECT_EQ(name(Outcome::drop_zombie), "DROP_ZOMBIE");
  EXPECT_EQ(name(Outcome{255}), "?");
}

TEST(FormatsHeader, IdRegisterSpellsTheName) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(reset::ID >> shift & 0xffU);
  EXPECT_EQ(text, "weft");
}

}  // namespace
}  // namespace weft::rdma::formats
