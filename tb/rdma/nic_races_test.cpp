// SPDX-License-Identifier: Apache-2.0
// Races of docs/rdma_transfers.md, each brought about on purpose: memory, network or software is late by just
// so much. The golden models agree at every event.
#include <algorithm>
#include <span>

#include "nic_races.hpp"

namespace weft::tb {
namespace {

// --- a context is over before its ticket has left

enum class Meanwhile { over, granted_again };

class NicRacesLate : public NicRaces, public testing::WithParamInterface<Meanwhile> {
 protected:
  void pass(uint16_t cid) {
    const auto free = [&] { return receiver(1).context(cid).state == rdma::RxContext::State::free; };
    wait_until(free, "end of the context");
    if (GetParam() == Meanwhile::granted_again) grant_again(1, cid);
  }
};

TEST_P(NicRacesLate, MessageIsDeliveredAlthoughItsContextIsGone) {
  build(config(), hasty());
  bench().post(1, 0, bench().recv_entry(0, 0, 512));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 64));
  run_until(1, Outcome::grant);
  node(1).memory().stall(true);
  const uint16_t ticket = run_until_ticket(1, Ticket::State::ending);
  pass(inbox(1).ticket(ticket).message.cid);
  EXPECT_EQ(outcomes(1, Outcome::arrived), 0u);
  node(1).memory().stall(false);
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).bytes, 64u);
  expect_bytes(0, NicBench::source_of(0), 1, NicBench::buffers_of(0), 64);
}

TEST_P(NicRacesLate, BufferWaitsAgainOnlyWhenNothingIsOnItsWay) {
  build(config(3), hasty());
  bench().post(1, 0, bench().recv_entry(0, 0, 1024));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 1024), no_status);
  run_until(1, Outcome::advance);
  node(1).memory().stall(true);
  halt(0);
  const uint16_t ticket = run_until_ticket(1, Ticket::State::returning);
  pass(inbox(1).ticket(ticket).message.cid);
  EXPECT_EQ(outcomes(1, Outcome::returned), 0u);
  node(1).memory().stall(false);
  run_until(1, Outcome::returned);
  bench().post(2, 0, bench().send_entry(0, 1, 0, 0, 512));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0).node, 2u);
}

INSTANTIATE_TEST_SUITE_P(Contexts, NicRacesLate, testing::Values(Meanwhile::over, Meanwhile::granted_again));

/// A duplicate of the request comes when its context is over and the buffer it had is still on its way back.
TEST_F(NicRaces, RequestThatComesLateTakesAnotherBuffer) {
  build(config(3), hasty());
  std::optional<Bytes> request;
  bench().system.tamper_with([&](Bytes& packet) {
    if (header_in(packet).ptype == static_cast<uint8_t>(Ptype::rqt)) request = packet;
  });
  for (uint32_t n = 0; n < 2; ++n) bench().post(1, 0, bench().recv_entry(0, 1024 * n, 1024));
  run_until(1, Outcome::wait, 2);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 1024), no_status);
  run_until(1, Outcome::advance);
  node(1).memory().stall(true);
  halt(0);
  const Ticket& first = inbox(1).ticket(run_until_ticket(1, Ticket::State::returning));
  const auto over = [&] {
    return receiver(1).context(first.message.cid).state == rdma::RxContext::State::free;
  };
  wait_until(over, "end of the context");
  ASSERT_TRUE(request.has_value());
  node(1).receive(*request);
  run_until(1, Outcome::grant, 2);
  EXPECT_EQ(first.state, Ticket::State::returning);
  node(1).memory().stall(false);
  run_until(1, Outcome::returned, 2);
  for (uint32_t n = 0; n < 2; ++n) bench().post(2, 0, bench().send_entry(0, 1, 0, 0, 512));
  bench().expect_settled();
  EXPECT_EQ(completion(1, 0, 0).node, 2u);
  EXPECT_EQ(completion(1, 0, 1).node, 2u);
}

