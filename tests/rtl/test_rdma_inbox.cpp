// SPDX-License-Identifier: Apache-2.0
// rdma_inbox at its ports: in lockstep with the golden model under random posts, requests, refusals, events of the receiver, pauses and resets; what
// waits for what.
#include "rdma_inbox_traffic.hpp"

namespace weft::rtl_test {
namespace {

using rdma::TicketKind;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Status;
using Flag = rdma::formats::TransferFlag;
using Kind = rdma::Admission::Kind;

class RdmaInbox : public testing::Test {
 protected:
  void random_paces();
  void random_clock();
  void random_phase(unsigned clocks);
  void drain();

  InboxLockstep inbox_;
  Bench<Vrdma_inbox>& bench_ = inbox_.bench();
  InboxTraffic traffic_{inbox_};
  struct {
    unsigned posts, rqts, rsps, completions, control, requests, stray_errors;  // percent
    unsigned queue_changes, region_changes;                                    // of 1000
    unsigned percent_open;
    unsigned tick;  // clocks, 0: time stands still
  } paces_{};
};

void RdmaInbox::random_paces() {
  paces_ = {bench_.pace(), bench_.pace() / 2, bench_.pace() / 5, bench_.pace(), bench_.pace(), bench_.pace(), bench_.chance(20) ? 3u : 0u,
            bench_.chance(50) ? 5u : 0u, bench_.chance(50) ? 5u : 0u, bench_.chance(80) ? 90u : 50u, static_cast<unsigned>(bench_.below(40))};
  auto& paces = inbox_.receiver().paces;
  paces.decide = 5 + bench_.pace() / 2;
  paces.grant = 20 + bench_.pace() / 2;
  paces.write = bench_.pace();
  paces.end = bench_.pace() / 4;
  paces.lose = bench_.chance(50) ? 5 : 0;
  paces.answer = bench_.pace();
  paces.error = bench_.chance(50) ? 10 : 0;
  inbox_.turn_away = bench_.chance(50);
}

void RdmaInbox::random_clock() {
  if (!inbox_.post && bench_.chance(paces_.posts)) inbox_.post = traffic_.post();
  if (!inbox_.rqt && bench_.chance(paces_.rqts)) inbox_.rqt = traffic_.rqt();
  if (!inbox_.rsp && bench_.chance(paces_.rsps)) inbox_.rsp = traffic_.rsp();
  inbox_.cpl_ready = bench_.chance(paces_.completions);
  inbox_.ctl_ready = bench_.chance(paces_.control);
  inbox_.req_ready = bench_.chance(paces_.requests);
  if (bench_.chance(paces_.stray_errors)) inbox_.stray_error = static_cast<uint16_t>(bench_.below(8));
  if (bench_.below(1000) < paces_.queue_changes) inbox_.queue_set = traffic_.queue_set(paces_.percent_open);
  if (bench_.below(1000) < paces_.region_changes) {
    const auto number = static_cast<uint8_t>(bench_.below(inbox_params().n_regions));
    inbox_.config.regions[number] = traffic_.region(number);
  }
  if (bench_.below(5000) == 0) inbox_.number = static_cast<uint16_t>(bench_.below(64));
  if (paces_.tick != 0 && bench_.below(paces_.tick) == 0) ++inbox_.now;
  inbox_.clock();
}

void RdmaInbox::random_phase(unsigned clocks) {
  random_paces();
  for (unsigned n = 0; n < clocks && !HasFatalFailure(); ++n) random_clock();
}

/// All queues are closed, all transfers end: no ticket is left.
void RdmaInbox::drain() {
  inbox_.cpl_ready = inbox_.ctl_ready = inbox_.req_ready = true;
  inbox_.receiver().paces = {100, 100, 20, 50, 20, 100, 0};
  for (uint8_t queue = 0; queue < inbox_queues; ++queue) {
    inbox_.queue_set = InboxLockstep::QueueSet{queue, false, 0};
    inbox_.clock();
  }
  inbox_.give_inputs(1000);
  for (unsigned n = 0; !inbox_.nothing_left() && !HasFatalFailure(); ++n) {
    ASSERT_LT(n, 5000u) << "clocks and there are still " << inbox_tickets - inbox_.golden().free_tickets() << " tickets";
    inbox_.clock();
  }
  inbox_.clocks(30);
}

// Lockstep

TEST_F(RdmaInbox, LockstepUnderRandomEvents) {
  inbox_.reset(traffic_.config());
  for (unsigned n = 0; n < 600 && !HasFatalFailure(); ++n) {
    if (bench_.chance(20)) {
      auto settings = traffic_.config();
      settings.regions = inbox_.config.regions;
      inbox_.config = settings;
    }
    random_phase(400);
    if (n % 20 == 19) drain();
  }
  for (const Outcome outcome :
       {Outcome::wait, Outcome::ask, Outcome::reject_closed, Outcome::reject_node, Outcome::reject_length, Outcome::reject_align,
        Outcome::reject_address, Outcome::reject_buffer, Outcome::reject_ticket, Outcome::retry_read, Outcome::give_up_read,
        Outcome::backoff_read, Outcome::refused_read, Outcome::drop_old_read, Outcome::arrived, Outcome::returned, Outcome::cancel}) {
    EXPECT_GE(inbox_.outcomes[outcome], 10u) << name(outcome);
  }
  for (const Outcome refusal :
       {Outcome::refuse_queue, Outcome::refuse_not_ready, Outcome::refuse_too_long, Outcome::refuse_not_wanted}) {
    EXPECT_GE(inbox_.refusals[refusal], 10u) << name(refusal);
  }
  for (const Kind kind : {Kind::none, Kind::with_ticket, Kind::buffer, Kind::again, Kind::refuse, Kind::drop}) {
    EXPECT_GE(inbox_.admissions[kind], 10u) << static_cast<int>(kind);
  }
  for (const Outcome decision : {Outcome::grant, Outcome::refuse_buffer, Outcome::refuse_quota, Outcome::refuse_no_context, Outcome::drop_busy,
                                 Outcome::refuse_key}) {
    EXPECT_GE(inbox_.decisions[decision], 10u) << name(decision);
  }
  for (const Status status : {Status::ok, Status::local_error, Status::bad_buffer, Status::remote_busy, Status::dead_peer, Status::no_answer,
                              Status::cancelled, Status::no_ticket, Status::bad_key, Status::bad_region, Status::misaligned, Status::bad_length,
                              Status::bad_node, Status::bad_address}) {
    EXPECT_GE(inbox_.statuses[status], 5u) << name(status);
  }
  EXPECT_GE(inbox_.dropped, 10u) << "READs without room";
  EXPECT_GE(inbox_.turned_away, 10u);
  EXPECT_GE(inbox_.immediates, 10u);
  EXPECT_EQ(inbox_.completed, inbox_.posted);
}

TEST_F(RdmaInbox, ResetInTheMiddle) {
  for (unsigned n = 0; n < 100 && !HasFatalFailure(); ++n) {
    inbox_.reset(traffic_.config());
    for (uint8_t queue = 0; queue < inbox_queues; ++queue) {
      inbox_.queue_set = InboxLockstep::QueueSet{queue, true, static_cast<uint16_t>(0x5a00 + queue)};
      inbox_.clock();
    }
    random_phase(static_cast<unsigned>(bench_.below(600)));
  }
}

}  // namespace
}  // namespace weft::rtl_test
