// SPDX-License-Identifier: Apache-2.0
// rdma_receiver at its ports: what waits for what, contexts that come back, reset.
#include <algorithm>
#include <vector>

#include "small_receiver.hpp"

namespace weft::rtl_test {
namespace {

class RdmaReceiverControl : public ReceiverTest {
 protected:
  /// So many control packets wait, and a few clocks have passed.
  void fill_control(unsigned count) {
    out_.ctl_ready = false;
    Header refused = transfer(1);
    refused.pidx = 0;
    for (unsigned n = 0; n < count; ++n) give(refused);
    receiver_.clocks(settled);
    ASSERT_EQ(out_.controls_waiting(), count);
  }

  /// One request a clock, each taken at once.
  void request_each_clock(unsigned count) {
    for (unsigned n = 0; n < count; ++n) receiver_.give({another(1)}, 1);
  }

  /// Context 0 has all of its `packets`: DONE waits behind the RSP that left.
  void finish(uint32_t packets) {
    grant(1, packets);
    for (uint32_t pidx = 0; pidx < packets; ++pidx) give(data(0, pidx));
    receiver_.clocks(settled);
    ASSERT_EQ(receiver_.outcomes[Outcome::finish], 1u);
    ASSERT_EQ(out_.writes_decided(), packets);
  }

  bool done_left() const { return std::ranges::count(out_.controls, Ptype::done) > 0; }
};

// What waits

TEST_F(RdmaReceiverControl, RequestsAtTheLimitOfRoomFillTheQueueToItsLastPlace) {
  fill_control(ReceiverQueues::control_full - 1);
  request_each_clock(12);
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::grant], rx_contexts);
  EXPECT_EQ(receiver_.outcomes[Outcome::refuse_no_context], 2u);
  EXPECT_EQ(receiver_.outcomes[Outcome::drop_busy], 2u) << "all but those that are under way once 22 wait";
  EXPECT_EQ(out_.controls_waiting(), ReceiverQueues::depth);
  EXPECT_EQ(receiver_.dropped, 0u) << "a request that is not taken up is no lost control packet";
  out_.ctl_ready = true;
  receiver_.clocks(ReceiverQueues::depth + 4);
  EXPECT_EQ(out_.controls.size(), ReceiverQueues::depth);
  give(release(0));
  receiver_.clocks(settled);
  grant(1, 1);
}

TEST_F(RdmaReceiverControl, OtherPacketsTakeNoPlaceThatWasPromisedToARequest) {
  rdma::Config paper = config();
  paper.weft_mode = false;
  receiver_.reset(paper);
  grant(1, 100);
  fill_control(ReceiverQueues::control_full - 1);
  for (unsigned n = 0; n < 16; ++n) receiver_.give({n % 2 == 0 ? another(1) : data(0, 50)}, 1);
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::drop_window], 8u);
  EXPECT_EQ(receiver_.dropped, 3u) << "10 of 16 have room";
  EXPECT_EQ(receiver_.outcomes[Outcome::drop_busy], 3u);
  EXPECT_EQ(out_.controls_waiting(), ReceiverQueues::depth);
}

TEST_F(RdmaReceiverControl, RequestIsDroppedWhenTheQueueIsFull) {
  fill_control(ReceiverQueues::control_full);
  request_each_clock(5);
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::drop_busy], 5u);
  EXPECT_EQ(free_contexts(), rx_contexts);
  out_.ctl_ready = true;
  receiver_.clock();
  out_.ctl_ready = false;
  receiver_.clock();
  give(another(1));
  receiver_.clocks(settled);
  EXPECT_EQ(receiver_.outcomes[Outcome::grant], 1u);
}

