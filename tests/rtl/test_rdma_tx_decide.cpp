// SPDX-License-Identifier: Apache-2.0
// rdma_tx_decide: each rule of docs/rdma.md and docs/rdma_transfers.md, Sender, by an example, and all of
// them under random events against contexts at their edges, where a comparison that is off by one or leaves
// out a bit shows.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "rdma_tx_events.hpp"
#include "rdma_tx_rules.hpp"

namespace weft::rtl_test {
namespace {

using rdma::TxContext;
using rdma::formats::flag_failed;
using rdma::formats::flag_from;
using rdma::formats::flag_order;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using rdma::formats::Refusal;
using rdma::formats::Status;
using rdma::formats::TransferFlag;
using State = TxContext::State;
using To = rdma::Post::To;

std::string describe(const TxEvent& e) {
  std::ostringstream text;
  text << "event kind " << static_cast<int>(e.kind) << ", packet type " << int{e.header.ptype} << ", sid "
       << e.header.sid << ", pidx " << e.header.pidx << ", arg " << e.header.arg << ", flags "
       << int{e.header.flags} << "; to " << static_cast<int>(e.context.to) << "; post " << e.post.src_addr
       << " -> " << e.post.dst_addr << ", " << e.post.bytes << " bytes, node " << e.post.node
       << "; context state " << static_cast<int>(e.context.state) << ", last " << e.context.cut.last
       << ", next " << e.context.next << ", high " << e.context.high << ", retries " << int{e.context.retries}
       << " of " << int{e.max_retry} << ", turn " << e.context.turn;
  return text.str();
}

class RdmaTxDecide : public testing::TestWithParam<unsigned> {
 protected:
  /// Compares with the rules, and returns the decision.
  TxDecision decide(const TxEvent& event) {
    const TxDecision expected = TxRules(params_, event).decide();
    const TxDecision actual = bench_.decide(event);
    compare(actual, expected, describe(event));
    return actual;
  }

  static void compare(const TxDecision& actual, const TxDecision& expected, const std::string& event) {
    ASSERT_EQ(name(actual.outcome), name(expected.outcome)) << event;
    ASSERT_EQ(actual.context_known, expected.context_known) << event;
    ASSERT_EQ(actual.context.next, expected.context.next) << event;
    ASSERT_EQ(actual.context.high, expected.context.high) << event;
    ASSERT_EQ(actual.context.turn, expected.context.turn) << event;
    ASSERT_TRUE(actual.context == expected.context) << event;
    ASSERT_EQ(actual.control.has_value(), expected.control.has_value()) << event;
    ASSERT_TRUE(actual.control == expected.control) << event;
    ASSERT_EQ(actual.data.has_value(), expected.data.has_value()) << event;
    ASSERT_TRUE(actual.data == expected.data) << event;
    ASSERT_TRUE(actual.completion == expected.completion) << event;
    ASSERT_EQ(actual.origin, expected.origin) << event;
    ASSERT_EQ(actual.doublings, expected.doublings) << event;
    ASSERT_EQ(actual.queue_turn, expected.queue_turn) << event;
    ASSERT_EQ(actual.timer, expected.timer) << event;
    ASSERT_EQ(actual.freed, expected.freed) << event;
  }

  /// A transfer of ten packets, six of them sent, and a packet that fits it.
  TxEvent event(State state, Ptype type) const {
    TxEvent event;
    event.node_id = 3;
    event.max_retry = 4;
    event.context.state = state;
    event.context.dst = 5;
    event.context.cid = 2;
    event.context.gen = 200;
    event.context.msgid = 17;
    event.context.tag = 0xcafe;
    event.context.src_addr = 2 * params_.payload;
    event.context.dst_addr = 4 * params_.payload;
    event.context.cut = {9, 33};
    event.context.retries = 2;
    if (state == State::active) event.context.next = event.context.high = 6;
    event.header = fitting_header(event.context, type);
    event.header.sid = 6;
    return event;
  }

  TxEvent timeout(State state) const {
    TxEvent timeout = event(state, Ptype::rsp);
    timeout.kind = TxKind::timeout;
    return timeout;
  }

  TxEvent fault(State state) const {
    TxEvent fault = event(state, Ptype::rsp);
    fault.kind = TxKind::fault;
    fault.header.src = fault.header.cid = fault.header.gen = 0;  // there is no packet
    return fault;
  }

  TxEvent turn(State state) const {
    TxEvent turn = event(state, Ptype::rsp);
    turn.kind = TxKind::turn;
    turn.context.turn = true;
    return turn;
  }

