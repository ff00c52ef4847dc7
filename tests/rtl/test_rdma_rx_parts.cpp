// SPDX-License-Identifier: Apache-2.0
// Parts of the receiver on their own: rdma_next_hole with rdma_holes in every state of 8 slots,
// rdma_rx_request at every edge, rdma_rx_outcome rule by rule, rdma_rx_answer with every answer.
#include <array>
#include <functional>
#include <map>
#include <vector>

#include "Vrdma_rx_parts_bench.h"
#include "bench.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using rdma::formats::Refusal;

/// rx_answer_e of rdma_pkg.sv.
enum class Answer : uint8_t {
  none,
  refusal,
  grant,
  done,
  resend,
  resend_from,
  ack,
  ack_map,
  resend_hole,
  ack_one,
  ack_from
};

class RdmaRxParts : public testing::Test {
 protected:
  RdmaRxParts() {
    auto& top = bench_.top();
    top.verdict_i = 0;
    top.timeout_i = top.request_i = top.release_i = top.used_i = top.match_i = 0;
    top.key_ok_i = top.outside_i = 0;
    top.source_ok_i = top.sid_ok_i = top.msgid_ok_i = 0;
    top.beyond_end_i = top.good_length_i = top.good_mark_i = top.mark_i = top.advance_i = 0;
    top.ahead_i = top.in_window_i = top.behind_i = top.complete_i = top.quarter_i = 0;
    top.live_i = top.reclaim_i = top.asked_i = top.complete_before_i = top.asked_enough_i = 0;
    top.weft_mode_i = 0;
    top.transfers_i = 0;
    top.again_i = top.untouched_i = 0;
  }

  Outcome outcome() {
    bench_.settle();
    return static_cast<Outcome>(bench_->outcome_o);
  }
  Answer answer() {
    bench_.settle();
    return static_cast<Answer>(bench_->answer_o);
  }
  Bench<Vrdma_rx_parts_bench> bench_;
};

// rdma_holes, rdma_next_hole

TEST_F(RdmaRxParts, NextHoleInEveryState) {
  const auto above = [](unsigned slot) { return 0xffu << (slot + 1) & 0xff; };
  for (unsigned bits = 0; bits < 1u << (8 + 1 + 3); ++bits) {
    const unsigned marks = bits & 0xff;
    const bool odd = bits >> 8 & 1;
    const unsigned start = bits >> 9 & 7;
    bench_->hole_marks_i = static_cast<uint8_t>(marks);
    bench_->hole_odd_i = odd;
    bench_->hole_after_i = static_cast<uint8_t>(above(start));
    bench_.settle();
    unsigned at = start + 1;  // counted on over two laps
    const auto marked = [&](unsigned place) {
      const bool lap_odd = odd != (place >= 8);
      return place != start + 8 && ((marks >> (place % 8) & 1) != 0) != lap_odd;
    };
    while (marked(at)) ++at;  // its own slot ends it
    ASSERT_EQ(bench_->hole_after_o, above(at % 8))
        << "marks " << marks << " odd " << odd << " start " << start;
    ASSERT_EQ(bench_->hole_wrapped_o, at >= 8) << "marks " << marks << " odd " << odd << " start " << start;
    for (unsigned place = start + 1; place <= start + 8; ++place) {
      if (marked(place)) continue;
      bench_->hole_pos_i = static_cast<uint8_t>(place % 8);
      bench_.settle();
      ASSERT_EQ(bench_->hole_is_it_o, place == at)
          << "marks " << marks << " odd " << odd << " start " << start << " place " << place;
    }
  }
}

// rdma_rx_request, with the default parameters

class RdmaRxRequest : public RdmaRxParts {
 protected:
  static constexpr uint64_t base = 0x10000, limit = 0x50000, bus = uint64_t{1} << 48;

  Outcome check(uint64_t address, uint32_t bytes, uint64_t region_base = base, uint64_t region_limit = limit,
                bool open = true) {
    put(address, bytes);
    bench_.step();
    put_region(region_base, region_limit, open);
    for (int clock = 0; clock < 2; ++clock) bench_.step();
    return result();
  }