/// Memory takes nothing when the target of a READ dies in the middle of its answer.
class NicRacesBack : public NicRaces {
 protected:
  /// The ticket of the READ.
  uint16_t answer_goes_back() {
    build(config(), hasty());
    bench().post(1, 0, bench().read_entry(0, 0, 0, 0, 4096), status_of(EngineStatus::no_answer));
    run_until(1, Outcome::advance);
    node(1).memory().stall(true);
    halt(0);
    return run_until_ticket(1, Ticket::State::returning);
  }
};

TEST_F(NicRacesBack, LateRefusalIsDropped) {
  const uint16_t number = answer_goes_back();
  const Ticket& ticket = inbox(1).ticket(number);
  Header refusal = header_to_zero(Ptype::rsp);
  refusal.src = 0;
  refusal.dst = 1;
  refusal.sid = number;
  refusal.msgid = ticket.number;
  rdma::set_flag(refusal, TransferFlag::read);
  refusal.arg = static_cast<uint64_t>(rdma::formats::Refusal::bad_region);
  receive(1, refusal);
  run_until(1, Outcome::drop_old_read);
  EXPECT_EQ(ticket.state, Ticket::State::returning);
  node(1).memory().stall(false);
  bench().expect_settled(5'000'000);
}

TEST_F(NicRacesBack, SecondAnswerIsDropped) {
  const uint16_t number = answer_goes_back();
  const Ticket& ticket = inbox(1).ticket(number);
  Header answer = request_of(0, 1, 0, 5, ticket.post.bytes);
  rdma::set_flag(answer, TransferFlag::read);
  answer.gen = 0;
  answer.cid = number;
  answer.arg = ticket.number;
  const uint64_t dropped = outcomes(1, Outcome::drop_asked);
  receive(1, answer);
  run_until(1, Outcome::drop_asked, dropped + 1);
  EXPECT_EQ(ticket.state, Ticket::State::returning);
  node(1).memory().stall(false);
  bench().expect_settled(5'000'000);
}

// --- a region changes under a transfer

enum class Change { closed, shorter };
enum class Kind { write, imm, send, read };

class NicRacesRegion : public NicRaces, public testing::WithParamInterface<std::tuple<Kind, Change>> {
 protected:
  static constexpr uint32_t bytes = 100 * payload;

  static bool into_a_buffer() { return std::get<0>(GetParam()) >= Kind::send; }
  static bool needs_recv() {
    return std::get<0>(GetParam()) == Kind::imm || std::get<0>(GetParam()) == Kind::send;
  }

  /// Node 1 is written to.
  void begin() {
    if (needs_recv()) {
      bench().post(1, 0, bench().recv_entry(0, 0, bytes), no_status);
      run_until(1, Outcome::wait);
    }
    const uint8_t dead = status_of(EngineStatus::dead_peer);
    switch (std::get<0>(GetParam())) {
      case Kind::read:
        return bench().post(1, 0, bench().read_entry(0, 0, 0, 0, bytes), status_of(EngineStatus::bad_buffer));
      case Kind::send:
        return bench().post(0, 0, bench().send_entry(0, 1, 0, 0, bytes), dead);
      default:
        auto entry = bench().write_entry(0, 1, 0, 0, bytes);
        if (needs_recv()) entry.opcode = code_of(Opcode::write_imm);
        bench().post(0, 0, entry, dead);
    }
  }
  void change_region() {
    const auto number = static_cast<uint8_t>(into_a_buffer() ? 2 * NicBench::owners : 1);
    auto region = NicBench::usual_setup().regions[number];
    if (std::get<1>(GetParam()) == Change::closed) {
      region.remote_write = region.remote_read = region.receive = false;
    } else {
      region.limit = region.base + 8 * payload;
    }
    node(1).driver().set_region(number, region);
  }
};