  TxEvent post() const {
    TxEvent post = event(State::free, Ptype::rsp);
    post.kind = TxKind::post;
    post.msgid = 21;
    post.post = {params_.payload, 2 * params_.payload, 5 * params_.payload + 1, 9, 77};
    return post;
  }

  Status rejected(const rdma::Post& nonsense) {
    TxEvent event = post();
    event.post = nonsense;
    const TxDecision decision = decide(event);
    EXPECT_FALSE(decision.control);
    EXPECT_TRUE(decision.context == event.context);
    return decision.completion ? decision.completion->status : Status::ok;
  }

  const rdma::Params params_ = tx_decide_params(GetParam());
  TxDecideBench bench_{GetParam()};
};

TEST_P(RdmaTxDecide, PostTakesAContextAndKeepsItsTurn) {
  for (const bool turn : {false, true}) {
    TxEvent event = post();
    event.context.turn = turn;
    const TxDecision decision = decide(event);
    EXPECT_EQ(decision.outcome, Outcome::submit);
    EXPECT_EQ(decision.context.cut, (rdma::Cut{5, 1}));
    EXPECT_EQ(decision.context.turn, turn);
    EXPECT_EQ(decision.control->pidx, event.post.bytes);
    EXPECT_EQ(decision.control->msgid, 21u);
  }
}

TEST_P(RdmaTxDecide, NonsenseIsRejectedInTheOrderOfTheRules) {
  const rdma::Post good = post().post;
  const auto nodes = uint32_t{1} << params_.node_bits;
  const uint64_t end = uint64_t{1} << params_.addr_bits;
  EXPECT_EQ(rejected({1, end, 0, nodes, 1}), Status::bad_node);
  EXPECT_EQ(rejected({1, end, 0, nodes - 1, 1}), Status::bad_length);
  EXPECT_EQ(rejected({1, end, 1, 0, 1}), Status::misaligned);
  EXPECT_EQ(rejected({good.src_addr, end, 1, 0, 1}), Status::bad_address);
  EXPECT_EQ(rejected({end - params_.payload, 0, params_.payload + 1, 0, 1}), Status::bad_address);
  EXPECT_EQ(rejected({0 - good.src_addr, 0, params_.payload, 0, 1}), Status::bad_address)
      << "address + bytes is 2^64";
}

TEST_P(RdmaTxDecide, ResponseOpensPutsOffOrRefuses) {
  TxEvent rsp = event(State::requested, Ptype::rsp);
  EXPECT_EQ(decide(rsp).outcome, Outcome::granted);
  EXPECT_EQ(decide(rsp).context.retries, 0);
  rsp.header.arg = static_cast<uint64_t>(Refusal::no_context);
  EXPECT_EQ(decide(rsp).context.retries, 0);
  rsp.header.arg = static_cast<uint64_t>(Refusal::misaligned);
  EXPECT_EQ(decide(rsp).completion->status, Status::misaligned);
  rsp.header.arg = uint64_t{1} << 63;
  EXPECT_EQ(decide(rsp).completion->status, Status::bad_region) << "an undefined code";
}

// docs/rdma_transfers.md

TEST_P(RdmaTxDecide, RequestHasTheFlagOfWhatItGoesTo) {
  const auto flag = [](TransferFlag flag) { return static_cast<uint8_t>(flag); };
  const auto flags = [this](To to, std::optional<uint32_t> imm) {
    TxEvent event = post();
    event.post.to = to;
    event.post.imm = imm;
    TxEvent again = timeout(State::requested);
    again.context.to = to;
    again.context.imm = imm;
    const uint8_t seen = decide(event).control->flags;
    EXPECT_EQ(decide(again).control->flags, seen);
    return seen;
  };
  EXPECT_EQ(flags(To::region, {}), 0);
  EXPECT_EQ(flags(To::region, 0), flag(TransferFlag::imm));
  EXPECT_EQ(flags(To::queue, {}), flag(TransferFlag::send));
  EXPECT_EQ(flags(To::queue, 7), flag(TransferFlag::send)) << "which only its DATA show";
  EXPECT_EQ(flags(To::ticket, {}), flag(TransferFlag::read));
}

TEST_P(RdmaTxDecide, OnlyARegionHasAnAddress) {
  TxEvent event = post();
  event.post.dst_addr = 1;
  EXPECT_EQ(decide(event).outcome, Outcome::reject_align);
  event.post.to = To::ticket;
  event.origin = Origin::answers;
  EXPECT_EQ(decide(event).outcome, Outcome::submit);
  event.post.src_addr = 1;
  EXPECT_EQ(decide(event).outcome, Outcome::reject_align);
}

TEST_P(RdmaTxDecide, GrantBringsAKeyExactlyIfOneIsNeeded) {
  for (const To to : {To::region, To::queue, To::ticket}) {
    TxEvent rsp = event(State::requested, Ptype::rsp);
    rsp.context.to = to;
    rsp.header.arg = uint64_t{0xffabcdef} << 32;
    rsp.header.flags = static_cast<uint8_t>(TransferFlag::send);
    const TxDecision with_key = decide(rsp);
    EXPECT_EQ(with_key.outcome, to == To::region ? Outcome::stale : Outcome::granted);
    EXPECT_EQ(with_key.context.rkey, to == To::region ? 0u : 0xabcdefu);
    rsp.header.arg = 0;
    rsp.header.flags = 0;
    const TxDecision without = decide(rsp);
    EXPECT_EQ(without.outcome, to == To::region ? Outcome::granted : Outcome::stale);
    EXPECT_EQ(without.control.has_value(), to != To::region) << "the context there is released";
  }
}

TEST_P(RdmaTxDecide, NotReadyAndTooLongAreUnknownToPlainWrites) {
  TxEvent rsp = event(State::requested, Ptype::rsp);
  rsp.context.busy = rsp.max_busy = 3;
  const auto status = [&](Refusal code) {
    rsp.header.arg = static_cast<uint64_t>(code);
    return decide(rsp).completion->status;
  };
  EXPECT_EQ(status(Refusal::not_ready), Status::bad_region);
  EXPECT_EQ(status(Refusal::too_long), Status::bad_region);
  rsp.context.imm = 0;
  EXPECT_EQ(status(Refusal::not_ready), Status::not_ready);
  EXPECT_EQ(status(Refusal::too_long), Status::too_long);
  EXPECT_EQ(status(Refusal::no_context), Status::remote_busy);
  EXPECT_EQ(status(Refusal::not_wanted), Status::bad_region);
  rsp.max_busy = 4;
  rsp.header.arg = static_cast<uint64_t>(Refusal::not_ready);
  EXPECT_EQ(decide(rsp).outcome, Outcome::backoff);
}

TEST_P(RdmaTxDecide, ResendAndAckCannotBringAKey) {
  for (const Ptype type : {Ptype::resend, Ptype::ack}) {
    TxEvent early = event(State::requested, type);
    early.context.to = To::queue;
    const TxDecision decision = decide(early);
    EXPECT_EQ(decision.outcome, Outcome::drop_no_key);
    EXPECT_FALSE(decision.control) << "the RSP may come yet";
    EXPECT_EQ(decision.timer, TimerAction::none);
    EXPECT_TRUE(decision.context == early.context);
  }
}

// Nothing has been sent yet: who says that a packet has come holds a context of an older transfer.
TEST_P(RdmaTxDecide, AContextThatHasGotAPacketIsNotThatOfARequest) {
  struct Says {
    Ptype type;
    uint32_t pidx;
    uint64_t map;
  };
  for (const To to : {To::region, To::queue}) {
    for (const Says& says :
         {Says{Ptype::resend, 1, 0}, Says{Ptype::resend, 1u << 31, 0}, Says{Ptype::ack, 1, 1},
          Says{Ptype::ack, 0, 3}, Says{Ptype::ack, 0, uint64_t{1} << 55}}) {
      TxEvent older = event(State::requested, says.type);
      older.context.to = to;
      older.header.pidx = says.pidx;
      older.header.arg = (older.header.arg >> 56 << 56) | says.map;
      const TxDecision decision = decide(older);
      EXPECT_EQ(decision.outcome, Outcome::stale);
      ASSERT_TRUE(decision.control);
      EXPECT_EQ(decision.control->ptype, static_cast<uint8_t>(Ptype::release));
      EXPECT_EQ(decision.control->gen, older.header.gen);
      EXPECT_TRUE(decision.context == older.context);
    }
  }
}

TEST_P(RdmaTxDecide, EveryDataPacketShowsTheImmediate) {
  TxEvent event = turn(State::active);
  event.context.imm = 0x89abcdef;
  event.context.rkey = 0x123456;
  EXPECT_EQ(decide(event).data->header.arg, 0x89abcdef'00123456u);
  TxEvent resend = this->event(State::active, Ptype::resend);
  resend.context.imm = 0;
  EXPECT_EQ(decide(resend).data->header.flags & static_cast<uint8_t>(TransferFlag::imm),
            static_cast<uint8_t>(TransferFlag::imm));
}

TEST_P(RdmaTxDecide, LateResponseIsRepeatedOrStale) {
  TxEvent rsp = event(State::active, Ptype::rsp);
  EXPECT_EQ(decide(rsp).outcome, Outcome::drop_repeated_rsp);
  rsp.header.gen += 1;
  EXPECT_EQ(decide(rsp).control->gen, rsp.header.gen) << "the surplus context is released";
  rsp.header.arg = 1;
  EXPECT_EQ(decide(rsp).outcome, Outcome::drop_repeated_rsp);
  rsp.header.msgid ^= 1;
  EXPECT_FALSE(decide(rsp).control) << "there is nothing to release";
}

TEST_P(RdmaTxDecide, ResendStandsForALostResponse) {
  TxEvent resend = event(State::requested, Ptype::resend);
  resend.header.cid = 7;
  resend.header.arg = 3;  // not looked at
  EXPECT_EQ(decide(resend).outcome, Outcome::granted);
  EXPECT_EQ(decide(resend).context.cid, 7);
}

TEST_P(RdmaTxDecide, ResendOfOnePacketOrAllFromIt) {
  TxEvent resend = event(State::active, Ptype::resend);
  resend.header.pidx = 5;
  EXPECT_EQ(decide(resend).data->header.pidx, 5u);
  resend.resend_room = false;
  EXPECT_EQ(decide(resend).timer, TimerAction::none) << "DROP_FULL";
  resend.header.flags = flag_from;
  EXPECT_EQ(decide(resend).context.next, 5u) << "needs no room in the resend queue";
  resend.header.pidx = 7;
  EXPECT_EQ(decide(resend).outcome, Outcome::drop_not_yet);
  resend.header.flags = 0;
  resend.header.pidx = 6;
  EXPECT_EQ(decide(resend).outcome, Outcome::drop_not_yet);
  EXPECT_TRUE(decide(resend).context.heard);
}

TEST_P(RdmaTxDecide, ResendFromLeavesTheWindow) {
  TxEvent resend = event(State::active, Ptype::resend);
  resend.context.span = 2;
  resend.context.second = resend.context.hole = true;
  resend.context.acked = 1;
  resend.header.pidx = 6;
  resend.header.flags = flag_from;
  const TxDecision decision = decide(resend);
  EXPECT_EQ(decision.outcome, Outcome::resend_from) << "packet 6 is beyond 1 + 4";
  EXPECT_EQ(decision.context.span, 0);
  EXPECT_FALSE(decision.context.second || decision.context.hole);
  EXPECT_EQ(decision.context.next, 6u);
  EXPECT_TRUE(decision.queue_turn);
  EXPECT_TRUE(decision.context.heard);
  EXPECT_EQ(decision.timer, TimerAction::none);
}

TEST_P(RdmaTxDecide, AckBringsAWindowAndGoesBackToItsBase) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.acked = 2;
  ack.header.pidx = 3;
  EXPECT_EQ(decide(ack).context.next, 6u) << "it tells no window";
  ack.header.arg = uint64_t{0x2} << rdma::ack_map_bits;
  EXPECT_EQ(decide(ack).context.span, 2);
  EXPECT_EQ(decide(ack).context.next, 3u);
  EXPECT_TRUE(decide(ack).queue_turn);
  ack.context.span = 3;
  EXPECT_EQ(decide(ack).context.span, 3);
  EXPECT_EQ(decide(ack).context.next, 6u) << "it knew the window";
  ack.context.span = 0;
  ack.context.cut.last = 5;
  ack.header.pidx = 6;
  EXPECT_FALSE(decide(ack).queue_turn) << "there is no packet 6";
}

TEST_P(RdmaTxDecide, OnlyProgressRestartsTheTimerAndRepeatsAreNotedWithoutAWindow) {
  const auto lives_on = [&](TxEvent event) {
    event.context.busy = 3;
    const bool from = event.header.flags & flag_from;
    const auto restarts = [&] {
      const TxDecision decision = decide(event);
      EXPECT_NE(decision.timer, TimerAction::stop);
      const bool restarted = decision.timer == TimerAction::dead;
      EXPECT_EQ(decision.context.retries, restarted ? 0 : 2);
      EXPECT_EQ(decision.context.busy, 3) << "of the whole transfer";
      EXPECT_EQ(decision.context.heard, !restarted && (event.context.span == 0 || from));
      return restarted;
    };
    const bool with_window = restarts();
    event.context.span = 0;
    EXPECT_EQ(restarts(), with_window);
    return with_window;
  };
  const auto packet = [&](Ptype type, uint32_t pidx, uint8_t flags = 0) {
    TxEvent packet = event(State::active, type);
    packet.context.span = 3;
    packet.context.acked = 4;
    packet.header.pidx = pidx;
    packet.header.flags = flags;
    return packet;
  };
  EXPECT_TRUE(lives_on(packet(Ptype::ack, 5)));
  EXPECT_FALSE(lives_on(packet(Ptype::ack, 4)));
  EXPECT_FALSE(lives_on(packet(Ptype::resend, 5, flag_from)));
  EXPECT_FALSE(lives_on(packet(Ptype::resend, 5)));
  EXPECT_FALSE(lives_on(packet(Ptype::resend, 6))) << "DROP_NOT_YET";
  TxEvent send = turn(State::active);
  send.context.span = 3;
  EXPECT_TRUE(lives_on(send));
  send.context.next = 5;
  EXPECT_FALSE(lives_on(send)) << "sent before";
  send.context.next = 6;
  send.context.asked = 1;
  EXPECT_FALSE(lives_on(send)) << "SEND_AGAIN";
}

TEST_P(RdmaTxDecide, AckMovesTheWindowOnAndAsks) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.span = 1;
  ack.context.acked = 3;
  ack.header.pidx = 3;
  EXPECT_FALSE(decide(ack).queue_turn) << "packet 6 is beyond 3 + 2";
  ack.header.pidx = 4;
  EXPECT_TRUE(decide(ack).queue_turn) << "packet 6 is in the window";
  ack.header.arg = 0xff;
  EXPECT_EQ(decide(ack).context.asked, 3u) << "packets 4 and 5; the others were never sent";
  ack.header.pidx = 7;
  EXPECT_EQ(decide(ack).outcome, Outcome::drop_old_ack) << "beyond what was sent";
  ack.header.pidx = 2;
  EXPECT_EQ(decide(ack).outcome, Outcome::drop_old_ack);
  ack = event(State::requested, Ptype::ack);
  ack.header.arg = uint64_t{7} << 56;
  EXPECT_EQ(decide(ack).context.span, 7) << "stands for a lost RSP";
}

TEST_P(RdmaTxDecide, ResendOpensASecondWindow) {
  TxEvent resend = event(State::active, Ptype::resend);
  resend.header.flags = 0;
  resend.context.span = 2;
  resend.context.acked = 1;
  for (const uint32_t pidx : {1u, 2u, 5u}) {
    resend.header.pidx = pidx;
    const TxDecision decision = decide(resend);
    EXPECT_EQ(decision.outcome, Outcome::resend_one);
    EXPECT_TRUE(decision.context.second);
    EXPECT_EQ(decision.context.next, 6u) << "the first one behind 1 + 4";
    EXPECT_TRUE(decision.queue_turn);
    EXPECT_EQ(decision.timer, TimerAction::none);
    resend.context.turn = true;
    EXPECT_FALSE(decide(resend).queue_turn) << "has one";
    resend.context.turn = false;
  }
  TxEvent other = resend;
  other.header.pidx = 0;
  EXPECT_FALSE(decide(other).context.second || decide(other).queue_turn) << "has come long ago";
  other = resend;
  other.resend_room = false;
  EXPECT_FALSE(decide(other).context.second || decide(other).queue_turn);
  other = resend;
  other.context.span = 0;
  EXPECT_FALSE(decide(other).context.second || decide(other).queue_turn) << "there is no window";
  other = resend;
  other.context.cut.last = 5;
  EXPECT_TRUE(decide(other).context.second);
  EXPECT_FALSE(decide(other).queue_turn) << "there is no packet 6";
}

TEST_P(RdmaTxDecide, BehindARepeatFollowsWhatCameTooEarly) {
  TxEvent resend = event(State::active, Ptype::resend);
  resend.header.flags = 0;
  resend.context.span = 1;
  resend.context.acked = 1;
  resend.context.second = true;
  resend.header.pidx = 1;
  EXPECT_EQ(decide(resend).context.next, 4u) << "packets up to 1 + 2 are in the window";
  EXPECT_EQ(decide(resend).context.high, 6u);
  EXPECT_TRUE(decide(resend).queue_turn) << "4 is within 1 + 4";
  resend.header.pidx = 2;
  EXPECT_EQ(decide(resend).context.next, 5u);
  EXPECT_TRUE(decide(resend).queue_turn);
  resend.header.pidx = 3;
  EXPECT_EQ(decide(resend).context.next, 6u);
  EXPECT_FALSE(decide(resend).queue_turn) << "6 is beyond 1 + 4";
  resend.context.high = resend.context.next = 8;
  EXPECT_EQ(decide(resend).context.next, 6u);
  EXPECT_FALSE(decide(resend).queue_turn) << "likewise";
}

TEST_P(RdmaTxDecide, SecondWindowIsAsLongAsTheFirst) {
  TxEvent event = turn(State::active);
  event.context.span = 1;
  event.context.acked = 2;
  EXPECT_EQ(decide(event).outcome, Outcome::lapse) << "packet 6 is beyond 2 + 2";
  event.context.second = true;
  EXPECT_EQ(decide(event).outcome, Outcome::send);
  EXPECT_FALSE(decide(event).queue_turn) << "packet 7 is beyond 2 + 2 * 2";
  event.context.acked = 3;
  EXPECT_TRUE(decide(event).queue_turn);
  EXPECT_TRUE(decide(event).context.second);
  event.context.acked = 1;
  EXPECT_EQ(decide(event).outcome, Outcome::lapse);
}

TEST_P(RdmaTxDecide, MapClosesTheSecondWindowAndItsPacketsCountAsNotSent) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.span = 1;
  ack.context.acked = ack.header.pidx = 1;
  ack.context.second = true;
  EXPECT_TRUE(decide(ack).context.second) << "it tells nothing that is missing";
  EXPECT_EQ(decide(ack).context.next, 6u);
  ack.header.arg = 1;
  EXPECT_FALSE(decide(ack).context.second);
  EXPECT_EQ(decide(ack).context.next, 4u) << "packets up to 1 + 2 were in the window";
  EXPECT_EQ(decide(ack).context.high, 6u);
  EXPECT_EQ(decide(ack).context.asked, 1u);
  ack.header.pidx = 3;
  EXPECT_FALSE(decide(ack).context.second);
  EXPECT_EQ(decide(ack).context.next, 6u) << "that is 3 + 2 + 1";
  ack.header.pidx = 6;  // all is there, and what was never sent is asked for
  EXPECT_FALSE(decide(ack).context.second);
  EXPECT_EQ(decide(ack).context.next, 6u);
  ack.header.pidx = 1;
  ack.context.second = false;
  EXPECT_EQ(decide(ack).context.next, 4u) << "sent when there was a second one";
}