  void put(uint64_t address, uint32_t bytes) {
    bench_->request_arg_i = address;
    bench_->request_bytes_i = bytes;
  }
  void put_region(uint64_t region_base, uint64_t region_limit, bool open = true) {
    bench_->request_open_i = open;
    bench_->request_base_i = region_base / 256;
    bench_->request_last_i = static_cast<uint32_t>((region_limit - region_base) / 256 - 1);
  }
  Outcome result() {
    bench_.settle();
    return static_cast<Outcome>(bench_->request_o);
  }
};

TEST_F(RdmaRxRequest, Region) {
  EXPECT_EQ(check(base, limit - base), Outcome::none);
  EXPECT_EQ(check(base, limit - base + 1), Outcome::refuse_region);
  EXPECT_EQ(check(base - 256, 256), Outcome::refuse_region);
  EXPECT_EQ(check(limit - 256, 256), Outcome::none);
  EXPECT_EQ(check(limit - 256, 257), Outcome::refuse_region);
  EXPECT_EQ(check(limit, 1), Outcome::refuse_region);
  EXPECT_EQ(check(base + 0x300, limit - base - 0x300), Outcome::none);
  EXPECT_EQ(bench_->request_offset_o, 3u);
  EXPECT_EQ(check(base + 0x300, 1, base, base + 0x300), Outcome::refuse_region);
  EXPECT_EQ(check(base + 0x300, 1, base, base + 0x400), Outcome::none);
  EXPECT_EQ(check(base, 1, base, limit, false), Outcome::refuse_key);
  EXPECT_EQ(check(0, 1, base, limit, false), Outcome::refuse_key) << "whether it would be inside or not";
}

TEST_F(RdmaRxRequest, EndOfTheBusAndOfNumbers) {
  constexpr uint64_t most = uint64_t{256} << 32;  // bytes of a region
  EXPECT_EQ(check(bus - 256, 256, bus - most, bus), Outcome::none);
  EXPECT_EQ(check(bus - 256, 257, bus - most, bus), Outcome::refuse_region);
  EXPECT_EQ(check(bus - most, 256, bus - most, bus), Outcome::none);
  EXPECT_EQ(check(bus - most - 256, 256, bus - most, bus), Outcome::refuse_region);
  EXPECT_EQ(check(bus, 1, bus - most, bus), Outcome::refuse_region);
  EXPECT_EQ(check(UINT64_MAX - 255, 256, 0, most), Outcome::refuse_region);
  EXPECT_EQ(check(bus | 0x100, 256, 0, most), Outcome::refuse_region) << "a bit beyond those of the bus";
  EXPECT_EQ(check(uint64_t{1} << 63 | 0x100, 256, 0, most), Outcome::refuse_region);
  EXPECT_EQ(check(most - 256, 256, 0, most), Outcome::none);
  EXPECT_EQ(check(most, 256, 0, most), Outcome::refuse_region);
  EXPECT_EQ(check(0, 257, bus - 256, bus), Outcome::refuse_region);
}

TEST_F(RdmaRxRequest, LengthComesBeforeAlignmentAndThatBeforeRegion) {
  constexpr uint32_t longest = ((1u << 24) - 1) * 256;
  constexpr uint64_t top = uint64_t{1} << 32;
  EXPECT_EQ(check(0, longest, 0, top), Outcome::none);
  EXPECT_EQ(check(0, longest + 1, 0, top), Outcome::refuse_length);
  EXPECT_EQ(check(0, UINT32_MAX, 0, top), Outcome::refuse_length);
  EXPECT_EQ(check(base, 0), Outcome::refuse_length);
  EXPECT_EQ(check(1, 0), Outcome::refuse_length);
  EXPECT_EQ(check(base + 1, 1), Outcome::refuse_align);
  EXPECT_EQ(check(base, 0, base, limit, false), Outcome::refuse_length);
  EXPECT_EQ(check(base + 1, 1, base, limit, false), Outcome::refuse_align);
  EXPECT_EQ(check(base + 128, 1), Outcome::refuse_align);
  EXPECT_EQ(check(1, 1), Outcome::refuse_align);
}

