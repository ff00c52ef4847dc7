// SPDX-License-Identifier: Apache-2.0
// crc_flit of rdma_pkg: published values of CRC-32C (RFC 3720, B.4), and random messages against bit-serial
// software.
#include <array>
#include <cstdint>
#include <vector>

#include "rdma_blocks.hpp"

namespace weft::rtl_test {
namespace {

using Flit = std::array<uint8_t, 32>;

uint32_t software_crc32c(const std::vector<Flit>& flits) {
  uint32_t crc = 0xffffffff;
  for (const Flit& flit : flits) {
    for (const uint8_t byte : flit) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
  }
  return ~crc;
}

class RdmaCrc : public testing::Test {
 protected:
  uint32_t crc32c(const std::vector<Flit>& flits) {
    uint32_t crc = 0xffffffff;
    for (const Flit& flit : flits) {
      bench_->crc_i = crc;
      for (int word = 0; word < 8; ++word) {
        bench_->flit_i[word] = 0;
        for (int byte = 0; byte < 4; ++byte) {
          bench_->flit_i[word] |=
              uint32_t{flit[4 * static_cast<std::size_t>(word) + static_cast<std::size_t>(byte)]} << 8 * byte;
        }
      }
      bench_.settle();
      crc = bench_->crc_o;
    }
    return ~crc;
  }

  RdmaBlocksBench bench_;
};

TEST_F(RdmaCrc, PublishedValues) {
  Flit flit{};
  EXPECT_EQ(crc32c({flit}), 0x8a9136aau);
  flit.fill(0xff);
  EXPECT_EQ(crc32c({flit}), 0x62a8ab43u);
  for (uint8_t i = 0; i < 32; ++i) flit[i] = i;
  EXPECT_EQ(crc32c({flit}), 0x46dd794eu);
  for (uint8_t i = 0; i < 32; ++i) flit[i] = static_cast<uint8_t>(31 - i);
  EXPECT_EQ(crc32c({flit}), 0x113fdb5cu);
}

TEST_F(RdmaCrc, EqualsSoftwareForRandomMessages) {
  for (int n = 0; n < 3000; ++n) {
    std::vector<Flit> flits(1 + bench_.below(9));
    for (Flit& flit : flits) {
      for (uint8_t& byte : flit) byte = static_cast<uint8_t>(bench_.below(256));
    }
    ASSERT_EQ(crc32c(flits), software_crc32c(flits));
  }
}

TEST_F(RdmaCrc, EveryBitOfAFlitCounts) {
  const uint32_t zero = crc32c({Flit{}});
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Flit flit{};
    flit[bit / 8] = static_cast<uint8_t>(1 << bit % 8);
    EXPECT_EQ(crc32c({flit}), software_crc32c({flit})) << "bit " << bit;
    EXPECT_NE(crc32c({flit}), zero) << "bit " << bit;
  }
}

}  // namespace
}  // namespace weft::rtl_test
