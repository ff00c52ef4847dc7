// SPDX-License-Identifier: Apache-2.0
// The scoreboard itself, with pins made by hand: a course of events as it should be yields no finding, and
// each wrong pin yields one.
#include "scoreboard.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine_bench.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;
using formats::Header;
using formats::Outcome;
using formats::Ptype;

constexpr uint16_t cid = 5;
constexpr uint16_t sid = 9;

AxiMemory make_memory() {
  return {{}, [](const WrittenBurst&) {}, [](uint64_t, bool) {}};
}

/// An engine played by the test: one transfer of 40 bytes arrives, one is refused by its receiver.
class ScoreboardTest : public testing::Test {
 protected:
  ScoreboardTest() { open(); }

  /// As software does after reset.
  void open() {
    write(reg::NODE_ID, 0);
    write(reg::TICK_CYCLES, 10);
    write(reg::REGION_BASE_LO, 0x1000);
    write(reg::REGION_LIMIT_LO, 0x9000);
    write(reg::REGION_LIMIT_HI, 0);
    write(reg::REGION_RIGHTS, 1);
    write(reg::REGION_SET, 0);
    for (unsigned i = 0; i < 10; ++i) sample();  // clocks from a register to the events that have seen it
  }

  void sample() {
    reporter_.set_cycle(cycle_++);
    scoreboard_.sample(pins_);
    pins_.rx.valid = pins_.tx.valid = pins_.post.valid = false;
  }

  void write(uint32_t address, uint32_t data) {
    pins_.axil.awaddr = address;
    pins_.axil.wdata = data;
    pins_.axil.awvalid = pins_.axil.awready = pins_.axil.wvalid = pins_.axil.wready = true;
    sample();
    pins_.axil = {};
    pins_.axil.bvalid = pins_.axil.bready = true;
    sample();
    pins_.axil = {};
    sample();
  }

  uint16_t now() const { return static_cast<uint16_t>(cycle_ / 10); }

  void arrive(const Header& header) {
    scoreboard_.arrived(flits_of(header));
    sample();
  }

  /// The receiver retires an event; `spoil` makes one thing wrong.
  void retire(Outcome outcome, uint32_t wbase, const std::function<void(RxTracePins&)>& spoil = nullptr) {
    RxTracePins& rx = pins_.rx;
    rx = {};
    rx.valid = rx.room = rx.offer_valid = true;
    rx.offer_cid = rx.cid = cid;
    rx.outcome = static_cast<uint8_t>(outcome);
    rx.now = now();
    rx.limit = rdma::formats::reset::RX_TIMEOUT;
    rx.wbase = wbase;
    if (spoil) spoil(rx);
    sample();
  }

  void retire_sender(TxKind kind, Outcome outcome, const std::function<void(TxTracePins&)>& spoil = nullptr) {
    TxTracePins& tx = pins_.tx;
    tx = {};
    tx.valid = tx.room = tx.resend_room = true;
    tx.offer_valid = kind == TxKind::post;
    tx.kind = kind;
    tx.offer_sid = tx.sid = sid;
    tx.outcome = static_cast<uint8_t>(outcome);
    tx.now = now();
    tx.limit = rdma::formats::reset::TX_RETRY;
    if (spoil) spoil(tx);
    sample();
  }

  static Header request() {
    Header header = header_to_zero(Ptype::rqt);
    header.pidx = 40;
    header.arg = 0x1000;
    return header;
  }

  static Header data() {
    Header header = header_to_zero(Ptype::data);
    header.cid = cid;
    header.gen = 1;
    header.len = 40;
    header.flags = formats::flag_last;
    return header;
  }

  static Header from_receiver(Ptype type, uint8_t flags = 0) {
    Header header = header_to_zero(type);
    std::swap(header.src, header.dst);
    header.cid = cid;
    header.gen = 1;
    header.flags = flags;
    if (type == Ptype::rsp) header.pidx = 7;  // log2 of the window
    return header;
  }

  void post() {
    write(reg::POST_BYTES, 40);
    write(reg::POST_NODE, 7);
    write(reg::POST, 3);
    take_post();
  }

  /// The sender takes it.
  void take_post(PostOrigin origin = PostOrigin::registers) {
    pins_.post = {true, origin};
    sample();
  }

  static Header posted_request() {
    Header header = header_to_zero(Ptype::rqt);
    std::swap(header.src, header.dst);
    header.sid = sid;
    header.msgid = 0;
    header.pidx = 40;
    return header;
  }

  void refuse() {
    Header header = header_to_zero(Ptype::rsp);
    header.sid = sid;
    header.msgid = 0;
    header.arg = static_cast<uint64_t>(formats::Refusal::bad_region);
    arrive(header);
    retire_sender(TxKind::packet, Outcome::refused);
  }