TEST_F(RdmaRxRequest, OneAClockEachWithTheRegionOfTheNextClock) {
  put(base, 256);
  bench_.step();
  put(limit, 256);
  put_region(base, limit);
  bench_.step();
  put_region(limit, limit + 256);
  bench_.step();
  EXPECT_EQ(result(), Outcome::none);
  put_region(0, 256, false);
  bench_.step();
  EXPECT_EQ(result(), Outcome::none);
}

// rdma_rx_outcome

TEST_F(RdmaRxParts, OutcomeOfATimeout) {
  bench_->timeout_i = 1;
  bench_->verdict_i = 0;
  bench_->live_i = 0;
  EXPECT_EQ(outcome(), Outcome::none);
  EXPECT_FALSE(bench_->has_ctx_o);
  EXPECT_EQ(answer(), Answer::none);
  bench_->live_i = 1;
  const auto expect = [this](Outcome expected, Answer answered) {
    EXPECT_EQ(outcome(), expected);
    EXPECT_EQ(answer(), answered) << name(expected);
    EXPECT_TRUE(bench_->has_ctx_o);
  };
  for (const bool asked : {false, true}) {
    bench_->asked_i = asked;
    bench_->asked_enough_i = bench_->weft_mode_i = 0;
    expect(Outcome::ask_one, Answer::resend);
    bench_->asked_enough_i = 1;
    expect(Outcome::ask_from, Answer::resend_from);
    bench_->weft_mode_i = 1;
    expect(Outcome::ask_map, asked ? Answer::ack_from : Answer::ack_map);
  }
  bench_->complete_before_i = 1;
  expect(Outcome::done_again, Answer::done);
  bench_->weft_mode_i = 0;
  expect(Outcome::done_again, Answer::done);
  bench_->reclaim_i = 1;
  expect(Outcome::reclaim, Answer::none);
}

TEST_F(RdmaRxParts, OutcomeOfABadPacketIsItsVerdict) {
  const std::map<Outcome, Answer> verdicts = {
      {Outcome::drop_crc, Answer::none},         {Outcome::drop_malformed, Answer::none},
      {Outcome::drop_not_mine, Answer::none},    {Outcome::drop_busy, Answer::none},
      {Outcome::refuse_length, Answer::refusal}, {Outcome::refuse_align, Answer::refusal},
      {Outcome::refuse_region, Answer::refusal}, {Outcome::refuse_no_context, Answer::refusal},
      {Outcome::refuse_key, Answer::refusal}};
  bench_->used_i = bench_->match_i = bench_->release_i = 1;  // of no meaning
  const auto check = [&](Outcome verdict, Answer expected) {
    bench_->verdict_i = static_cast<uint8_t>(verdict);
    EXPECT_EQ(outcome(), verdict);
    EXPECT_EQ(answer(), expected) << name(verdict);
    EXPECT_FALSE(bench_->has_ctx_o);
  };
  for (const bool transfers : {false, true}) {
    bench_->transfers_i = transfers;
    for (const auto& [verdict, expected] : verdicts) check(verdict, expected);
  }
  for (const Outcome verdict :
       {Outcome::refuse_queue, Outcome::refuse_not_ready, Outcome::refuse_too_long,
        Outcome::refuse_not_wanted, Outcome::refuse_buffer, Outcome::refuse_answers}) {
    check(verdict, Answer::refusal);
  }
  for (const Outcome verdict : {Outcome::drop_asked, Outcome::read_taken}) check(verdict, Answer::none);
}

TEST_F(RdmaRxParts, RequestGrantedBeforeIsGrantedAgainIfItsContextIsStillItsOwn) {
  auto& top = bench_.top();
  top.again_i = 1;
  for (unsigned facts = 0; facts < 16; ++facts) {
    const bool used = (facts & 1) != 0, match = (facts & 2) != 0, untouched = (facts & 4) != 0;
    top.transfers_i = facts >> 3;
    top.untouched_i = untouched;
    top.used_i = used;
    top.match_i = match;
    top.release_i = top.beyond_end_i = top.outside_i = top.mark_i = top.advance_i = match;  // of no meaning
    const bool same = used && match && untouched;
    EXPECT_EQ(outcome(), same ? Outcome::grant_again : Outcome::drop_asked);
    EXPECT_EQ(answer(), same ? Answer::grant : Answer::none);
    EXPECT_EQ(bench_->has_ctx_o, same);
  }
}

