// SPDX-License-Identifier: Apache-2.0
// rdma_inbox at its ports: in lockstep with the golden model under random posts, requests, refusals, events
// of the receiver, pauses and resets; what waits for what.
#include <functional>
#include <iostream>

#include "Vrdma_inbox.h"
#include "Vwide_inbox.h"
#include "rdma_inbox_traffic.hpp"

namespace weft::rtl_test {
namespace {

using rdma::TicketKind;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Status;
using Flag = rdma::formats::TransferFlag;
using Kind = rdma::Admission::Kind;

/// Top: rdma_inbox in one of its builds.
template <typename Top>
class AnyInbox : public testing::Test {
 protected:
  explicit AnyInbox(const rdma::Params& params) : inbox_(params) {}

  void expect_all_outcomes();
  void expect_all_requests();
  void expect_all_statuses();
  void random_paces();
  void random_clock();
  void random_phase(unsigned clocks);
  void open_queues();
  void drain();

  void random_course(unsigned phases);

  InboxLockstep<Top> inbox_;
  Bench<Top>& bench_ = inbox_.bench();
  InboxTraffic<Top> traffic_{inbox_};
  struct {
    unsigned posts, rqts, rsps, completions, control, requests, stray_errors;  // percent
    unsigned queue_changes, region_changes;                                    // of 1000
    unsigned percent_open;
    unsigned tick;  // clocks, 0: time stands still
  } paces_{};
};

using Lockstep = InboxLockstep<Vrdma_inbox>;
using Traffic = InboxTraffic<Vrdma_inbox>;

class RdmaInbox : public AnyInbox<Vrdma_inbox> {
 protected:
  RdmaInbox() : AnyInbox(inbox_params()) {}
};

/// All numbers as wide as headers and registers have them.
class RdmaInboxWide : public AnyInbox<Vwide_inbox> {
 protected:
  RdmaInboxWide() : AnyInbox(widest(inbox_params())) { inbox_.receiver().spread = 0x2491; }
};

template <typename Top>
void AnyInbox<Top>::random_paces() {
  paces_ = {bench_.pace(),
            bench_.pace() / 2,
            bench_.pace() / (bench_.chance(90) ? 20 : 1),
            bench_.pace(),
            bench_.pace(),
            bench_.pace(),
            bench_.chance(20) ? 3u : 0u,
            bench_.chance(50) ? 5u : 0u,
            bench_.chance(50) ? 5u : 0u,
            bench_.chance(80) ? 90u : 50u,
            static_cast<unsigned>(bench_.below(bench_.chance(50) ? 4 : 40))};
  auto& paces = inbox_.receiver().paces;
  paces.decide = 5 + bench_.pace() / 2;
  paces.grant = bench_.chance(30) ? 10 : 90;
  paces.write = bench_.pace();
  paces.end = std::array{0u, 1u, 3u, 10u, 25u}[bench_.below(5)];
  paces.lose = std::array{0u, 1u, 3u, 10u}[bench_.below(4)];
  paces.answer = bench_.pace();
  paces.error = bench_.chance(50) ? 10 : 0;
  paces.busy = 5;
  paces.delay = static_cast<unsigned>(bench_.chance(50) ? 0 : bench_.below(30));
  inbox_.turn_away = bench_.chance(50);
}

template <typename Top>
void AnyInbox<Top>::random_clock() {
  if (!inbox_.post && bench_.chance(paces_.posts)) inbox_.post = traffic_.post();
  if (!inbox_.rqt && bench_.chance(paces_.rqts)) inbox_.rqt = traffic_.rqt();
  if (!inbox_.rsp && bench_.chance(paces_.rsps)) inbox_.rsp = traffic_.rsp();
  inbox_.cpl_ready = bench_.chance(paces_.completions);
  inbox_.ctl_ready = bench_.chance(paces_.control);
  inbox_.req_ready = bench_.chance(paces_.requests);
  if (bench_.chance(paces_.stray_errors))
    inbox_.stray_error = static_cast<uint16_t>(bench_.below(8) * inbox_.receiver().spread);
  if (bench_.below(1000) < paces_.queue_changes) inbox_.queue_set = traffic_.queue_set(paces_.percent_open);
  if (bench_.below(1000) < paces_.region_changes) {
    const auto number = static_cast<uint8_t>(bench_.below(inbox_.params().n_regions));
    inbox_.config.regions[number] = traffic_.region(number);
  }
  if (bench_.below(5000) == 0)
    inbox_.number = static_cast<uint32_t>(bench_.below(1u << inbox_.params().msgid_bits));
  if (paces_.tick != 0 && bench_.below(paces_.tick) == 0) ++inbox_.now;
  inbox_.clock();
}

template <typename Top>
void AnyInbox<Top>::random_phase(unsigned clocks) {
  random_paces();
  for (unsigned n = 0; n < clocks && !HasFatalFailure(); ++n) random_clock();
}

template <typename Top>
void AnyInbox<Top>::open_queues() {
  for (uint8_t queue = 0; queue < inbox_queues; ++queue) {
    inbox_.queue_set = traffic_.opened(queue);
    inbox_.clock();
  }
}

/// All queues are closed, all transfers end: no ticket is left.
template <typename Top>
void AnyInbox<Top>::drain() {
  inbox_.cpl_ready = inbox_.ctl_ready = inbox_.req_ready = true;
  inbox_.receiver().paces = {100, 100, 20, 50, 20, 100, 0, 0, 0};
  for (uint8_t queue = 0; queue < inbox_queues; ++queue) {
    inbox_.queue_set = QueueSet{queue, false, 0};
    inbox_.clock();
  }
  inbox_.clocks(10);  // until the model knows
  inbox_.give_inputs(1000);
  for (unsigned n = 0; !inbox_.nothing_left() && !HasFatalFailure(); ++n) {
    ASSERT_LT(n, 5000u) << "clocks and there are still " << inbox_tickets - inbox_.golden().free_tickets()
                        << " tickets";
    inbox_.clock();
  }
  inbox_.clocks(30);
}

// Lockstep

template <typename Top>
void AnyInbox<Top>::expect_all_outcomes() {
  for (const Outcome outcome :
       {Outcome::wait, Outcome::ask, Outcome::reject_closed, Outcome::reject_node, Outcome::reject_length,
        Outcome::reject_align, Outcome::reject_address, Outcome::reject_buffer, Outcome::reject_ticket,
        Outcome::retry_read, Outcome::give_up_read, Outcome::backoff_read, Outcome::refused_read,
        Outcome::drop_old_read, Outcome::arrived, Outcome::returned, Outcome::cancel}) {
    EXPECT_GE(inbox_.outcomes[outcome], 10u) << name(outcome);
  }
}

template <typename Top>
void AnyInbox<Top>::expect_all_requests() {
  for (const Outcome refusal : {Outcome::refuse_queue, Outcome::refuse_not_ready, Outcome::refuse_too_long,
                                Outcome::refuse_not_wanted}) {
    EXPECT_GE(inbox_.refusals[refusal], 10u) << name(refusal);
  }
  for (const Kind kind :
       {Kind::none, Kind::with_ticket, Kind::buffer, Kind::again, Kind::refuse, Kind::drop}) {
    EXPECT_GE(inbox_.admissions[kind], 10u) << static_cast<int>(kind);
  }
  for (const Outcome decision : {Outcome::grant, Outcome::refuse_buffer, Outcome::refuse_quota,
                                 Outcome::refuse_no_context, Outcome::drop_busy, Outcome::refuse_key}) {
    EXPECT_GE(inbox_.decisions[decision], 10u) << name(decision);
  }
}

template <typename Top>
void AnyInbox<Top>::expect_all_statuses() {
  for (const Status status :
       {Status::ok, Status::local_error, Status::bad_buffer, Status::remote_busy, Status::dead_peer,
        Status::no_answer, Status::cancelled, Status::no_ticket, Status::bad_key, Status::bad_region,
        Status::misaligned, Status::bad_length, Status::bad_node, Status::bad_address}) {
    EXPECT_GE(inbox_.statuses[status], 3u) << name(status);
  }
}

template <typename Top>
void AnyInbox<Top>::random_course(unsigned phases) {
  inbox_.reset(traffic_.config());
  open_queues();
  for (unsigned n = 0; n < phases && !HasFatalFailure(); ++n) {
    if (bench_.chance(20)) {
      auto settings = traffic_.config();
      settings.regions = inbox_.config.regions;
      inbox_.config = settings;
    }
    random_phase(500);
    if (n % 10 == 9) {
      drain();
      open_queues();
    }
  }
}

TEST_F(RdmaInbox, LockstepUnderRandomEvents) {
  random_course(1000);
  expect_all_outcomes();
  expect_all_requests();
  expect_all_statuses();
  EXPECT_GE(inbox_.dropped, 10u) << "READs without room";
  EXPECT_GE(inbox_.turned_away, 10u);
  EXPECT_GE(inbox_.rsps_turned_away, 10u);
  EXPECT_GE(inbox_.immediates, 10u);
  EXPECT_EQ(inbox_.completed, inbox_.posted);
}

TEST_F(RdmaInbox, ResetInTheMiddle) {
  for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
    inbox_.reset(traffic_.config());
    open_queues();
    random_phase(static_cast<unsigned>(bench_.below(600)));
  }
}

TEST_F(RdmaInboxWide, LockstepUnderRandomEvents) {
  random_course(1000);
  expect_all_outcomes();
  expect_all_requests();
  expect_all_statuses();
}

// What waits, and for what

class RdmaInboxDirected : public RdmaInbox {
 protected:
  void SetUp() override {
    auto settings = traffic_.config();
    settings.tx_retry = 20;
    settings.max_retry = 2;
    settings.ticket_quota = 0;
    settings.regions = {{0x10000, 0x20000, 7, true, false, false, 1},
                        {0x20000, 0x30000, 8, false, false, true}};
    inbox_.reset(settings);
    open_queues();
    inbox_.receiver().paces = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  }