TEST_P(RdmaTxDecide, AckFromTakesAllBackThatWasSent) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.span = 2;
  ack.context.acked = 1;
  ack.header.pidx = 2;
  ack.header.flags = flag_from;
  EXPECT_EQ(decide(ack).context.next, 6u) << "nothing is asked for";
  ack.header.arg = 1;
  EXPECT_EQ(decide(ack).context.next, 3u);
  EXPECT_EQ(decide(ack).context.high, 6u);
  EXPECT_EQ(decide(ack).context.span, 2);
  EXPECT_EQ(decide(ack).context.asked, 1u);
  ack.context.next = 5;
  EXPECT_EQ(decide(ack).context.next, 5u) << "is within 1 + 4, so it is about to be sent again";
  ack.context.next = 6;
  ack.context.high = 9;
  EXPECT_EQ(decide(ack).context.next, 3u) << "a second window was closed meanwhile";
  ack.context.high = 6;
  ack.context.span = 3;
  EXPECT_EQ(decide(ack).context.next, 6u) << "is within 1 + 8";
  ack.context.cut.last = 5;
  EXPECT_EQ(decide(ack).context.next, 3u) << "there is no packet 6";
  ack.context.span = 0;
  ack.context.next = 6;
  EXPECT_EQ(decide(ack).context.next, 6u) << "there is no window";
}