TEST_F(RdmaReceiverControl, WaitingCommandsStopPacketsAndLoseNothing) {
  grant(1, 200);
  out_.cmd_ready = false;
  const unsigned before = receiver_.taken;
  uint32_t pidx = 0;
  for (unsigned n = 0; n < 100; ++n) {
    if (!receiver_.packet) receiver_.packet = {data(0, pidx++)};
    receiver_.clock();
  }
  EXPECT_EQ(receiver_.taken - before, ReceiverQueues::depth) << "every place is of use";
  receiver_.packet = {another(1)};
  receiver_.clocks(settled);
  EXPECT_TRUE(receiver_.packet) << "other packets wait, too";
  receiver_.packet.reset();
  out_.cmd_ready = true;
  receiver_.clocks(2 * ReceiverQueues::depth);
  EXPECT_EQ(out_.commands, ReceiverQueues::depth);
  EXPECT_EQ(out_.writes, ReceiverQueues::depth);
  expect_idle();
}

TEST_F(RdmaReceiverControl, DoneWaitsForTheLastWriteBeforeItAndAllElseForDone) {
  finish(5);
  give(another(1));
  for (int64_t answered = 0; answered < 5; ++answered) {
    out_.answered = answered;
    receiver_.clocks(20);
    EXPECT_FALSE(done_left()) << answered << " of 5 writes are answered";
    EXPECT_FALSE(bench_->idle_o);
  }
  EXPECT_EQ(out_.controls, (std::vector{Ptype::rsp, Ptype::ack}));
  out_.answered = 5;
  receiver_.clocks(3);
  EXPECT_EQ(out_.controls, (std::vector{Ptype::rsp, Ptype::ack, Ptype::done, Ptype::rsp}));
  expect_idle();
}

// Both counts wrap, and only their difference matters. The one inside starts at 0 with each reset, and no
// test needs so many writes; but the one at the port can be anywhere, so that all differences can be had.
TEST_F(RdmaReceiverControl, DoneIsFreeFromExactlyAsManyWritesToHalfTheRangeAhead) {
  const int64_t half = int64_t{1} << 15;
  for (const int64_t ahead : {int64_t{0}, int64_t{1}, half - 2, half - 1}) {
    receiver_.reset(config());
    receiver_.outcomes.clear();
    out_.answered = -1;
    finish(3);
    EXPECT_FALSE(done_left());
    out_.answered = 3 + ahead;
    receiver_.clocks(2);
    EXPECT_TRUE(done_left()) << ahead << " writes ahead";
  }
}

TEST_F(RdmaReceiverControl, DoneWaitsFromHalfTheRangeBehindThroughTheWrapOfTheCount) {
  const int64_t half = int64_t{1} << 15;
  out_.answered = 3 - half;
  finish(3);
  for (const int64_t behind :
       {half, half - 1, half / 2, int64_t{6}, int64_t{5}, int64_t{4}, int64_t{3}, int64_t{2}, int64_t{1}}) {
    out_.answered = 3 - behind;  // negative: before the port's wrap from 2^16 - 1 to 0
    receiver_.clocks(settled);
    EXPECT_FALSE(done_left()) << behind << " writes behind";
  }
  out_.answered = 3;
  receiver_.clocks(2);
  EXPECT_TRUE(done_left());
}

TEST_F(RdmaReceiverControl, RepeatedDoneWaitsForTheWritesOfAllContexts) {
  finish(1);
  out_.answered = 1;
  grant(1, 9);
  EXPECT_TRUE(done_left());
  give(data(1, 0));
  receiver_.clocks(settled);
  out_.controls.clear();
  receiver_.now = config().rx_timeout;
  receiver_.clocks(50);
  EXPECT_FALSE(done_left()) << "a write of the other context is not answered";
  out_.answered = 2;
  receiver_.clocks(settled);
  EXPECT_TRUE(done_left());
}

// Contexts

TEST_F(RdmaReceiverControl, ContextsComeBackWithTheNextGeneration) {
  for (unsigned round = 1; round <= 300; ++round) {
    grant(rx_contexts, 2);
    give(another(2));
    receiver_.clocks(settled);
    ASSERT_EQ(receiver_.outcomes[Outcome::refuse_no_context], round);
    for (uint16_t cid = 0; cid < rx_contexts; ++cid) {
      ASSERT_EQ(context(cid).gen, round % 256);
      give(release(cid));
    }
    receiver_.clocks(settled);
    ASSERT_EQ(free_contexts(), rx_contexts);
    expect_idle();
  }
}