  static rdma::TicketPost recv(uint32_t bytes, uint8_t queue = 1) {
    return {TicketKind::recv, queue, 0x77, 0x20000, bytes, {1, 8}, 0, 0, {}};
  }
  static rdma::TicketPost read(uint32_t bytes) {
    return {TicketKind::read, 1, 0x78, 0x20040, bytes, {1, 8}, 5, 0x100, {3, 9}};
  }
  static Header rqt(Flag flag, uint16_t sid) {
    Header header;
    header.ptype = static_cast<uint8_t>(rdma::formats::Ptype::rqt);
    rdma::set_flag(header, flag);
    header.dst = Traffic::node;
    header.src = 5;
    header.sid = sid;
    header.msgid = 9;
    return header;
  }
  static Header send(uint32_t bytes, uint16_t sid) {
    Header header = rqt(Flag::send, sid);
    header.gen = 1;
    header.cid = Traffic::opened(1).key;
    header.pidx = bytes;
    return header;
  }
  static Header write(uint32_t bytes, uint16_t sid) {
    Header header = rqt(Flag::imm, sid);
    header.gen = 0;
    header.cid = 7;
    header.arg = 0x10080;
    header.pidx = bytes;
    return header;
  }

  void give(const rdma::TicketPost& post) {
    inbox_.post = post;
    inbox_.give_inputs();
    inbox_.clocks(10);
  }
  void give(const Header& request) {
    inbox_.rqt = request;
    inbox_.give_inputs();
    inbox_.clocks(20);
  }
  void once(unsigned& pace) {
    pace = 100;
    inbox_.clock();
    pace = 0;
    inbox_.clocks(10);
  }
  void grant() {
    auto& paces = inbox_.receiver().paces;
    paces.grant = 100;
    once(paces.decide);
  }