TEST_P(RdmaTxDecide, WhatHasComeIsNotSentAgain) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.span = 3;
  ack.context.acked = 1;
  ack.context.next = 2;
  ack.header.pidx = 4;
  EXPECT_EQ(decide(ack).context.next, 4u);
  ack.header.arg = 1;
  EXPECT_EQ(decide(ack).context.next, 5u) << "4 is asked for, so it is sent before";
  EXPECT_EQ(decide(ack).context.asked, 1u);
  ack.header.pidx = 6;
  EXPECT_EQ(decide(ack).context.next, 6u) << "6 was never sent";
  ack.context.cut.last = 5;
  EXPECT_FALSE(decide(ack).queue_turn) << "all has come";
}

TEST_P(RdmaTxDecide, FullWindowThatMovesOnOpensASecondOne) {
  TxEvent ack = event(State::active, Ptype::ack);
  ack.context.span = 2;
  ack.context.acked = 1;
  ack.header.pidx = 2;
  ack.header.flags = 0;
  EXPECT_FALSE(decide(ack).context.second) << "packet 2 may have been overtaken";
  ack.header.flags = flag_order;
  EXPECT_TRUE(decide(ack).context.second) << "6 is beyond 1 + 4";
  EXPECT_EQ(decide(ack).context.next, 6u);
  EXPECT_TRUE(decide(ack).queue_turn);
  ack.context.hole = true;
  EXPECT_FALSE(decide(ack).context.second || decide(ack).context.hole) << "that was why it was full";
  ack.context.second = true;
  EXPECT_TRUE(decide(ack).context.second) << "stays open";
  ack.header.pidx = 1;
  EXPECT_TRUE(decide(ack).context.hole) << "it has not moved";
  ack.header.pidx = 2;
  ack.header.arg = 1;
  EXPECT_TRUE(decide(ack).context.hole);
  EXPECT_FALSE(decide(ack).context.second);
  ack.context.second = ack.context.hole = false;
  EXPECT_TRUE(decide(ack).context.hole);
  EXPECT_FALSE(decide(ack).context.second);
  ack.header.arg = 0;
  ack.header.pidx = 1;
  EXPECT_FALSE(decide(ack).context.second) << "it has not moved";
  ack.header.pidx = 2;
  ack.context.acked = 2;
  ack.context.next = 5;
  ack.header.pidx = 3;
  EXPECT_FALSE(decide(ack).context.second) << "5 is within 2 + 4";
  ack.context.span = 0;
  ack.context.next = 6;
  EXPECT_FALSE(decide(ack).context.second) << "there is no window";
}