/// Rules in the order in which they apply: each fact is given to all that come before it as well.
TEST_F(RdmaRxParts, OutcomeOfAPacketIsThatOfTheFirstRule) {
  auto& top = bench_.top();
  struct Rule {
    std::function<void()> makes;
    Outcome outcome;
    Answer paper, weft;
  };
  const std::vector<Rule> from_last_to_first = {
      {[&] { top.used_i = top.match_i = top.key_ok_i = top.good_length_i = top.good_mark_i = 1; },
       Outcome::drop_window, Answer::resend, Answer::none},
      {[&] { top.in_window_i = 1; }, Outcome::drop_duplicate, Answer::none, Answer::none},
      {[&] { top.in_window_i = 0, top.behind_i = 1; }, Outcome::drop_duplicate, Answer::none, Answer::none},
      {[&] { top.advance_i = 1; }, Outcome::advance, Answer::none, Answer::none},
      {[&] { top.quarter_i = 1; }, Outcome::advance, Answer::none, Answer::ack},
      {[&] { top.complete_i = 1; }, Outcome::finish, Answer::done, Answer::done},
      {[&] { top.mark_i = 1; }, Outcome::accept, Answer::none, Answer::none},
      {[&] { top.ahead_i = 1; }, Outcome::accept, Answer::none, Answer::resend_hole},
      {[&] { top.outside_i = 1; }, Outcome::drop_region, Answer::none, Answer::none},
      {[&] { top.good_mark_i = 0; }, Outcome::drop_last_mark, Answer::none, Answer::none},
      {[&] { top.good_length_i = 0; }, Outcome::drop_bad_length, Answer::none, Answer::none},
      {[&] { top.beyond_end_i = 1; }, Outcome::drop_beyond_end, Answer::none, Answer::none},
      {[&] { top.key_ok_i = 0; }, Outcome::drop_key, Answer::none, Answer::none},
      {[&] { top.failed_i = 1; }, Outcome::drop_key, Answer::none, Answer::none},  // says nothing in DATA
      {[&] { top.release_i = 1; }, Outcome::released_failed, Answer::none, Answer::none},
      {[&] { top.failed_i = 0; }, Outcome::released, Answer::none, Answer::none},
      {[&] { top.source_ok_i = top.sid_ok_i = top.msgid_ok_i = 1, top.match_i = 0; }, Outcome::drop_zombie,
       Answer::none, Answer::none},
      {[&] { top.msgid_ok_i = 0; }, Outcome::drop_msgid, Answer::none, Answer::none},
      {[&] { top.sid_ok_i = 0; }, Outcome::drop_sid, Answer::none, Answer::none},
      {[&] { top.source_ok_i = 0; }, Outcome::drop_source, Answer::none, Answer::none},
      {[&] { top.used_i = 0; }, Outcome::drop_unknown_cid, Answer::none, Answer::none},
      {[&] { top.request_i = 1; }, Outcome::grant, Answer::grant, Answer::grant},
  };
  for (const Rule& rule : from_last_to_first) {
    rule.makes();
    for (const bool weft : {false, true}) {
      top.weft_mode_i = weft;
      EXPECT_EQ(outcome(), rule.outcome);
      EXPECT_EQ(answer(), weft ? rule.weft : rule.paper) << name(rule.outcome);
      EXPECT_EQ(bench_->has_ctx_o, rule.outcome != Outcome::drop_unknown_cid) << name(rule.outcome);
    }
  }
}

// rdma_rx_answer

class RdmaRxAnswer : public RdmaRxParts {
 protected:
  RdmaRxAnswer() {
    bench_->node_id_i = 0x1111;
    bench_->to_node_i = 0x2222;
    bench_->to_sid_i = 0x3333;
    bench_->to_msgid_i = 0x444444;
    bench_->to_cid_i = 0x5555;
    bench_->to_gen_i = 0x66;
    bench_->to_pidx_i = 0x77777777;
    bench_->to_rkey_i = 0x999999;
    request_of(true, true, true);  // of no meaning without transfers
    bench_->base_i = 0x8888;
    bench_->marks_i = 0;
  }