TEST_P(NicRacesRegion, TransferEndsAndNothingMoreIsWritten) {
  build(config(), hasty());
  begin();
  run_until(1, Outcome::advance, 10);
  change_region();
  run_until(1, std::get<1>(GetParam()) == Change::closed ? Outcome::drop_key : Outcome::drop_region);
  wait_until(
      [&] {
        bench().collect_all();
        return bench().hosts[0].rings[0].wanted.empty();
      },
      "end of the sender");
  run_until(1, Outcome::reclaim);
  if (needs_recv()) abandon(1, 0);
  bench().expect_settled();
  const uint64_t base = into_a_buffer() ? NicBench::buffers_of(0) : NicBench::target_of(0);
  const uint64_t source =
      std::get<0>(GetParam()) == Kind::read ? NicBench::target_of(0) : NicBench::source_of(0);
  EXPECT_FALSE(bench().memory(1).equals(base, bench().memory(0).read(source, bytes)));
}

INSTANTIATE_TEST_SUITE_P(Forms, NicRacesRegion,
                         testing::Combine(testing::Values(Kind::write, Kind::imm, Kind::send, Kind::read),
                                          testing::Values(Change::closed, Change::shorter)));

TEST_F(NicRaces, BufferWhoseRegionCloseEndsWithTheNextMessage) {
  build(config(), hasty());
  bench().post(1, 0, bench().recv_entry(0, 0, 512), status_of(EngineStatus::bad_buffer));
  bench().post(1, 0, bench().recv_entry(0, 1024, 512));
  run_until(1, Outcome::wait, 2);
  const auto number = static_cast<uint8_t>(2 * NicBench::owners);
  auto region = NicBench::usual_setup().regions[number];
  region.base += 1024;  // the second one is in it still
  node(1).driver().set_region(number, region);
  bench().run(500);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 512));
  bench().expect_settled();
  EXPECT_EQ(outcomes(1, Outcome::refuse_buffer), 1u);
}

/// Between the look of the inbox and that of the receiver.
TEST_F(NicRaces, RegionOpensWhileARequestIsUnderWay) {
  build();
  auto setup = NicBench::usual_setup();
  const driver::RdmaRegion open = setup.regions[1];
  driver::RdmaRegion closed = open;
  closed.remote_write = closed.remote_read = false;
  Header request = request_of(stranger, 1, 0, 0, 64);
  rdma::set_flag(request, TransferFlag::imm);
  uint64_t refused = 0;
  for (unsigned lag = 0; lag < 120 && !bench().failed(); ++lag) {
    node(1).driver().set_region(1, closed);
    bench().run(150);
    node(1).driver().set_region(1, open);
    bench().run(lag);
    request.msgid = lag;
    receive(1, request);
    ++refused;
    wait_until(
        [&] {
          return outcomes(1, Outcome::refuse_key) + outcomes(1, Outcome::drop_asked) +
                     outcomes(1, Outcome::refuse_not_ready) >=
                 refused;
        },
        "outcome of the request");
  }
  EXPECT_GE(outcomes(1, Outcome::refuse_key), 1u) << "closed all the time";
  EXPECT_GE(outcomes(1, Outcome::drop_asked), 1u) << "opened meanwhile";
  EXPECT_GE(outcomes(1, Outcome::refuse_not_ready), 1u) << "open all the time";
  bench().expect_settled();
}

// --- no room for a control packet

class NicRacesRoom : public NicRaces, public testing::WithParamInterface<Kind> {};

TEST_P(NicRacesRoom, AllHasComeWithoutRoomForDone) {
  build(far_away());
  constexpr uint32_t bytes = 30 * payload;  // the sender needs no ACK for them
  if (GetParam() != Kind::read) {
    bench().post(1, 0, bench().recv_entry(0, 0, bytes));
    run_until(1, Outcome::wait);
    auto entry = GetParam() == Kind::send ? bench().send_entry(0, 1, 0, 0, bytes)
                                          : bench().write_entry(0, 1, 0, 0, bytes);
    if (GetParam() == Kind::imm) entry.opcode = code_of(Opcode::write_imm);
    bench().post(0, 0, entry);
  } else {
    bench().post(1, 0, bench().read_entry(0, 0, 0, 0, bytes));
  }
  run_until(0, Outcome::granted);
  fill_answers(1);
  run_until(1, Outcome::finish);
  EXPECT_EQ(outcomes(0, Outcome::complete), 0u);
  node(1).stall_output(false);
  bench().expect_settled();
  EXPECT_GE(outcomes(1, Outcome::done_again), 1u) << "there was room for DONE";
}