  void settle() {
    for (uint64_t i = 0; i <= trace_lag; ++i) sample();
  }

  void write_memory(uint64_t address, uint8_t value, bool ok = true) {
    scoreboard_.wrote({address, std::vector<uint8_t>(40, value)});
    scoreboard_.answered(40, ok);
  }

  void receive_all(bool write_ok = true) {
    arrive(request());
    retire(Outcome::grant, 0);
    scoreboard_.left(flits_of(from_receiver(Ptype::rsp)));
    arrive(data());
    retire(Outcome::finish, 1);
    write_memory(0x1000, 0xa5, write_ok);
    sample();
  }

  void expect_finding(const std::string& text) {
    settle();
    scoreboard_.check_quiet();
    EXPECT_NE(findings_.summary().find(text), std::string::npos) << "\"" << findings_.summary() << "\"";
  }

  /// Nothing but what the golden model still waits for.
  void expect_none() {
    settle();
    EXPECT_EQ(findings_.summary(), "");
  }

  Findings findings_;
  Reporter reporter_{findings_, 0};
  AxiMemory memory_ = make_memory();
  Scoreboard scoreboard_{*find_rdma_build("w128"), reporter_, memory_};
  RdmaPins pins_;
  uint64_t cycle_ = 0;
};

TEST_F(ScoreboardTest, RightCourseOfEventsHasNoFinding) {
  receive_all();
  scoreboard_.left(flits_of(from_receiver(Ptype::done)));
  Header release = header_to_zero(Ptype::release);
  release.cid = cid;
  release.gen = 1;
  arrive(release);
  retire(Outcome::released, 1);
  post();
  retire_sender(TxKind::post, Outcome::submit);
  scoreboard_.left(flits_of(posted_request()));
  refuse();
  scoreboard_.completed({3, formats::Status::bad_region});
  settle();
  scoreboard_.check_quiet();
  EXPECT_EQ(findings_.summary(), "");
  EXPECT_EQ(scoreboard_.events(), 5u);
}

TEST_F(ScoreboardTest, EachWrongFieldOfAReceiverEvent) {
  const std::vector<std::pair<const char*, std::function<void(RxTracePins&)>>> spoils = {
      {"outcome: expected ACCEPT, got ADVANCE",
       [](RxTracePins& rx) { rx.outcome = static_cast<uint8_t>(Outcome::advance); }},
      {"cid: expected", [](RxTracePins& rx) { rx.cid = 6; }},
      {"wbase: expected", [](RxTracePins& rx) { rx.wbase = 1; }},
      {"wvec: expected", [](RxTracePins& rx) { rx.wvec[1] = 1; }},
      {"limit: expected 64, got 63", [](RxTracePins& rx) { rx.limit--; }},
      {"no room for control packets although", [](RxTracePins& rx) { rx.room = false; }},
      {"receiver: time", [](RxTracePins& rx) { rx.now += 2; }},
      {"receiver: time", [](RxTracePins& rx) { rx.now -= 2; }},
      {"which is free or not due", [](RxTracePins& rx) { rx.timeout = true; }},
  };
  for (const auto& each : spoils) {
    SCOPED_TRACE(each.first);
    findings_ = {};
    scoreboard_.reset();
    open();
    Header two_packets = request();
    two_packets.pidx = 300;
    arrive(two_packets);
    retire(Outcome::grant, 0);
    Header second = data();
    second.pidx = 1;
    second.len = 44;
    arrive(second);
    retire(Outcome::accept, 0, [&](RxTracePins& rx) {
      rx.wvec[0] = 1;
      each.second(rx);
    });
    expect_finding(each.first);
  }
}

TEST_F(ScoreboardTest, ContextsThatMayNotBeGiven) {
  receive_all();
  arrive(request());
  retire(Outcome::grant, 0);
  expect_finding("receive context 5 is offered but in use");
}

TEST_F(ScoreboardTest, RefusalAlthoughContextsAreFree) {
  arrive(request());
  retire(Outcome::refuse_no_context, 0, [](RxTracePins& rx) {
    rx.offer_valid = false;
    rx.cid = 0;
  });
  expect_finding("although 1024 are free");
}

TEST_F(ScoreboardTest, EventsWithoutCause) {
  retire(Outcome::drop_crc, 0);
  expect_finding("a packet event, but no packet has come in");
}

TEST_F(ScoreboardTest, PacketsThatNeverLedToAnEvent) {
  arrive(request());
  expect_finding("1 packets that came in never led to an event");
}