  Header answered(Answer answer, Outcome outcome = Outcome::none) {
    bench_->answer_i = static_cast<uint8_t>(answer);
    bench_->outcome_i = static_cast<uint8_t>(outcome);
    for (int clock = 0; clock < 2; ++clock) bench_.step();
    bench_.settle();
    EXPECT_EQ(bench_->emit_o, answer != Answer::none);
    return get_header(bench_->header_o);
  }

  void request_of(bool for_buffer, bool of_read, bool is_read) {
    bench_->to_for_buffer_i = for_buffer;
    bench_->to_of_read_i = of_read;
    bench_->to_is_read_i = is_read;
  }

  /// What every answer has; `named`: it names the context.
  static Header expected(Ptype type, bool named = true) {
    Header header;
    header.ptype = static_cast<uint8_t>(type);
    header.src = 0x1111;
    header.dst = 0x2222;
    header.sid = 0x3333;
    header.msgid = 0x444444;
    if (named) header.cid = 0x5555;
    if (named) header.gen = 0x66;
    return header;
  }

  /// The window's marks for these packets among base + 1 to base + 16.
  static uint16_t marks(uint16_t base, uint16_t wvec) {
    uint16_t result = 0;
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned pidx = base + 1u + i;
      const bool arrived = wvec >> i & 1;
      if (arrived != ((pidx / 16) % 2 != 0)) result |= static_cast<uint16_t>(1u << pidx % 16);
    }
    return result;
  }
};

TEST_F(RdmaRxAnswer, Refusals) {
  const std::map<Outcome, Refusal> codes = {{Outcome::refuse_length, Refusal::bad_length},
                                            {Outcome::refuse_align, Refusal::misaligned},
                                            {Outcome::refuse_region, Refusal::bad_region},
                                            {Outcome::refuse_key, Refusal::bad_key},
                                            {Outcome::refuse_no_context, Refusal::no_context}};
  for (const auto& [outcome, code] : codes) {
    Header header = expected(Ptype::rsp, false);
    header.arg = static_cast<uint64_t>(code);
    EXPECT_EQ(text(answered(Answer::refusal, outcome)), text(header));
  }
}

TEST_F(RdmaRxAnswer, RefusalsOfTransfers) {
  using rdma::formats::TransferFlag;
  const std::map<Outcome, Refusal> codes = {
      {Outcome::refuse_length, Refusal::bad_length}, {Outcome::refuse_no_context, Refusal::no_context},
      {Outcome::refuse_queue, Refusal::bad_key},     {Outcome::refuse_not_ready, Refusal::not_ready},
      {Outcome::refuse_too_long, Refusal::too_long}, {Outcome::refuse_not_wanted, Refusal::not_wanted},
      {Outcome::refuse_answers, Refusal::no_context}};
  bench_->transfers_i = 1;
  const auto check = [&](Outcome outcome, Refusal code, uint8_t flags) {
    Header header = expected(Ptype::rsp, false);
    header.arg = static_cast<uint64_t>(code);
    header.flags = flags;
    EXPECT_EQ(text(answered(Answer::refusal, outcome)), text(header)) << name(outcome);
  };
  for (const auto& [outcome, code] : codes) {
    request_of(false, false, false);
    check(outcome, code, 0);
    request_of(true, false, false);
    check(outcome, code, static_cast<uint8_t>(TransferFlag::send));
    request_of(true, true, true);
    check(outcome, code, static_cast<uint8_t>(TransferFlag::read));
  }
  request_of(true, false, false);
  check(Outcome::refuse_buffer, Refusal::not_ready, static_cast<uint8_t>(TransferFlag::send));
  request_of(true, true, false);
  check(Outcome::refuse_buffer, Refusal::not_wanted, static_cast<uint8_t>(TransferFlag::send));
}

TEST_F(RdmaRxAnswer, GrantOfABufferNamesItsKey) {
  bench_->transfers_i = 1;
  Header grant = expected(Ptype::rsp);
  request_of(false, false, false);
  EXPECT_EQ(text(answered(Answer::grant)), text(grant));
  request_of(true, false, false);
  grant.flags = static_cast<uint8_t>(rdma::formats::TransferFlag::send);
  grant.arg = uint64_t{0x999999} << 32;
  EXPECT_EQ(text(answered(Answer::grant)), text(grant));
  EXPECT_EQ(text(answered(Answer::done)), text(expected(Ptype::done)));
}