INSTANTIATE_TEST_SUITE_P(Forms, NicRacesRoom, testing::Values(Kind::imm, Kind::send, Kind::read));

TEST_F(NicRaces, AnswerThatCannotBeGrantedComesAgain) {
  build(far_away());
  bench().post(1, 0, bench().read_entry(0, 0, 0, 0, 512));
  run_until(0, Outcome::read_taken);
  fill_answers(1);
  run_until_ticket(1, Ticket::State::taken);
  run_until_ticket(1, Ticket::State::waiting);
  EXPECT_EQ(outcomes(1, Outcome::grant), 0u);
  node(1).stall_output(false);
  bench().expect_settled();
  expect_bytes(0, NicBench::target_of(0), 1, NicBench::buffers_of(0), 512);
}

TEST_F(NicRaces, AnswerThatFindsNoContextComesAgain) {
  build(config(), hasty());
  take_all_contexts(1);
  bench().post(1, 0, bench().read_entry(0, 0, 0, 0, 512));
  run_until(1, Outcome::refuse_no_context);
  EXPECT_EQ(outcomes(1, Outcome::reclaim), 0u);
  bench().expect_settled();
  expect_bytes(0, NicBench::target_of(0), 1, NicBench::buffers_of(0), 512);
}

TEST_F(NicRaces, ReadWhoseAnswersFindNoContextEnds) {
  auto setup = hasty();
  setup.max_busy = 2;
  build(config(), setup);
  take_all_contexts(1);
  const uint64_t strangers = outcomes(1, Outcome::refuse_no_context);
  bench().post(1, 0, bench().read_entry(0, 0, 0, 0, 512), status_of(EngineStatus::remote_busy));
  for (unsigned n = 0; n < 1000 && !bench().all_completed() && !bench().failed(); ++n) {
    take_all_contexts(1);  // those that were reclaimed
    bench().run(20);
    bench().collect_all();
  }
  EXPECT_EQ(outcomes(1, Outcome::refuse_no_context) - strangers, setup.max_busy + 1u);
  bench().expect_settled();
  expect_untouched(1, NicBench::buffers_of(0), 512);
}

TEST_F(NicRaces, CompletionComesWithoutRoomForRelease) {
  build(far_away());
  bench().post(0, 0, bench().write_entry(0, 1, 0, 0, 512));
  run_until(1, Outcome::finish);
  node(0).stall_output(true);
  Header stale = header_to_zero(Ptype::done);
  stale.src = 1;
  stale.sid = 7;
  for (unsigned n = 0; n < 60; ++n) receive(0, stale);
  run_until(0, Outcome::complete);
  EXPECT_GE(outcomes(0, Outcome::stale), 60u);
  const uint64_t stale_before = outcomes(0, Outcome::stale);
  node(0).stall_output(false);
  bench().expect_settled();
  EXPECT_GT(outcomes(0, Outcome::stale), stale_before) << "RELEASE was sent at once";
}

TEST_F(NicRaces, ReadsWithoutRoomAreRepeatedOrEnd) {
  build();
  node(0).stall_output(true);
  const uint32_t tickets = find_rdma_build("nic_full")->params.n_tickets;
  const uint8_t unheard = status_of(EngineStatus::no_answer);
  for (uint32_t n = 0; n < tickets; ++n)
    bench().post(0, 0, bench().read_entry(0, 1, 0, 512 * n, 512), unheard);
  run_until(0, Outcome::give_up_read, tickets);
  EXPECT_GE(outcomes(0, Outcome::retry_read), 3 * tickets);
  bench().collect_all();
  bench().post(0, 0, bench().read_entry(0, 1, 0, 0, 512));
  run_until(0, Outcome::ask, tickets + 1);
  node(0).stall_output(false);
  bench().expect_settled();
  expect_bytes(1, NicBench::target_of(0), 0, NicBench::buffers_of(0), 512);
}

