// SPDX-License-Identifier: Apache-2.0
// rdma_rx_decide rule by rule, in the order of docs/rdma.md (Receiver). The contexts are set, not reached, so
// that values at the end of every field take part; what must not change is compared too.
#include <algorithm>

#include "rdma_rx_decide_rules.hpp"

namespace weft::rtl_test::rx_decide {
namespace {

using RdmaRxDecide = Rules;

TEST_F(RdmaRxDecide, DropsOfTheArrivalChecksTouchNothing) {
  for (const Outcome outcome : {Outcome::drop_crc, Outcome::drop_malformed, Outcome::drop_not_mine}) {
    for (const Header& header : {data(active(), 500), from_sender(Ptype::release, active()), request(1)}) {
      EXPECT_EQ(verdict(outcome, header, active()), without(outcome, active()));
    }
  }
}

TEST_F(RdmaRxDecide, RequestWithoutRoomGetsNoAnswer) {
  EXPECT_EQ(verdict(Outcome::drop_busy, request(1), {}), without(Outcome::drop_busy, {}));
}

TEST_F(RdmaRxDecide, RefusedRequestGetsItsCode) {
  const auto check = [&](Outcome outcome, Refusal code) {
    RxDecision expected = without(outcome, active());
    expected.emitted = answer(request(1), code);
    EXPECT_EQ(outcome == Outcome::refuse_no_context ? packet(request(1), active(), false)
                                                    : verdict(outcome, request(1), active()),
              expected);
  };
  check(Outcome::refuse_length, Refusal::bad_length);
  check(Outcome::refuse_align, Refusal::misaligned);
  check(Outcome::refuse_region, Refusal::bad_region);
  check(Outcome::refuse_no_context, Refusal::no_context);
}

TEST_F(RdmaRxDecide, GrantFillsTheContextAndNamesTheRequesterInFull) {
  for (const uint8_t gen : {0, 0xc7, 0xff}) {
    RxDecideContext before = active();  // left over from the transfer before
    before.state = RxState::free;
    before.gen = gen;
    before.wvec = ones(128);
    RxDecideContext after;
    after.state = RxState::active;
    after.gen = static_cast<uint8_t>(gen + 1);
    after.src = 0xbeef;
    after.sid = 0x3ff;
    after.msgid = 0xdcba9;
    after.base = 0xfedcba987600;
    after.last = 2;
    after.last_len = 1;
    RxDecision expected = with(Outcome::grant, after);
    expected.timer = TimerChange::restarted;
    expected.emitted = answer(request(1), Refusal::granted);
    expected.emitted->cid = 3;
    expected.emitted->gen = after.gen;
    EXPECT_EQ(packet(request(2 * payload + 1), before), expected);
  }
}

TEST_F(RdmaRxDecide, GrantCutsTheTransferIntoPackets) {
  for (const uint32_t last : {0u, 1u, 254u, 65'535u, most_packets - 1}) {
    for (const uint16_t length : {1, 2, 32, 128, 255, 256}) {
      const RxDecision decision = packet(request(last * payload + length), {});
      EXPECT_EQ(decision.context.last, last);
      EXPECT_EQ(decision.context.last_len, length);
    }
  }
}

TEST_F(RdmaRxDecide, UnknownContextIsLeftAlone) {
  for (const Ptype type : {Ptype::data, Ptype::release}) {
    Header header = data(active(), 500);
    header.ptype = static_cast<uint8_t>(type);
    RxDecideContext free = active();
    free.state = RxState::free;
    EXPECT_EQ(packet(header, free), without(Outcome::drop_unknown_cid, free));
    for (const uint16_t cid : {contexts, uint16_t{2 * contexts - 1}, uint16_t{0x8000}, uint16_t{0xffff}}) {
      header.cid = cid;
      EXPECT_EQ(packet(header, active()), without(Outcome::drop_unknown_cid, active())) << "CID " << cid;
    }
  }
}

TEST_F(RdmaRxDecide, OneDifferentBitInTheIdentityMakesAZombie) {
  const auto check = [&](auto member, int bits) {
    for (int bit = 0; bit < bits; ++bit) {
      for (const Ptype type : {Ptype::data, Ptype::release}) {
        Header header = data(active(), 500);
        header.ptype = static_cast<uint8_t>(type);
        auto& field = header.*member;
        field = static_cast<std::decay_t<decltype(field)>>(field ^ 1u << bit);
        EXPECT_EQ(packet(header, active()), with(Outcome::drop_zombie, active())) << text(header);
      }
    }
  };
  check(&Header::src, 16);
  check(&Header::sid, 16);
  check(&Header::msgid, 24);
  check(&Header::gen, 8);
}

TEST_F(RdmaRxDecide, PacketBeyondTheEndIsDropped) {
  RxDecideContext context = active();
  for (const uint32_t pidx : {1001u, 1000u | 1u << 24, 500u | 1u << 31, ~0u}) {
    expect_dropped(Outcome::drop_beyond_end, data(context, pidx), context);
  }
  context.wbase = 1001;  // all has come
  context.state = RxState::done;
  expect_dropped(Outcome::drop_beyond_end, data(context, 1001), context);
}

TEST_F(RdmaRxDecide, LengthAndLastMarkMustFitThePacket) {
  for (const uint32_t pidx : {499u, 500u, 501u, 1000u}) {  // known already or not
    const RxDecideContext context = active();
    for (const uint16_t length : {0, 1, 76, 78, 255, 257, 256 | 0x200, 77 | 0x8000}) {
      Header header = data(context, pidx);
      header.len = length;
      expect_dropped(Outcome::drop_bad_length, header, context);
    }
    Header header = data(context, pidx);
    header.flags ^= rdma::formats::flag_last;
    expect_dropped(Outcome::drop_bad_length, header, context);
  }
}

TEST_F(RdmaRxDecide, KnownPacketIsADuplicate) {
  RxDecideContext context = active();
  context.wvec = {1, uint64_t{1} << 63};
  for (const uint32_t pidx : {0u, 244u, 371u, 372u, 499u, 501u, 628u}) {
    expect_dropped(Outcome::drop_duplicate, data(context, pidx), context);
  }
  context.wbase = 1001;
  context.state = RxState::done;
  context.wvec = {};
  expect_dropped(Outcome::drop_duplicate, data(context, 1000), context);
}

TEST_F(RdmaRxDecide, PacketBeyondTheWindowIsAskedForAgain) {
  const RxDecideContext context = active();
  for (const uint32_t pidx : {500 + window + 1, 500 + 2 * window, 999u, 1000u}) {
    RxDecision expected = with(Outcome::drop_window, context);
    expected.emitted = to_sender(Ptype::resend, context);
    expected.emitted->pidx = pidx;
    EXPECT_EQ(packet(data(context, pidx), context), expected);
  }
}

TEST_F(RdmaRxDecide, NewPacketInsideTheWindowIsMarkedAndWritten) {
  RxDecideContext context = active();
  context.wvec = {uint64_t{1} << 20, 1};
  for (const uint32_t ahead : {1u, 2u, 63u, 64u, 66u, window}) {
    RxDecision expected = with(Outcome::accept, context);
    expected.context.silent = 0;
    expected.context.wvec[(ahead - 1) / 64] |= uint64_t{1} << (ahead - 1) % 64;
    expected.wvec = expected.context.wvec;
    expected.write_addr = context.base + uint64_t{500 + ahead} * payload;
    EXPECT_EQ(packet(data(context, 500 + ahead), context), expected) << "ahead by " << ahead;
  }
}

TEST_F(RdmaRxDecide, PacketAtWbaseAdvancesByOneAndAllThatHadCome) {
  for (const uint32_t run : {0u, 1u, 2u, 63u, 64u, 65u, 127u, 128u}) {
    for (const uint8_t flags : {uint8_t{0}, rdma::formats::flag_retry}) {
      RxDecideContext context = active();
      context.wvec = ones(run);
      Header header = data(context, 500);
      header.flags = flags;
      RxDecision expected = with(Outcome::advance, context);
      expected.context.silent = 0;
      expected.context.asks = flags == 0 ? 0 : context.asks;
      expected.context.wbase = expected.wbase = 501 + run;
      expected.context.wvec = expected.wvec = {};
      expected.write_addr = context.base + 500 * payload;
      expected.timer = TimerChange::restarted;
      EXPECT_EQ(packet(header, context), expected) << "run of " << run;
    }
  }
}

TEST_F(RdmaRxDecide, MarksBehindAHoleMoveDown) {
  RxDecideContext context = active();
  context.wvec = {0b1011, uint64_t{1} << 63};
  const RxDecision decision = packet(data(context, 500), context);
  EXPECT_EQ(decision.context.wbase, 503u);
  EXPECT_EQ(decision.context.wvec, (std::array<uint64_t, 2>{0b1, uint64_t{1} << 60}));
}

TEST_F(RdmaRxDecide, LastMissingPacketFinishes) {
  for (const uint32_t last : {0u, 3u, 128u, most_packets - 1}) {
    for (uint32_t run = 0; run <= std::min(last, window); run += 1 + run) {
      RxDecideContext context = active();
      context.base = payload;
      context.last = last;
      context.wbase = last - run;
      context.wvec = ones(run);
      Header header = data(context, context.wbase);
      header.flags |= rdma::formats::flag_retry;  // asks = 0 all the same
      RxDecision expected = with(Outcome::finish, context);
      expected.context.state = RxState::done;
      expected.context.silent = expected.context.asks = 0;
      expected.context.wbase = expected.wbase = last + 1;
      expected.context.wvec = expected.wvec = {};
      expected.write_addr = (uint64_t{context.wbase} + 1) * payload;
      expected.timer = TimerChange::restarted;
      expected.emitted = to_sender(Ptype::done, context);
      EXPECT_EQ(packet(header, context), expected) << "last " << last << ", run of " << run;
    }
  }
}

TEST_F(RdmaRxDecide, ReleaseFreesTheContextAndKeepsItsGeneration) {
  for (const RxState state : {RxState::active, RxState::done}) {
    RxDecideContext context = active();
    context.state = state;
    RxDecision expected = with(Outcome::released, context);
    expected.context.state = RxState::free;
    expected.timer = TimerChange::stopped;
    expected.freed = true;
    EXPECT_EQ(packet(from_sender(Ptype::release, context), context), expected);
  }
}

TEST_F(RdmaRxDecide, TimerThatWasRestartedOrHasNoContextIsNoEvent) {
  RxDecideContext context = active();
  EXPECT_EQ(bench_.decide({.timeout = true, .expired = false}, context), without(Outcome::none, context));
  context.state = RxState::free;
  EXPECT_EQ(timeout(context), without(Outcome::none, context));
}

TEST_F(RdmaRxDecide, SilentSenderLosesItsContext) {
  for (const RxState state : {RxState::active, RxState::done}) {
    for (uint8_t silent = 0; silent < 16; ++silent) {
      for (uint8_t max_silent = 0; max_silent < 16; ++max_silent) {
        RxDecideContext context = active();
        context.state = state;
        context.silent = silent;
        RxDecision reclaimed = with(Outcome::reclaim, context);
        reclaimed.context.state = RxState::free;
        reclaimed.timer = TimerChange::stopped;
        reclaimed.freed = true;
        const RxDecision actual = timeout(context, 3, max_silent);
        if (silent >= max_silent) {
          EXPECT_EQ(actual, reclaimed);
        } else {
          EXPECT_EQ(actual.outcome, state == RxState::done ? Outcome::done_again : Outcome::ask_one);
          EXPECT_EQ(actual.context.silent, silent + 1);
        }
      }
    }
  }
}

TEST_F(RdmaRxDecide, TimeoutRepeatsDone) {
  RxDecideContext context = active();
  context.state = RxState::done;
  context.asks = 3;  // of no concern here
  RxDecision expected = with(Outcome::done_again, context);
  expected.context.silent += 1;
  expected.timer = TimerChange::restarted;
  expected.emitted = to_sender(Ptype::done, context);
  EXPECT_EQ(timeout(context, 0), expected);
}

TEST_F(RdmaRxDecide, TimeoutAsksForOnePacketAndLaterForAll) {
  for (uint8_t asks = 0; asks < 4; ++asks) {
    for (uint8_t ask_from_after = 0; ask_from_after < 4; ++ask_from_after) {
      RxDecideContext context = active();
      context.asks = asks;
      const bool all = asks >= ask_from_after;
      RxDecision expected = with(all ? Outcome::ask_from : Outcome::ask_one, context);
      expected.context.silent += 1;
      expected.context.asks = static_cast<uint8_t>(all ? asks : asks + 1);
      expected.timer = TimerChange::restarted;
      expected.emitted = to_sender(Ptype::resend, context);
      expected.emitted->pidx = context.wbase;
      expected.emitted->flags = all ? rdma::formats::flag_from : 0;
      EXPECT_EQ(timeout(context, ask_from_after), expected);
    }
  }
}

}  // namespace
}  // namespace weft::rtl_test::rx_decide