TEST_F(RdmaReceiverControl, RequestRightBehindAReleaseFindsTheContextAfterAFewClocks) {
  grant(rx_contexts, 1);
  unsigned refused = 0;
  for (unsigned distance = 1; distance < 20; ++distance) {
    give(release(3));
    receiver_.clocks(distance - 1);
    give(another(1));
    receiver_.clocks(settled);
    if (free_contexts() == 0) continue;
    EXPECT_EQ(++refused, distance) << "granted before";
    grant(1, 1);
  }
  EXPECT_EQ(refused, ReceiverLockstep::room_age + 1)
      << "to its retirement, and two clocks through the free list";
}

// The packet names what the grant is about to write: seen by whom the context is read before, while and
// after. Fields with all bits the other way round come in turn, as their own context was before.
TEST_F(RdmaReceiverControl, PacketsReachAContextThatIsBeingGranted) {
  for (unsigned distance = 1; distance <= ReceiverLockstep::latency + 2; ++distance) {
    receiver_.reset(config());
    receiver_.outcomes.clear();
    for (unsigned round = 0; round < 4; ++round) {
      Header request = transfer(3);
      const bool inverted = round % 2 == 1;
      request.src = inverted ? 0xa : 0x5;
      request.sid = inverted ? 0x2 : 0x5;
      request.msgid = inverted ? 0x2a : 0x15;
      request.pidx += round;
      request.gen = inverted ? 1 : 0;
      request.cid = inverted ? test_key : 0;
      request.arg = inverted ? 0x5540 : 0xaa80;
      RxContext granted;
      granted.gen = static_cast<uint8_t>(round + 1);
      granted.src = request.src;
      granted.sid = request.sid;
      granted.msgid = request.msgid;
      granted.region = request.gen;
      granted.cut = *rdma::cut(request.pidx, receiver_params());
      receiver_.give({request}, 1);
      if (distance > 1) receiver_.clocks(distance - 1);
      for (const uint32_t pidx : {2u, 0u}) receiver_.give({fitting_data(granted, 0, pidx)}, 1);
      receiver_.give({fitting_header(granted, 0, Ptype::release)}, 1);
      receiver_.clocks(settled);
      ASSERT_EQ(receiver_.outcomes[Outcome::grant], round + 1) << distance;
      ASSERT_EQ(receiver_.outcomes[Outcome::accept], round + 1) << distance;
      ASSERT_EQ(receiver_.outcomes[Outcome::advance], round + 1) << distance;
      ASSERT_EQ(receiver_.outcomes[Outcome::released], round + 1) << distance;
      for (uint16_t other = 1; other < rx_contexts;
           ++other) {  // so that the next grant is of context 0 again
        grant(1, 1);
        give(release(other));
        receiver_.clocks(settled);
      }
      receiver_.outcomes[Outcome::grant] = receiver_.outcomes[Outcome::released] = round + 1;
    }
  }
}

TEST_F(RdmaReceiverControl, ReadyOnceTheLastContextIsInTheFreeList) {
  receiver_.reset(config());
  EXPECT_EQ(receiver_.clearing, rx_contexts + 1);
}

TEST_F(RdmaReceiverControl, ResetForgetsAll) {
  for (unsigned after = 0; after < 30; ++after) {
    grant(2, 200);
    out_.cmd_ready = out_.ctl_ready = false;
    receiver_.now = static_cast<uint16_t>(receiver_.now + config().rx_timeout);
    give(another(1));
    for (uint32_t pidx = 0; pidx < 5; ++pidx) give(data(1, pidx));
    receiver_.clocks(after);
    receiver_.reset(config());
    if (HasFatalFailure()) return;
    receiver_.clocks(50);
    expect_idle();
    finish(2);
    EXPECT_EQ(context(0).gen, 1);
    out_.answered = 2;
    receiver_.clocks(2);
    EXPECT_TRUE(done_left()) << "writes are counted from reset";
    receiver_.reset(config());
    receiver_.outcomes.clear();
  }
}

}  // namespace
}  // namespace weft::rtl_test