TEST_P(RdmaTxDecide, TurnSendsWhatWasAskedForFirst) {
  TxEvent event = turn(State::active);
  event.context.span = 1;
  event.context.acked = 2;
  event.context.asked = 0xa;
  const TxDecision first = decide(event);
  EXPECT_EQ(first.data->header.pidx, 3u);
  EXPECT_EQ(first.data->header.flags, rdma::formats::flag_retry);
  EXPECT_EQ(first.context.asked, 8u);
  EXPECT_TRUE(first.queue_turn);
  event.context.asked = 8;
  EXPECT_FALSE(decide(event).queue_turn) << "packet 6 is beyond the window";
  event.context.asked = 0;
  EXPECT_EQ(decide(event).outcome, Outcome::lapse);
}

TEST_P(RdmaTxDecide, DoneEndsTheTransferWithOrWithoutError) {
  TxEvent done = event(State::active, Ptype::done);
  EXPECT_EQ(decide(done).completion->status, Status::ok);
  EXPECT_TRUE(decide(done).control);
  done.header.flags = flag_failed;
  EXPECT_EQ(decide(done).completion->status, Status::remote_error);
  EXPECT_EQ(decide(event(State::requested, Ptype::done)).outcome, Outcome::stale);
}

TEST_P(RdmaTxDecide, PacketForAContextThatDoesNotExistIsStale) {
  TxEvent done = event(State::active, Ptype::done);
  done.header.sid = static_cast<uint16_t>(params_.n_tx_ctx + done.header.sid);
  EXPECT_EQ(decide(done).outcome, Outcome::stale);
  EXPECT_FALSE(decide(done).context_known);
}