// --- software has its memory back, and there are still packets to be sent from it

class NicRacesAfter : public NicRaces {
 protected:
  static constexpr uint32_t bytes = 100 * payload;

  /// Nothing leaves node 0, so packets wait in its queues until their transfer ends; then its source changes.
  void end_and_change_source() {
    wait_until(
        [&] {
          bench().collect_all();
          return bench().hosts[0].rings[0].wanted.empty();
        },
        "completion");
    bench().fill(0, NicBench::source_of(0), bytes);
    node(0).stall_output(false);
  }
  /// Every packet there is is one of the source as it was.
  void expect_only_old_bytes(uint64_t address) {
    for (uint32_t at = 0; at < bytes; at += payload) {
      const auto seen = bench().memory(1).read(address + at, payload);
      const bool untouched = std::ranges::count(seen, 0) == payload;
      EXPECT_TRUE(untouched || std::ranges::equal(seen, std::span(before_).subspan(at, payload))) << at;
    }
  }
  void remember_source() { before_ = bench().memory(0).read(NicBench::source_of(0), bytes); }

  std::vector<uint8_t> before_;
};

TEST_F(NicRacesAfter, GivenUpMessageIsNotEndedWithNewBytes) {
  auto setup = NicBench::usual_setup();
  setup.tx_dead = 100;  // far less than receivers ask in vain
  setup.max_retry = 0;
  build(config(), setup);
  remember_source();
  bench().post(1, 0, bench().recv_entry(0, 0, bytes), no_status);
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, bytes), status_of(EngineStatus::dead_peer));
  run_until(0, Outcome::send, 20);
  node(0).stall_output(true);
  end_and_change_source();
  abandon(1, 0);
  bench().expect_settled();
  expect_only_old_bytes(NicBench::buffers_of(0));
}

TEST_F(NicRacesAfter, RepeatsThatWaitWhenATransferIsDoneAreNotSentAnew) {
  build(far_away());
  remember_source();
  Header ask = header_to_zero(Ptype::resend);
  bench().system.tamper_with([&](Bytes& packet) {
    const Header header = header_in(packet);
    if (header.ptype != static_cast<uint8_t>(Ptype::data)) return;
    ask.src = 1;
    ask.sid = header.sid;
    ask.msgid = header.msgid;
    ask.cid = header.cid;
    ask.gen = header.gen;
  });
  bench().post(0, 0, bench().write_entry(0, 1, 0, 0, bytes));
  run_until(1, Outcome::finish);
  node(0).stall_output(true);
  for (uint32_t n = 0; n < 40; ++n) {
    ask.pidx = n;
    receive(0, ask);
  }
  run_until(0, Outcome::complete);
  EXPECT_GE(outcomes(0, Outcome::resend_one), 4u);
  end_and_change_source();
  bench().expect_settled();
  expect_only_old_bytes(NicBench::target_of(0));
}

// --- a queue closes

TEST_F(NicRaces, QueueClosesUnderATicketThatGoesBack) {
  build(config(), hasty());
  bench().post(1, 0, bench().recv_entry(0, 0, 4096));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 4096), no_status);
  run_until(1, Outcome::advance);
  halt(0);
  run_until_ticket(1, Ticket::State::bound);
  bench().disable(1, 0);
  EXPECT_EQ(outcomes(1, Outcome::returned), 1u);
  EXPECT_EQ(outcomes(1, Outcome::cancel), 1u);
  bench().expect_settled();
}

