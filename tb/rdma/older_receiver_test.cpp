// SPDX-License-Identifier: Apache-2.0
// Receivers of the older schemes (docs/rdma_baseline.md) among packets that no network brings often: of
// attempts that are over or not asked for, of a transfer that is complete or given up, while nothing can be
// answered.
#include "engine_bench.hpp"
#include "rdma_baseline/count.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
using formats::Header;
using formats::Outcome;
using formats::Ptype;

/// A transfer of three full packets from node 7, which a test plays; the engine's timers end soon.
class ThreePackets : public testing::Test {
 protected:
  static constexpr uint16_t payload = 64;
  static constexpr uint32_t packets = 3;

  static driver::RdmaSetup impatient() {
    driver::RdmaSetup setup = EngineBench::usual_setup();
    setup.tick_cycles = 1;
    setup.rx_timeout = 1000;
    setup.max_silent = 3;
    return setup;
  }

  explicit ThreePackets(const std::string& build) : bench_(EngineBench::alone(build), impatient()) {
    Header request = header_to_zero(Ptype::rqt);
    request.pidx = packets * payload;
    request.arg = destination_base;
    expect(request, Outcome::grant);
  }
  ~ThreePackets() override {
    bench_.system.check_counters();
    bench_.expect_no_findings();
  }

  static Header data(uint32_t pidx) {
    Header header = header_to_zero(Ptype::data);
    header.gen = 1;
    header.len = payload;
    header.pidx = pidx;
    if (pidx + 1 == packets) header.flags = formats::flag_last;
    return header;
  }

  static Header data(uint8_t attempt, uint32_t pidx) {
    Header header = data(pidx);
    uint32_t sum = 0;
    for (uint32_t n = 0; n < packets; ++n) sum += rdma::mix(n);
    rdma::set_attempt(header, attempt, sum);
    return header;
  }

  static Header release(uint8_t flags) {
    Header header = header_to_zero(Ptype::release);
    header.gen = 1;
    header.flags = flags;
    return header;
  }

  void expect(const Header& header, Outcome outcome) { bench_.expect_outcome(flits_of(header), outcome); }

  /// Nothing of it is written.
  void expect_dropped(const Header& header, Outcome outcome) {
    const uint64_t written = bench_.written();
    expect(header, outcome);
    EXPECT_EQ(bench_.written(), written) << formats::name(outcome);
  }