TEST_P(RdmaTxDecide, TurnSendsUntilTheLastPacket) {
  TxEvent event = turn(State::active);
  EXPECT_TRUE(decide(event).queue_turn);
  event.context.next = event.context.high = 9;
  const TxDecision last = decide(event);
  EXPECT_EQ(last.data->header.len, 33);
  EXPECT_FALSE(last.queue_turn);
  event.context.next = event.context.high = 10;
  EXPECT_EQ(decide(event).outcome, Outcome::lapse);
  EXPECT_EQ(decide(turn(State::free)).outcome, Outcome::lapse);
  EXPECT_EQ(decide(turn(State::requested)).outcome, Outcome::lapse);
}

TEST_P(RdmaTxDecide, TimeoutRepeatsWaitsOrGivesUp) {
  TxEvent event = timeout(State::requested);
  EXPECT_EQ(decide(event).control->pidx, 9 * params_.payload + 33);
  event.context.retries = event.max_retry;
  EXPECT_EQ(decide(event).completion->status, Status::no_answer);
  event = timeout(State::active);
  event.context.turn = true;
  EXPECT_EQ(decide(event).outcome, Outcome::still_sending);
  EXPECT_EQ(decide(event).context.retries, 3);
  event.context.retries = event.max_retry;
  EXPECT_EQ(decide(event).completion->status, Status::dead_peer) << "its turn has not come for too long";
  EXPECT_TRUE(decide(event).context.turn) << "it may come yet";
  event.context.retries = 0;
  event.context.turn = false;  // all is sent, or the window is full
  EXPECT_EQ(decide(event).completion->status, Status::dead_peer);
  event.expired = false;  // restarted since it was offered
  EXPECT_EQ(decide(event).outcome, Outcome::none);
  EXPECT_EQ(decide(timeout(State::free)).outcome, Outcome::none);
}