TEST_F(ScoreboardTest, EachWrongFieldOfASenderEvent) {
  post();
  retire_sender(TxKind::post, Outcome::submit, [](TxTracePins& tx) { tx.resend_room = false; });
  expect_finding("no room for resends although");
  findings_ = {};
  write(reg::POST, 4);
  retire_sender(TxKind::post, Outcome::submit, [](TxTracePins& tx) { tx.room = false; });
  expect_finding("no room for control packets although");
}

TEST_F(ScoreboardTest, WrongSenderOutcome) {
  post();
  retire_sender(TxKind::post, Outcome::reject_length);
  expect_finding("outcome: expected SUBMIT, got REJECT_LENGTH");
}

TEST_F(ScoreboardTest, PostThatNobodyMade) {
  take_post();
  expect_finding("the sender takes a post that nobody has made");
}

TEST_F(ScoreboardTest, PostOfTheWrongSource) {
  write(reg::POST_BYTES, 40);
  write(reg::POST_NODE, 7);
  write(reg::POST, 3);
  take_post(PostOrigin::queues);
  expect_finding("the sender takes a post that nobody has made");
}

/// One packet of a transfer to a node that the test plays, and memory that answers its read with an error.
class ScoreboardFault : public ScoreboardTest {
 protected:
  void order() {
    post();
    retire_sender(TxKind::post, Outcome::submit);
    scoreboard_.left(flits_of(posted_request()));
    Header grant = header_to_zero(Ptype::rsp);
    grant.sid = sid;
    grant.msgid = 0;
    arrive(grant);
    retire_sender(TxKind::packet, Outcome::granted);
    retire_sender(TxKind::turn, Outcome::send, [](TxTracePins& tx) { tx.next = 1; });
  }

  void read(uint8_t response, uint64_t address = 0) {
    pins_.axi.arvalid = pins_.axi.arready = true;
    pins_.axi.ar = {address, 1, 5, 1};  // 40 bytes are two beats
    sample();
    pins_.axi = {};
    for (const bool last : {false, true}) {
      pins_.axi.rvalid = pins_.axi.rready = true;
      pins_.axi.rlast = last;
      pins_.axi.rresp = last ? resp_okay : response;
      sample();
    }
    pins_.axi = {};
  }

  void retire_fault() {
    retire_sender(TxKind::fault, Outcome::source_failed, [](TxTracePins& tx) { tx.next = 1; });
  }
};

TEST_F(ScoreboardFault, OfAReadThatHasFailedIsRight) {
  order();
  read(resp_slverr);
  retire_fault();
  Header release = header_to_zero(Ptype::release);
  std::swap(release.src, release.dst);
  release.sid = sid;
  release.msgid = 0;
  release.flags = formats::flag_failed;
  scoreboard_.left(flits_of(release));
  scoreboard_.completed({3, formats::Status::source_error});
  settle();
  scoreboard_.check_quiet();
  EXPECT_EQ(findings_.summary(), "");
}

TEST_F(ScoreboardFault, WithoutARead) {
  order();
  retire_fault();
  expect_finding("a fault, but no read of it has failed");
}

TEST_F(ScoreboardFault, OfAReadThatWasAnsweredWell) {
  order();
  read(resp_okay);
  retire_fault();
  expect_finding("a fault, but no read of it has failed");
}

TEST_F(ScoreboardFault, OfAReadOfSomethingElse) {
  order();
  read(resp_slverr, 256);
  retire_fault();
  expect_finding("a fault, but no read of it has failed");
}

TEST_F(ScoreboardFault, OfAReadLongAgo) {
  order();
  read(resp_slverr);
  settle();
  findings_ = {};
  retire_fault();
  expect_finding("a fault, but no read of it has failed");
}

TEST_F(ScoreboardFault, ThatNeverComes) {
  order();
  read(resp_decerr);
  expect_finding("a packet of send context 9 could not be read");
}

TEST_F(ScoreboardFault, PacketThatLeavesAllTheSame) {
  memory_.memory().write(0, std::vector<uint8_t>(40, 0xa5));
  order();
  read(resp_slverr);
  retire_fault();
  Header header = header_to_zero(Ptype::data);
  std::swap(header.src, header.dst);
  header.sid = sid;
  header.msgid = 0;
  header.len = 40;
  header.flags = formats::flag_last;
  scoreboard_.left(flits_of(header));
  expect_finding("DATA packet or its payload");
}

TEST_F(ScoreboardTest, WrongNext) {
  post();
  retire_sender(TxKind::post, Outcome::submit, [](TxTracePins& tx) { tx.next = 1; });
  expect_finding("next: expected 0, got 1");
}

TEST_F(ScoreboardTest, ControlPackets) {
  arrive(request());
  retire(Outcome::grant, 0);
  Header wrong = from_receiver(Ptype::rsp);
  wrong.gen = 2;
  scoreboard_.left(flits_of(wrong));
  expect_finding("control packet of the receiver");
}

