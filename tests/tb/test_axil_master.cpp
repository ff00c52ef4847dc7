// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite master finds every rule that the slave breaks, and keeps them itself.
#include <cstdint>
#include <optional>
#include <utility>

#include "common/axil_master.hpp"
#include "monitor_test.hpp"

namespace weft::tb::test {
namespace {

class AxiLiteMasterTest : public MonitorTest {
 protected:
  /// One clock cycle; the signals of the slave stand as the test has set them.
  void cycle() {
    next_cycle();
    master_.drive(pins_);
    if (stalled_) pins_.bready = pins_.rready = false;
    master_.sample(pins_, reporter_);
  }

  /// A write or read whose request has been taken, and that waits for its answer.
  void begin_write() {
    master_.write(0x10, 1, [this](bool ok) { written_ = ok; });
    pins_.awready = pins_.wready = true;
    cycle();
    pins_.awready = pins_.wready = false;
  }
  void begin_read() {
    master_.read(0x20, [this](bool ok, uint32_t data) { read_ = std::pair(ok, data); });
    pins_.arready = true;
    cycle();
    pins_.arready = false;
  }

  AxiLitePins pins_;
  bool stalled_ = false;  // the master is kept from taking answers
  std::optional<bool> written_;
  std::optional<std::pair<bool, uint32_t>> read_;
  AxiLiteMaster master_{PauseGenerator(0, 1, 0)};
};

TEST_F(AxiLiteMasterTest, WritesInAnyOrderOfAddressAndData) {
  for (const bool address_first : {true, false}) {
    written_.reset();
    master_.write_strobed(0x1'2344, 0xcafe, 0x3, [this](bool ok) { written_ = ok; });
    pins_.awready = address_first;
    pins_.wready = !address_first;
    cycle();
    EXPECT_TRUE(pins_.awvalid && pins_.wvalid);
    EXPECT_EQ(pins_.awaddr, 0x344u) << "cut to the 12 bits of the port";
    EXPECT_EQ(pins_.wdata, 0xcafeu);
    EXPECT_EQ(pins_.wstrb, 0x3);
    std::swap(pins_.awready, pins_.wready);
    cycle();
    EXPECT_EQ(pins_.awvalid, !address_first) << "not offered again";
    EXPECT_EQ(pins_.wvalid, address_first);
    pins_.awready = pins_.wready = false;
    pins_.bvalid = true;
    cycle();
    pins_.bvalid = false;
    EXPECT_EQ(written_, true);
    EXPECT_TRUE(master_.idle());
  }
  expect_clean();
}

TEST_F(AxiLiteMasterTest, ReadsAndTellsErrors) {
  begin_read();
  pins_.rvalid = true;
  pins_.rdata = 0x1234;
  cycle();
  pins_.rvalid = false;
  EXPECT_EQ(read_, std::pair(true, 0x1234u));
  begin_read();
  pins_.rvalid = true;
  pins_.rresp = resp_slverr;
  cycle();
  pins_.rvalid = false;
  EXPECT_EQ(read_->first, false);
  begin_write();
  pins_.bvalid = true;
  pins_.bresp = resp_slverr;
  cycle();
  EXPECT_EQ(written_, false);
  expect_clean();
}

TEST_F(AxiLiteMasterTest, FindsAnswersThatAreWithdrawn) {
  stalled_ = true;
  begin_write();
  pins_.bvalid = true;
  cycle();
  pins_.bvalid = false;
  cycle();
  expect_finding("s_axil b: valid fell before ready");
  pins_.bvalid = true;
  stalled_ = false;
  cycle();
  pins_.bvalid = false;
  stalled_ = true;
  begin_read();
  pins_.rvalid = true;
  cycle();
  pins_.rvalid = false;
  cycle();
  expect_finding("s_axil r: valid fell before ready");
}

TEST_F(AxiLiteMasterTest, FindsAChangedWriteResponse) {
  stalled_ = true;
  begin_write();
  pins_.bvalid = true;
  cycle();
  pins_.bresp = resp_slverr;
  cycle();
  expect_finding("s_axil b: payload changed while valid waited for ready");
}

TEST_F(AxiLiteMasterTest, FindsChangedReadDataAndResponse) {
  stalled_ = true;
  begin_read();
  pins_.rvalid = true;
  cycle();
  pins_.rdata ^= 1u << 31;
  cycle();
  expect_finding("s_axil r: payload changed while valid waited for ready");
  pins_.rresp = resp_slverr;
  cycle();
  expect_finding("s_axil r: payload changed while valid waited for ready");
}

TEST_F(AxiLiteMasterTest, FindsAnswersNobodyAskedFor) {
  pins_.bvalid = true;
  cycle();
  expect_finding("s_axil: answer without a request");
  pins_.bvalid = false;
  pins_.rvalid = true;
  cycle();
  expect_finding("s_axil: answer without a request");
}

TEST_F(AxiLiteMasterTest, FindsASecondAnswer) {
  begin_write();
  pins_.bvalid = true;
  cycle();
  expect_clean();
  cycle();
  expect_finding("s_axil: answer without a request");
}

TEST_F(AxiLiteMasterTest, FindsAnAnswerBeforeTheWholeRequest) {
  for (bool AxiLitePins::*const ready : {&AxiLitePins::awready, &AxiLitePins::wready}) {
    master_.write(0x10, 1, nullptr);
    pins_.*ready = true;
    cycle();
    pins_.*ready = false;
    pins_.bvalid = true;
    cycle();
    expect_finding("s_axil: answer without a request");
    pins_ = AxiLitePins{};
    master_.reset();
  }
  master_.read(0x10, nullptr);
  pins_.rvalid = true;  // arready is low
  cycle();
  expect_finding("s_axil: answer without a request");
}

// Offered too early and taken in time is wrong as well.
TEST_F(AxiLiteMasterTest, FindsAnAnswerOfferedBeforeItsRequest) {
  stalled_ = true;
  pins_.bvalid = true;
  cycle();
  expect_finding("s_axil: answer without a request");
}

TEST_F(AxiLiteMasterTest, FindsTheAnswerOfTheOtherKind) {
  begin_write();
  pins_.rvalid = true;
  cycle();
  expect_finding("s_axil: answer without a request");
  EXPECT_FALSE(written_);
}

TEST_F(AxiLiteMasterTest, FindsResponsesThatTheEngineDoesNotHave) {
  for (const uint8_t response : {1, 3}) {  // EXOKAY is no answer in AXI4-Lite; DECERR is the interconnect's
    begin_write();
    pins_.bvalid = true;
    pins_.bresp = response;
    cycle();
    expect_finding("s_axil b: response " + std::to_string(response));
    pins_.bvalid = false;
    pins_.bresp = resp_okay;
    begin_read();
    pins_.rvalid = true;
    pins_.rresp = response;
    cycle();
    expect_finding("s_axil r: response " + std::to_string(response));
    pins_.rvalid = false;
  }
}

TEST_F(AxiLiteMasterTest, ResetForgetsTheAccessAndTheWaitingAnswer) {
  begin_write();
  stalled_ = true;
  pins_.bvalid = true;
  cycle();
  pins_ = AxiLitePins{};
  master_.reset();
  cycle();
  expect_clean();
  EXPECT_TRUE(master_.idle());
  EXPECT_FALSE(pins_.awvalid || pins_.wvalid);
  EXPECT_FALSE(written_);
}

/// Takes requests and answers them, each signal at random but within the rules.
void play_slave(AxiLitePins& pins, bool& address, bool& data, bool& read, RandomStream& random) {
  pins.awready = !address && random.chance(0.5);
  pins.wready = !data && random.chance(0.5);
  pins.arready = !read && random.chance(0.5);
  pins.bvalid = address && data && (pins.bvalid || random.chance(0.5));
  pins.rvalid = read && (pins.rvalid || random.chance(0.5));
}

TEST_F(AxiLiteMasterTest, KeepsTheRulesItselfWhateverThePauses) {
  constexpr uint64_t seed = 23;
  AxiLiteMaster master(PauseGenerator(0.4, seed, 0));
  RandomStream random(seed, 1);
  StableCheck<uint32_t> stable_aw("aw"), stable_ar("ar");
  StableCheck<std::pair<uint32_t, uint8_t>> stable_w("w");
  uint32_t answers = 0;
  for (uint32_t i = 0; i < 500; ++i) {
    master.write_strobed(4 * i, i, i % 16, [&](bool) { answers++; });
    master.read(4 * i, [&](bool, uint32_t) { answers++; });
  }
  bool address = false, data = false, read = false;  // taken and not yet answered
  for (uint32_t i = 0; i < 50'000 && !master.idle(); ++i) {
    next_cycle();
    play_slave(pins_, address, data, read, random);
    master.drive(pins_);
    stable_aw.sample(pins_.awvalid, pins_.awready, pins_.awaddr, reporter_);
    stable_w.sample(pins_.wvalid, pins_.wready, {pins_.wdata, pins_.wstrb}, reporter_);
    stable_ar.sample(pins_.arvalid, pins_.arready, pins_.araddr, reporter_);
    master.sample(pins_, reporter_);
    const bool answered = pins_.bvalid && pins_.bready;
    address = (address || (pins_.awvalid && pins_.awready)) && !answered;
    data = (data || (pins_.wvalid && pins_.wready)) && !answered;
    read = (read || (pins_.arvalid && pins_.arready)) && !(pins_.rvalid && pins_.rready);
  }
  expect_clean();
  EXPECT_EQ(answers, 1000u);
}

}  // namespace
}  // namespace weft::tb::test