TEST_P(RdmaTxDecide, TransferThatOnlyRepeatsHasSoManyTimeouts) {
  TxEvent event = timeout(State::active);
  event.context.turn = true;
  event.context.heard = true;
  event.context.retries = event.max_retry;
  event.context.busy = 254;
  const TxDecision decision = decide(event);
  EXPECT_EQ(decision.outcome, Outcome::still_asked);
  EXPECT_EQ(decision.timer, TimerAction::dead);
  EXPECT_EQ(decision.context.busy, 255);
  EXPECT_EQ(decision.context.retries, 0);
  EXPECT_FALSE(decision.context.heard);
  event.context.busy = 255;
  EXPECT_EQ(decide(event).completion->status, Status::dead_peer);
  event.context.retries = 0;
  EXPECT_EQ(decide(event).outcome, Outcome::still_sending) << "packets wait for their turn";
  event.context.turn = false;
  EXPECT_EQ(decide(event).completion->status, Status::dead_peer);
  event = timeout(State::requested);
  event.context.heard = true;
  EXPECT_EQ(decide(event).outcome, Outcome::retry_rqt);
}

TEST_P(RdmaTxDecide, FaultEndsItsTransferAndFreesTheReceiver) {
  TxEvent event = fault(State::active);
  event.context.turn = true;
  event.context.retries = event.max_retry;
  const TxDecision decision = decide(event);
  EXPECT_EQ(decision.outcome, Outcome::source_failed);
  EXPECT_EQ(decision.completion, (rdma::Completion{event.context.tag, Status::source_error}));
  EXPECT_EQ(decision.timer, TimerAction::stop);
  EXPECT_TRUE(decision.freed);
  EXPECT_TRUE(decision.context.turn) << "it may come yet";
  ASSERT_TRUE(decision.control);
  EXPECT_EQ(decision.control->ptype, static_cast<uint8_t>(Ptype::release));
  EXPECT_EQ(decision.control->dst, event.context.dst);
  EXPECT_EQ(decision.control->cid, event.context.cid);
  EXPECT_EQ(decision.control->gen, event.context.gen);
  EXPECT_EQ(decision.control->flags, rdma::formats::flag_failed);
}