  /// The only one so far.
  rdma::TicketCompletion completion() {
    inbox_.clocks(20);
    EXPECT_EQ(inbox_.completions.size(), 1u);
    return inbox_.completions.empty() ? rdma::TicketCompletion{} : inbox_.completions.front();
  }

  InboxReceiver<Bench<Vrdma_inbox>>::Paces& paces_of_receiver_ = inbox_.receiver().paces;
};

TEST_F(RdmaInboxDirected, SendCompletesWhenMemoryHasAnsweredAll) {
  give(recv(500));
  give(send(300, 4));
  grant();
  once(paces_of_receiver_.write);
  once(paces_of_receiver_.end);
  inbox_.clocks(500);
  EXPECT_EQ(inbox_.completed, 0u) << "memory has not answered";
  once(paces_of_receiver_.answer);
  inbox_.clocks(100);
  EXPECT_EQ(inbox_.completed, 0u) << "memory has answered one of two";
  once(paces_of_receiver_.answer);
  const auto end = completion();
  EXPECT_EQ(end.status, Status::ok);
  EXPECT_EQ(end.bytes, 300u);
  EXPECT_EQ(end.node, 5u);
  EXPECT_EQ(end.tag, 0x77);
}

TEST_F(RdmaInboxDirected, WriteWithImmediateUsesATicketWithoutBytes) {
  give(recv(0));
  give(write(100, 4));
  EXPECT_EQ(inbox_.admissions[Kind::with_ticket], 1u);
  grant();
  once(paces_of_receiver_.end);
  paces_of_receiver_.answer = 100;
  const auto end = completion();
  EXPECT_EQ(end.status, Status::ok);
  EXPECT_EQ(end.form, rdma::Form::immediate);
  EXPECT_EQ(end.bytes, 100u);
}

TEST_F(RdmaInboxDirected, WriteErrorMakesLocalError) {
  paces_of_receiver_.error = 100;
  give(recv(500));
  give(send(300, 4));
  grant();
  once(paces_of_receiver_.end);
  paces_of_receiver_.answer = 100;
  EXPECT_EQ(completion().status, Status::local_error);
}

TEST_F(RdmaInboxDirected, DuplicateIsAnsweredAgainUntilItsContextIsOver) {
  give(recv(500));
  give(recv(500));
  give(send(300, 4));
  grant();
  for (unsigned n = 0; n < 3; ++n) {
    give(send(300, 4));
    once(paces_of_receiver_.decide);
  }
  EXPECT_EQ(inbox_.admissions[Kind::again], 3u);
  once(paces_of_receiver_.lose);
  give(send(300, 4));
  EXPECT_EQ(inbox_.admissions[Kind::buffer], 2u) << "a second grant";
  EXPECT_EQ(inbox_.outcomes[Outcome::returned], 1u);
}

/// So many at once, and so often, that some look alike to any fingerprint of them.
TEST_F(RdmaInboxDirected, EveryMessageIsToldFromAllOthers) {
  const uint16_t bound = inbox_tickets - 2;
  for (unsigned n = 0; n < bound; ++n) give(recv(500));
  for (unsigned round = 1; round <= 150 && !HasFatalFailure(); ++round) {
    std::vector<Header> requests;
    for (uint16_t n = 0; n < bound; ++n) {
      requests.push_back(send(300, static_cast<uint16_t>(2 * n + bench_.below(2))));
      requests.back().src = static_cast<uint16_t>(bench_.below(16));
      requests.back().msgid = static_cast<uint32_t>(bench_.below(64));
      give(requests.back());
      grant();
    }
    ASSERT_EQ(inbox_.admissions[Kind::buffer], round * bound);
    for (const Header& request : requests) {
      give(request);
      once(paces_of_receiver_.decide);
    }
    ASSERT_EQ(inbox_.admissions[Kind::again], round * bound);
    for (unsigned n = 0; n < bound; ++n) once(paces_of_receiver_.lose);
    inbox_.clocks(100);
  }
}

TEST_F(RdmaInboxDirected, ATicketThatIsNotGrantedIsUsedNext) {
  give(recv(100));
  paces_of_receiver_.grant = 0;
  for (unsigned n = 0; n < 20; ++n) {
    give(recv(500));
    const uint16_t first = inbox_.golden().list(1).front();
    give(send(80, 4));
    EXPECT_EQ(inbox_.golden().ticket(first).state, rdma::Ticket::State::taken);
    const unsigned ended = inbox_.decisions[Outcome::refuse_buffer];
    once(paces_of_receiver_.decide);
    if (inbox_.decisions[Outcome::refuse_buffer] == ended) {
      EXPECT_EQ(inbox_.golden().list(1).front(), first);
    }
  }
}

TEST_F(RdmaInboxDirected, ARequestWaitsWhenTheReceiverHasManyAllElseGoesOn) {
  const auto many = static_cast<uint16_t>(Lockstep::undecided);
  for (uint16_t n = 0; n <= many; ++n) give(recv(500));
  for (uint16_t n = 0; n <= many; ++n) give(send(300, n));
  inbox_.clocks(200);
  EXPECT_EQ(inbox_.admissions[Kind::buffer], many) << "none is decided";
  give(read(200));
  inbox_.now = static_cast<uint16_t>(inbox_.now + 20);
  inbox_.clocks(50);
  EXPECT_EQ(inbox_.outcomes[Outcome::retry_read], 1u);
  grant();
  inbox_.clocks(20);
  EXPECT_EQ(inbox_.admissions[Kind::buffer], many + 1u);
}

TEST_F(RdmaInboxDirected, AQueueGetsAnotherKeyWhileARequestIsLookedAt) {
  const auto set = [&](bool open, uint16_t key) { inbox_.queue_set = QueueSet{2, open, key}; };
  for (unsigned n = 0; n < 48 && !HasFatalFailure(); ++n) {
    const std::array<uint16_t, 2> keys{static_cast<uint16_t>(2 * n), static_cast<uint16_t>(2 * n + 1)};
    set(true, keys[0]);
    inbox_.clock();
    set(false, 0);
    inbox_.rqt = send(300, 4);
    inbox_.rqt->gen = 2;
    inbox_.rqt->cid = keys[n % 2];
    inbox_.clocks(1 + n / 4);
    set(true, keys[n % 4 / 2]);
    inbox_.clocks(20);
    once(paces_of_receiver_.decide);
    set(false, 0);
    inbox_.clock();
  }
  EXPECT_GT(inbox_.refusals[Outcome::refuse_queue], 0u);
  EXPECT_GT(inbox_.refusals[Outcome::refuse_not_ready], 0u);
}

TEST_F(RdmaInboxDirected, RqtFindsNoRoomWhenTheQueueIsFull) {
  inbox_.turn_away = true;
  for (unsigned n = 0; n < 20; ++n) give(send(300, 4));
  EXPECT_EQ(inbox_.turned_away, 20 - Lockstep::undecided - Lockstep::rqt_depth)
      << "four are at the receiver, eight wait";
}

TEST_F(RdmaInboxDirected, PostsWaitForPlacesOfCompletionsOnly) {
  inbox_.cpl_ready = false;
  rdma::TicketPost bad = recv(500);
  bad.rkey.key = 1;
  for (unsigned n = 0; n < 2 * inbox_tickets; ++n) give(bad);
  inbox_.post = bad;
  inbox_.clocks(200);
  EXPECT_TRUE(inbox_.post);
  inbox_.cpl_ready = true;
  inbox_.give_inputs(10);
}

TEST_F(RdmaInboxDirected, TimeoutsCancelsAndLeavesGoOnUnderAFloodOfOtherEvents) {
  inbox_.turn_away = true;
  paces_of_receiver_ = {100, 100, 50, 5, 5, 50, 10, 5, 0};
  paces_ = {100, 100, 100, 100, 100, 100, 0, 5, 0, 90, 3};
  for (unsigned n = 0; n < 80'000 && !HasFatalFailure(); ++n) random_clock();
  for (const Outcome outcome : {Outcome::retry_read, Outcome::cancel, Outcome::arrived, Outcome::returned}) {
    EXPECT_GE(inbox_.outcomes[outcome], 1u) << name(outcome);
  }
}

TEST_F(RdmaInboxDirected, ARqtTakesEightClocks) {
  give(recv(500));
  inbox_.rqt = send(300, 4);
  inbox_.clock();
  ASSERT_FALSE(inbox_.rqt) << "taken at once";
  for (unsigned n = 0; n < 7; ++n) {
    inbox_.clock();
    EXPECT_EQ(inbox_.admissions[Kind::buffer], 0u) << n;
  }
  inbox_.clock();
  EXPECT_EQ(inbox_.admissions[Kind::buffer], 1u);
}

// How many clocks a message costs

/// What the receiver needs for a request (docs/rdma_receiver.md): 12 clocks.
class RdmaInboxRate : public RdmaInboxDirected {
 protected:
  void SetUp() override {
    RdmaInboxDirected::SetUp();
    paces_of_receiver_ = {100, 100, 0, 0, 0, 100, 0, 0, 12};
  }

  /// There is always a next RECV and a next RQT, and whatever is granted ends soon.
  double clocks_per_message(const std::function<Header(uint16_t)>& request) {
    paces_of_receiver_.end = 40;
    uint16_t sent = 0;
    const auto run = [&](unsigned messages) {
      const unsigned end = inbox_.outcomes[Outcome::arrived] + messages;
      const uint64_t begin = bench_.cycle();
      while (inbox_.outcomes[Outcome::arrived] < end && !HasFatalFailure()) {
        if (!inbox_.post) inbox_.post = recv(500);
        if (!inbox_.rqt) inbox_.rqt = request(sent++);
        inbox_.clock();
      }
      return static_cast<double>(bench_.cycle() - begin) / messages;
    };
    run(50);
    return run(1000);
  }
};

Header numbered(Header header, uint16_t number) {
  header.sid = number % 16;
  header.msgid = number / 16 % 64;
  return header;
}

TEST_F(RdmaInboxRate, RequestsForTicketsThatAreThere) {
  for (unsigned n = 0; n < inbox_tickets; ++n) give(recv(500));
  uint64_t first = 0;
  for (uint16_t sent = 0; inbox_.admissions[Kind::buffer] < inbox_tickets && !HasFatalFailure();) {
    if (!inbox_.rqt && sent < inbox_tickets) inbox_.rqt = send(256, sent++);
    inbox_.clock();
    if (first == 0 && inbox_.admissions[Kind::buffer] == 1) first = bench_.cycle();
  }
  const double clocks = static_cast<double>(bench_.cycle() - first) / (inbox_tickets - 1);
  std::cout << "clocks from RQT to RQT: " << clocks << '\n';
  EXPECT_LE(clocks, 7.5);
}

/// RQTs and RECVs are always there, refusals in bursts as large as there is room.
TEST_F(RdmaInboxRate, RefusalsOfReadsNeverWaitInFront) {
  constexpr unsigned burst = Lockstep::rsp_depth, apart = 200;
  unsigned waits = 0, longest = 0, left = 0;
  for (unsigned n = 0; n < 50 * apart && !HasFatalFailure(); ++n) {
    if (n % apart == 0) left = burst;
    if (!inbox_.post) inbox_.post = recv(500);
    if (!inbox_.rqt) inbox_.rqt = numbered(send(256, 0), static_cast<uint16_t>(n));
    if (!inbox_.rsp && left != 0) {
      inbox_.rsp = traffic_.rsp();
      --left;
    }
    inbox_.clock();
    waits = inbox_.rsp ? waits + 1 : 0;
    longest = std::max(longest, waits);
  }
  std::cout << "clocks that a refusal of a READ waits in front: " << longest << '\n';
  EXPECT_EQ(longest, 0u);
}

TEST_F(RdmaInboxRate, SendsIntoBuffersThatArePostedMeanwhile) {
  const double clocks = clocks_per_message([&](uint16_t number) { return numbered(send(256, 0), number); });
  std::cout << "clocks a SEND, with its RECV and its completion: " << clocks << '\n';
  EXPECT_LE(clocks, 9.5);
}

TEST_F(RdmaInboxRate, WritesWithImmediate) {
  const double clocks = clocks_per_message([&](uint16_t number) { return numbered(write(256, 0), number); });
  std::cout << "clocks a write with immediate, with its RECV and its completion: " << clocks << '\n';
  EXPECT_LE(clocks, 11.5);
}

}  // namespace
}  // namespace weft::rtl_test