TEST_F(ScoreboardTest, PacketThatNeverLeaves) {
  arrive(request());
  retire(Outcome::grant, 0);
  expect_finding("packet never left: RSP");
}

TEST_F(ScoreboardTest, PacketThatNobodyAskedFor) {
  scoreboard_.left(flits_of(posted_request()));
  expect_finding("control packet of the sender");
}

TEST_F(ScoreboardTest, BrokenPacket) {
  auto flits = flits_of(posted_request());
  flits[3] ^= 1;
  scoreboard_.left(flits);
  expect_finding("is invalid (DROP_CRC)");
}

TEST_F(ScoreboardTest, DoneBeforeMemoryHasAnswered) {
  arrive(request());
  retire(Outcome::grant, 0);
  scoreboard_.left(flits_of(from_receiver(Ptype::rsp)));
  arrive(data());
  retire(Outcome::finish, 1);
  scoreboard_.left(flits_of(from_receiver(Ptype::done)));
  sample();
  write_memory(0x1000, 0xa5);
  expect_finding("although memory had answered only 0 of 40 bytes");
}

TEST_F(ScoreboardTest, DoneThatHidesAWriteError) {
  receive_all(false);
  scoreboard_.left(flits_of(from_receiver(Ptype::done)));
  expect_finding("control packet of the receiver");
}

TEST_F(ScoreboardTest, DoneThatTellsAWriteError) {
  receive_all(false);
  scoreboard_.left(flits_of(from_receiver(Ptype::done, formats::flag_failed)));
  expect_none();
}

TEST_F(ScoreboardTest, DoneThatInventsAWriteError) {
  receive_all();
  scoreboard_.left(flits_of(from_receiver(Ptype::done, formats::flag_failed)));
  expect_finding("control packet of the receiver");
}

TEST_F(ScoreboardTest, HostWrites) {
  arrive(request());
  retire(Outcome::grant, 0);
  scoreboard_.left(flits_of(from_receiver(Ptype::rsp)));
  arrive(data());
  retire(Outcome::finish, 1);
  write_memory(0x1000, 0xa4);
  expect_finding("byte at 0x1000");
  findings_ = {};
  write_memory(0x2000, 0xa5);
  expect_finding("that nothing asked for");
}

TEST_F(ScoreboardTest, Completions) {
  post();
  retire_sender(TxKind::post, Outcome::submit);
  scoreboard_.left(flits_of(posted_request()));
  refuse();
  scoreboard_.completed({3, formats::Status::ok});
  expect_finding("completion\n  expected 3:BAD_REGION");
  findings_ = {};
  scoreboard_.completed({3, formats::Status::bad_region});
  expect_finding("that nothing led to");
}

TEST_F(ScoreboardTest, Counters) {
  arrive(request());
  retire(Outcome::grant, 0);
  scoreboard_.check_counter(static_cast<uint32_t>(Outcome::grant), 0);
  EXPECT_NE(findings_.summary().find("register OUTCOME[1] (GRANT)"), std::string::npos);
}

TEST_F(ScoreboardTest, TimerThatIsOverdueOnlySinceTheTimeoutWasShortened) {
  const auto set_timeout = [this](uint32_t ticks) {
    write(reg::RX_TIMEOUT, ticks);
    for (int i = 0; i < 10; ++i) sample();  // until events have seen it
  };
  set_timeout(8000);
  arrive(request());
  retire(Outcome::grant, 0, [](RxTracePins& rx) { rx.limit = 8000; });
  scoreboard_.left(flits_of(from_receiver(Ptype::rsp)));
  for (int i = 0; i < 20'000; ++i) sample();
  set_timeout(4);
  Header stray = data();
  stray.cid = cid + 1;
  arrive(stray);
  retire(Outcome::drop_unknown_cid, 0, [](RxTracePins& rx) {
    rx.limit = 4;
    rx.cid = cid + 1;
  });
  for (int i = 0; i < 5000; ++i) sample();
  EXPECT_EQ(findings_.summary(), "") << "it may not have been looked at since";
  for (int i = 0; i < 6000; ++i) sample();
  EXPECT_NE(findings_.summary().find("receiver: a timer is"), std::string::npos) << findings_.summary();
}

TEST_F(ScoreboardTest, TimerThatNeverEnds) {
  arrive(request());
  retire(Outcome::grant, 0);
  scoreboard_.left(flits_of(from_receiver(Ptype::rsp)));
  for (int i = 0; i < 30'000; ++i) sample();
  EXPECT_NE(findings_.summary().find("receiver: a timer is"), std::string::npos) << findings_.summary();
}

}  // namespace
}  // namespace weft::tb