TEST_F(RdmaRxAnswer, WithoutMap) {
  answered(Answer::none);
  Header grant = expected(Ptype::rsp);
  EXPECT_EQ(text(answered(Answer::grant)), text(grant)) << "paper mode";
  bench_->weft_mode_i = 1;
  grant.pidx = 4;  // log2 of the window
  EXPECT_EQ(text(answered(Answer::grant)), text(grant));
  EXPECT_EQ(text(answered(Answer::done)), text(expected(Ptype::done)));
  Header resend = expected(Ptype::resend);
  resend.pidx = 0x77777777;
  EXPECT_EQ(text(answered(Answer::resend)), text(resend));
  resend.flags = rdma::formats::flag_from;
  EXPECT_EQ(text(answered(Answer::resend_from)), text(resend));
  Header ack = expected(Ptype::ack);
  ack.pidx = 0x8888;
  ack.arg = uint64_t{4} << 56;
  bench_->marks_i = 0xa5a5;
  EXPECT_EQ(text(answered(Answer::ack)), text(ack)) << "its map is empty whatever is missing";
  bench_->to_ordered_i = 1;
  EXPECT_EQ(text(answered(Answer::resend_from)), text(resend)) << "no ACK";
  EXPECT_EQ(text(answered(Answer::grant)), text(grant)) << "likewise";
  ack.flags = rdma::formats::flag_order;
  EXPECT_EQ(text(answered(Answer::ack)), text(ack));
}

TEST_F(RdmaRxAnswer, MapAndWvecFromEverySlot) {
  for (uint32_t base = 0x7fe0; base < 0x8020; ++base) {
    for (int n = 0; n < 50; ++n) {
      bench_->to_ordered_i = n % 2 != 0;
      const uint8_t flags = n % 2 != 0 ? rdma::formats::flag_order : 0;
      auto wvec = static_cast<uint16_t>(bench_.below(1 << 16));
      if (n < 17) wvec = static_cast<uint16_t>((1u << n) - 1);
      bench_->base_i = static_cast<uint16_t>(base);
      bench_->marks_i = marks(static_cast<uint16_t>(base), wvec);
      Header ack = expected(Ptype::ack);
      ack.pidx = base;
      ack.arg = uint64_t{4} << 56 | 1;
      ack.flags = flags;
      for (unsigned i = 0; i < 15; ++i) {
        const bool asked = !(wvec >> i & 1) && wvec >> (i + 1) != 0;
        if (asked) ack.arg |= uint64_t{1} << (i + 1);
      }
      ASSERT_EQ(text(answered(Answer::ack_map)), text(ack)) << "base " << base << " wvec " << wvec;
      if (wvec == 0) ack.flags = flags | rdma::formats::flag_from;
      ASSERT_EQ(text(answered(Answer::ack_from)), text(ack)) << "base " << base << " wvec " << wvec;
      ASSERT_EQ(bench_->wvec_o, wvec) << "base " << base;
    }
  }
}

TEST_F(RdmaRxAnswer, HoleIsAskedForIfItIsMissing) {
  for (uint32_t base = 0x7ff0; base < 0x8010; ++base) {
    for (uint32_t place = 0; place < 16; ++place) {
      for (int n = 0; n < 20; ++n) {
        const auto wvec = static_cast<uint16_t>(bench_.below(1 << 16));
        bench_->base_i = static_cast<uint16_t>(base);
        bench_->marks_i = marks(static_cast<uint16_t>(base), wvec);
        bench_->to_pidx_i = base + place;
        bench_->answer_i = static_cast<uint8_t>(Answer::resend_hole);
        for (int clock = 0; clock < 2; ++clock) bench_.step();
        bench_.settle();
        const bool missing = place == 0 || !(wvec >> (place - 1) & 1);
        ASSERT_EQ(bench_->emit_o, missing) << "base " << base << " place " << place << " wvec " << wvec;
        Header resend = expected(Ptype::resend);
        resend.pidx = base + place;
        ASSERT_EQ(text(get_header(bench_->header_o)), text(resend));
      }
    }
  }
}

}  // namespace
}  // namespace weft::rtl_test