TEST_P(RdmaTxDecide, FaultOfWhatIsOverIsNothing) {
  for (const State state : {State::free, State::requested, State::active}) {
    TxEvent event = fault(state);
    if (state == State::active) event.header.msgid ^= 1;
    const TxDecision decision = decide(event);
    EXPECT_EQ(decision.outcome, Outcome::none);
    EXPECT_TRUE(decision.context == event.context);
    EXPECT_FALSE(decision.control || decision.completion || decision.freed);
  }
}

TEST_P(RdmaTxDecide, EqualsTheRulesUnderRandomEvents) {
  RandomTxEvents events(params_, bench_);
  std::map<Outcome, unsigned> seen;
  for (unsigned n = 0; n < 300'000; ++n) {
    const TxEvent event = events.next();
    ++seen[decide(event).outcome];
    if (HasFailure()) FAIL() << "event " << n;
  }
  for (auto code = static_cast<int>(Outcome::submit); code <= static_cast<int>(Outcome::source_failed);
       ++code) {
    EXPECT_GT(seen[static_cast<Outcome>(code)], 100u) << name(static_cast<Outcome>(code));
  }
  EXPECT_GT(seen[Outcome::none], 100u);
}

INSTANTIATE_TEST_SUITE_P(Widths, RdmaTxDecide, testing::Values(0u, 1u),
                         [](const auto& info) { return info.param == 0 ? "narrow" : "default"; });

}  // namespace
}  // namespace weft::rtl_test
