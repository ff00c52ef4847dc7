// SPDX-License-Identifier: Apache-2.0
// The generated C++ headers place fields where spec/rdma.json and spec/rdma_queues.json say.
#include <gtest/gtest.h>

#include <string>

#include "weft/rdma/formats.hpp"
#include "weft/rdma_queues/formats.hpp"

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

TEST(FormatsHeader, ListOfFieldsCoversEveryBitOnceInOrder) {
  int next = 0;
  for (const Field& each : fields) {
    EXPECT_EQ(each.lsb, next) << each.name;
    next += each.width;
  }
  EXPECT_EQ(next, header_bits);
  EXPECT_EQ(fields.front().name, "ptype");
  EXPECT_EQ(fields.back(), (Field{"crc", field::crc_lsb, field::crc_width}));
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

namespace weft::rdma_queues::formats {
namespace {

TEST(QueueFormatsHeader, UnpackReversesPackForEveryBitOfEachRecord) {
  for (int bit = 0; bit < submission_bits; ++bit) {
    std::array<std::uint8_t, submission_bytes> bytes{};
    bytes[static_cast<std::size_t>(bit) / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(pack(unpack_submission(bytes)), bytes) << "bit " << bit;
  }
  for (int bit = 0; bit < completion_bits; ++bit) {
    std::array<std::uint8_t, completion_bytes> bytes{};
    bytes[static_cast<std::size_t>(bit) / 8] = static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(pack(unpack_completion(bytes)), bytes) << "bit " << bit;
  }
}

TEST(QueueFormatsHeader, PhaseIsInTheLastByte) {
  Completion completion;
  completion.phase = 1;
  EXPECT_EQ(pack(completion)[31], 1);
}

}  // namespace
}  // namespace weft::rdma_queues::formats