  void expect_timeout(Outcome outcome) {
    const uint64_t before = bench_.count(outcome);
    EXPECT_TRUE(bench_.system.run_until([&] { return bench_.count(outcome) > before; }, 20'000))
        << formats::name(outcome);
  }

  /// Until there is no room for another control packet.
  void stall() {
    bench_.system.node(0).stall_output(true);
    Header request = header_to_zero(Ptype::rqt);
    request.pidx = payload;
    request.arg = destination_base + 1;  // misaligned: it is refused
    for (uint32_t n = 0; n < 200 && bench_.count(Outcome::drop_busy) == 0; ++n) {
      request.sid = static_cast<uint16_t>(n % 2);
      bench_.system.node(0).receive(flits_of(request));
      bench_.run(10);
    }
    bench_.run(100);
    EXPECT_GT(bench_.count(Outcome::drop_busy), 0u);
  }
  void go_on() {
    bench_.system.node(0).stall_output(false);
    bench_.run(500);
  }

  EngineBench bench_;
};

class AttemptsOfOne : public ThreePackets {
 protected:
  AttemptsOfOne() : ThreePackets("rxcounter_small") {}

  void send_all(uint8_t attempt) {
    for (uint32_t pidx = 0; pidx + 1 < packets; ++pidx) expect(data(attempt, pidx), Outcome::advance);
    expect(data(attempt, packets - 1), Outcome::finish);
  }
};

class PacketsThatAreAnswered : public ThreePackets {
 protected:
  PacketsThatAreAnswered() : ThreePackets("txwindow_small") {}
};

TEST_F(AttemptsOfOne, ThatNobodyHasAskedForAreDropped) {
  expect(data(0, 0), Outcome::advance);
  for (const uint8_t attempt : {1, 2, 127, 128}) expect_dropped(data(attempt, 1), Outcome::drop_early);
  expect(data(0, 1), Outcome::advance);
  expect(data(0, 2), Outcome::finish);
}

TEST_F(AttemptsOfOne, ThatAreOverAreDropped) {
  expect(data(0, 0), Outcome::advance);
  expect_timeout(Outcome::ask_from);
  expect_dropped(data(0, 1), Outcome::drop_duplicate);
  expect_dropped(data(129, 1), Outcome::drop_early);
  send_all(1);
}

/// The count is reached, with one packet twice and another missing: asks without waiting.
TEST_F(AttemptsOfOne, WithADoubleBeginAnew) {
  expect(data(0, 0), Outcome::advance);
  expect(data(0, 0), Outcome::advance);
  expect(data(0, 2), Outcome::ask_from);
  expect_dropped(data(0, 1), Outcome::drop_duplicate);
  send_all(1);
}

TEST_F(AttemptsOfOne, AreOverOnceAllHasCome) {
  send_all(0);
  for (const uint8_t attempt : {0, 1, 128}) expect_dropped(data(attempt, 1), Outcome::drop_duplicate);
  expect_timeout(Outcome::done_again);
  expect_dropped(data(0, 1), Outcome::drop_duplicate);
  expect(release(0), Outcome::released);
  expect_dropped(data(0, 1), Outcome::drop_unknown_cid);
}

TEST_F(AttemptsOfOne, EndWithASenderThatHasFailed) {
  expect(data(0, 0), Outcome::advance);
  expect(release(formats::flag_failed), Outcome::released_failed);
  expect_dropped(data(0, 1), Outcome::drop_unknown_cid);
}

TEST_F(AttemptsOfOne, EndWhenNothingComes) {
  expect(data(0, 0), Outcome::advance);
  for (unsigned n = 0; n < 3; ++n) expect_timeout(Outcome::ask_from);
  expect_timeout(Outcome::reclaim);
  expect_dropped(data(3, 1), Outcome::drop_unknown_cid);
}

TEST_F(AttemptsOfOne, EndCompleteOnesToo) {
  send_all(0);
  for (unsigned n = 0; n < 3; ++n) expect_timeout(Outcome::done_again);
  expect_timeout(Outcome::reclaim);
}

/// DONE, and RESEND, find no room: the timer repeats them.
TEST_F(AttemptsOfOne, AreCompleteThoughNobodyCanBeTold) {
  expect(data(0, 0), Outcome::advance);
  expect(data(0, 1), Outcome::advance);
  stall();
  expect(data(0, 2), Outcome::finish);
  go_on();
  expect_timeout(Outcome::done_again);
}

TEST_F(AttemptsOfOne, BeginThoughNobodyCanBeTold) {
  expect(data(0, 0), Outcome::advance);
  stall();
  expect_timeout(Outcome::ask_from);
  go_on();
  expect_dropped(data(0, 1), Outcome::drop_duplicate);
  expect_timeout(Outcome::ask_from);
  send_all(2);
}

TEST_F(PacketsThatAreAnswered, AreWrittenWithoutRoomForTheAnswer) {
  expect(data(0), Outcome::accept);
  stall();
  for (const uint32_t pidx : {1, 1, 2}) expect(data(pidx), Outcome::accept);
  go_on();
  EXPECT_EQ(bench_.written(), 4u * payload);
  expect(data(1), Outcome::accept);
}

TEST_F(PacketsThatAreAnswered, AreNotMissedAtTheTimeout) {
  expect(data(0), Outcome::accept);
  stall();
  expect_timeout(Outcome::ask_one);
  go_on();
  expect_timeout(Outcome::ask_one);
  Header kept = release(formats::flag_retry);
  expect(kept, Outcome::kept);
  for (unsigned n = 0; n < 3; ++n) expect_timeout(Outcome::ask_one);  // its silence begins anew
  expect_timeout(Outcome::reclaim);
}

}  // namespace
}  // namespace weft::tb