/// While a message is being decided: at each clock of that.
TEST_F(NicRaces, QueueClosesUnderATicketThatIsNotGranted) {
  build();
  fill_answers(1);
  bench().run(300);
  Header message = header_to_zero(Ptype::rqt);
  message.src = stranger;
  message.dst = 1;
  message.pidx = 64;
  message.gen = 2;
  message.cid = NicBench::queue_key(2);
  rdma::set_flag(message, TransferFlag::send);
  unsigned closed_under = 0;
  for (unsigned lag = 0; lag < 60 && !bench().failed(); ++lag) {
    bench().enable(1, 2, 0);
    bench().post(1, 2, bench().recv_entry(0, 0, 512));
    run_until_ticket(1, Ticket::State::waiting);
    disable_at_once(1, 2);
    bench().run(lag);
    message.msgid = lag;
    receive(1, message);
    bool seen = false;
    bench().system.run_until(
        [&] {
          seen |= ticket_in(1, Ticket::State::taken).has_value() && !inbox(1).is_open(2);
          return state(1, 2) == queue_formats::QueueState::off;
        },
        1000);
    closed_under += seen;
    EXPECT_EQ(inbox(1).free_tickets(), find_rdma_build("nic_full")->params.n_tickets);
    bench().hosts[1].rings[2].enabled = false;
  }
  EXPECT_GE(closed_under, 1u);
  node(1).stall_output(false);
  bench().expect_settled();
}

// --- requests that cannot be, of sizes that other tests do not have

TEST_F(NicRaces, BufferOfMorePacketsThanThereAreNumbersEnds) {
  auto setup = NicBench::usual_setup();
  auto& region = setup.regions[2 * NicBench::owners];
  region.limit = region.base + (uint64_t{1} << 24);
  build(config(), setup);
  const uint64_t most = (uint64_t{1} << 16) - 1;  // packets
  bench().post(1, 0, bench().recv_entry(0, 0, static_cast<uint32_t>(most * payload + 1)),
               status_of(EngineStatus::bad_length));
  bench().post(1, 0, bench().recv_entry(0, 0, static_cast<uint32_t>(most * payload)));
  run_until(1, Outcome::wait);
  bench().post(0, 0, bench().send_entry(0, 1, 0, 0, 64));
  bench().expect_settled();
}

TEST_F(NicRaces, KeysWiderThanAnyAreRefusedAtHome) {
  build();
  for (const auto opcode : {Opcode::write, Opcode::write_imm, Opcode::send, Opcode::read}) {
    auto wide = opcode == Opcode::send   ? bench().send_entry(0, 1, 0, 0, 64)
                : opcode == Opcode::read ? bench().read_entry(0, 1, 0, 0, 64)
                                         : bench().write_entry(0, 1, 0, 0, 64);
    wide.opcode = code_of(opcode);
    wide.remote_key |= 1u << 24;
    bench().post(0, 0, wide, status_of(EngineStatus::bad_key));
  }
  bench().expect_settled();
  EXPECT_EQ(outcomes(0, Outcome::submit) + outcomes(0, Outcome::ask), 0u);
}

TEST_F(NicRaces, RequestsForMisalignedPlacesAreRefused) {
  build();
  for (const bool imm : {false, true}) {
    Header request = request_of(stranger, 1, 0, imm, 64);
    request.arg += payload / 2;
    if (imm) rdma::set_flag(request, TransferFlag::imm);
    receive(1, request);
  }
  run_until(1, Outcome::refuse_align, 2);
  bench().expect_settled();
}

/// The first of a whole window and one packet comes last.
TEST_F(NicRaces, OnePacketFinishesAWholeWindow) {
  build();
  bool held = false;
  std::optional<Bytes> first;
  bench().system.tamper_with([&](Bytes& packet) {
    const Header header = header_in(packet);
    if (held || header.ptype != static_cast<uint8_t>(Ptype::data)) return;
    held = true;
    first = packet;
    packet.back() ^= 1;  // its CRC is wrong now
  });
  constexpr uint32_t bytes = (window + 1) * payload;
  bench().post(0, 0, bench().write_entry(0, 1, 0, 0, bytes));
  run_until(1, Outcome::accept, window);
  ASSERT_TRUE(first.has_value());
  node(1).receive(*first);
  bench().expect_settled();
  EXPECT_EQ(outcomes(1, Outcome::advance), 0u);
  expect_bytes(0, NicBench::source_of(0), 1, NicBench::target_of(0), bytes);
}

}  // namespace
}  // namespace weft::tb
