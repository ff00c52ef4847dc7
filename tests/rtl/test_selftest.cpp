// SPDX-License-Identifier: Apache-2.0
// The self-test for FPGA boards: passes on receivers and lookup blocks that are right, says on LEDs and
// serial line which answer was wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "../model/temporary_folder.hpp"
#include "Vselftest_large.h"
#include "Vselftest_top.h"
#include "bench.hpp"
#include "rdma/receiver.hpp"
#include "selftest/hex_file.hpp"
#include "selftest/lookup_test.hpp"
#include "selftest/receiver_test.hpp"

namespace weft::rtl_test {
namespace {

constexpr int bit_clocks = 4;  // CLOCKS
constexpr int receiver_passed = 1, receiver_failed = 2, lookup_passed = 4, lookup_failed = 8, all_passed = 16;

template <typename Top>
struct Sizes;
template <>
struct Sizes<Vselftest_top> {
  static rdma::Params receiver() {
    rdma::Params params;
    params.n_rx_ctx = 8, params.window = 16, params.payload = 64, params.pidx_bits = 8, params.cid_bits = 5,
    params.sid_bits = 4, params.msgid_bits = 6, params.node_bits = 4, params.addr_bits = 24,
    params.n_regions = 4, params.n_sources = 2;
    return params;
  }
  static constexpr switch_lookup::Sizes lookup{8, 16, 64, false};
};
template <>
struct Sizes<Vselftest_large> {
  static rdma::Params receiver() {
    rdma::Params params;
    params.n_rx_ctx = 64;
    return params;
  }
  static constexpr switch_lookup::Sizes lookup{16, 64, 256, false};
};

/// Bytes on a serial line, a level a clock.
class SerialLine {
 public:
  void level(bool high) {
    if (bit_ == 0) {
      if (high) return;
      bit_ = 1, clock_ = bit_clocks + bit_clocks / 2;  // into the middle of the first bit
      return;
    }
    if (--clock_ > 0) return;
    clock_ = bit_clocks;
    if (bit_ <= 8) {
      byte_ = byte_ >> 1 | (high ? 0x80 : 0);
    } else {
      EXPECT_TRUE(high) << "no stop bit";
      text_ += static_cast<char>(byte_);
      bit_ = 0, byte_ = 0;
      return;
    }
    ++bit_;
  }
  const std::string& text() const { return text_; }

 private:
  int bit_ = 0, clock_ = 0, byte_ = 0;
  std::string text_;
};

struct Report {
  int leds = 0;
  std::string text;
};

template <typename Top>
class Selftest : public test::TemporaryFolder {
 protected:
  void SetUp() override {
    std::filesystem::current_path(path(""));  // where the memories look for their files
    receiver_ = selftest::make_receiver_test(Sizes<Top>::receiver(), 1000, static_cast<uint32_t>(seed()));
    lookup_ = selftest::make_lookup_test(Sizes<Top>::lookup, 3, 120, static_cast<uint32_t>(seed()));
  }
  void TearDown() override { std::filesystem::current_path("/"); }

  Report run() {
    write("receiver.hex", selftest::hex_text(receiver_.vectors));
    write("receiver_expected.hex", selftest::hex_text(receiver_.expected));
    write("lookup.hex", selftest::hex_text(lookup_.steps));
    write("lookup_expected.hex", selftest::hex_text(lookup_.expected));
    Bench<Top> bench;
    bench.reset();
    SerialLine line;
    constexpr size_t both_lines = 44;
    for (int clock = 0; clock < 60'000 && line.text().size() < both_lines; ++clock) {
      bench.settle();
      line.level(bench->tx_o);
      bench.step();
    }
    return {bench->led_o & 31, line.text()};
  }

  std::string line(char unit, std::optional<unsigned> wrong, uint32_t signature) {
    char text[32];
    std::snprintf(text, sizeof text, "%c %s %04X %08X\r\n", unit, wrong ? "FAIL" : "PASS", wrong.value_or(0),
                  signature);
    return text;
  }
  std::string receiver_line(std::optional<unsigned> wrong = {}) {
    return line('R', wrong, receiver_.expected.back());
  }
  std::string lookup_line(std::optional<unsigned> wrong = {}) {
    return line('L', wrong, lookup_.expected.back());
  }

  selftest::ReceiverTest receiver_;
  selftest::LookupTest lookup_;
};

using Tops = testing::Types<Vselftest_top, Vselftest_large>;
TYPED_TEST_SUITE(Selftest, Tops);

TYPED_TEST(Selftest, PassesAsTheGoldenModelSays) {
  const Report report = this->run();
  EXPECT_EQ(report.leds, receiver_passed | lookup_passed | all_passed);
  EXPECT_EQ(report.text, this->receiver_line() + this->lookup_line());
}

TYPED_TEST(Selftest, NamesTheFirstWrongOutcomeOfTheReceiver) {
  this->receiver_.expected[777] ^= 1;
  this->receiver_.expected[800] ^= 1;
  const Report report = this->run();
  EXPECT_EQ(report.leds, receiver_failed | lookup_passed);
  EXPECT_EQ(report.text, this->receiver_line(777) + this->lookup_line());
}

TYPED_TEST(Selftest, NamesTheFirstWrongAnswerOfTheLookupBlock) {
  this->lookup_.expected[200] ^= 1 << 24;
  const Report report = this->run();
  EXPECT_EQ(report.leds, receiver_passed | lookup_failed);
  EXPECT_EQ(report.text, this->receiver_line() + this->lookup_line(200));
}

/// Also what no outcome shows: here addresses.
TYPED_TEST(Selftest, SeesByTheSignatureWhatIsWrittenElsewhere) {
  const auto& expected = this->receiver_.expected;
  for (size_t n = 0; n + 1 < expected.size(); ++n)
    if (expected[n] == static_cast<uint32_t>(rdma::formats::Outcome::grant))
      this->receiver_.vectors[n].arg ^= 0x1000;
  const Report report = this->run();
  EXPECT_EQ(report.leds, receiver_failed | lookup_passed);
  EXPECT_EQ(report.text.substr(0, 12), "R FAIL FFFE ");
  EXPECT_NE(report.text.substr(12, 8), this->receiver_line().substr(12, 8));
}

/// A register write that the block does not take: its test never comes to an end.
TYPED_TEST(Selftest, GivesUpWhenNothingComes) {
  this->lookup_.steps[0].address = 0;  // ID, read only
  const Report report = this->run();
  EXPECT_EQ(report.leds, receiver_passed | lookup_failed);
  EXPECT_EQ(report.text, this->receiver_line() + "L FAIL FFFF 00000000\r\n");
}

/// Every kind of event is among them, or the test says little.
TEST(SelftestVectors, OfTheReceiverReachMostOutcomes) {
  const auto test = selftest::make_receiver_test(Sizes<Vselftest_top>::receiver(), 1000, 1);
  std::set<uint32_t> outcomes(test.expected.begin(), test.expected.end() - 1);
  EXPECT_GE(outcomes.size(), 16u);
}

TEST(SelftestVectors, OfTheLookupBlockReachAllOutcomesButOne) {
  const auto test = selftest::make_lookup_test(Sizes<Vselftest_top>::lookup, 4, 200, 1);
  std::set<uint32_t> outcomes;
  for (size_t i = 0; i + 1 < test.expected.size(); ++i) outcomes.insert(test.expected[i] >> 24 & 15);
  EXPECT_EQ(outcomes, (std::set<uint32_t>{0, 1, 2, 3, 5, 6, 7, 8}));  // 4: TABLE_ERROR
}

}  // namespace
}  // namespace weft::rtl_test
