// SPDX-License-Identifier: Apache-2.0
// Golden model of the inbox in lockstep with that of an engine.
#include "inbox_scoreboard.hpp"

#include <fmt/format.h>

#include <utility>

namespace weft::tb {

namespace formats = rdma::formats;
using formats::Outcome;
using Kind = rdma::Admission::Kind;

namespace {

const char* event_name(InboxKind kind) {
  switch (kind) {
    case InboxKind::post:
      return "post";
    case InboxKind::rqt:
      return "RQT";
    case InboxKind::rsp:
      return "RSP";
    case InboxKind::timeout:
      return "timeout";
    case InboxKind::leave:
      return "leave";
    case InboxKind::cancel:
      return "cancel";
    case InboxKind::decided:
      return "decision";
  }
  return "?";
}

/// rdma_pkg::admit_e has them in this order.
uint8_t code_of(Kind kind) { return static_cast<uint8_t>(kind); }

template <typename T>
T take_first(std::deque<T>& queue, const char* what) {
  if (queue.empty()) throw rdma::Violation(fmt::format("an event, but no {} has come in", what));
  T first = std::move(queue.front());
  queue.pop_front();
  return first;
}

// From the clock of something to that of the first trace record that knows of it (rdma_inbox.sv).
constexpr uint64_t receiver_age = 3, queues_age = 2;

bool takes_ticket(const rdma::Admission& admission) {
  return admission.kind == Kind::buffer || admission.kind == Kind::with_ticket;
}

}  // namespace

InboxScoreboard::InboxScoreboard(const RdmaBuild& build, Reporter& reporter, ExpectedPackets& packets,
                                 OnOutcome on_outcome)
    : build_(build),
      reporter_(reporter),
      packets_(packets),
      on_outcome_(std::move(on_outcome)),
      inbox_(build.params, {}) {}

void InboxScoreboard::reset() {
  inbox_.reset();
  posts_.clear();
  requests_.clear();
  refusals_.clear();
  admitted_.clear();
  decided_.clear();
  of_receiver_.clear();
  of_queues_.clear();
}

void InboxScoreboard::queue_set(uint8_t queue, bool open, uint16_t key) {
  const auto change = [this, queue, open, key] {
    if (open) {
      inbox_.open(queue, key);
    } else {
      inbox_.close(queue);
    }
  };
  of_queues_.push_back({reporter_.cycle() + queues_age, change});
}

void InboxScoreboard::write_failed(uint16_t cid) {
  of_receiver_.push_back({reporter_.cycle() + receiver_age, [this, cid] { inbox_.write_failed(cid); }});
}

void InboxScoreboard::catch_up() {
  try {
    for (auto* changes : {&of_receiver_, &of_queues_}) {
      while (!changes->empty() && changes->front().cycle <= reporter_.cycle()) {
        const Change change = std::move(changes->front());
        changes->pop_front();
        change.apply();
      }
    }
  } catch (const rdma::Violation& violation) {
    reporter_.add(fmt::format("inbox: {}", violation.what()));
  }
}

/// What becomes of a ticket whose request was not granted.
rdma::InboxResult InboxScoreboard::golden_decision(const InboxTracePins& rtl) {
  const Decided decided = take_first(decided_, "decision of the receiver");
  rdma::InboxResult result;
  result.ticket = decided.ticket;
  result.completion = inbox_.decided(decided.ticket, decided.result, rtl.now);
  return result;
}

rdma::InboxResult InboxScoreboard::golden_request(const InboxTracePins& rtl) {
  Admitted next{take_first(requests_, "RQT"), {}};
  next.admission = inbox_.admit(next.header);
  if (code_of(next.admission.kind) != rtl.admit) {
    reporter_.add(fmt::format("inbox: RQT {}\n  expected admission {}\n  got      {}", describe(next.header),
                              code_of(next.admission.kind), rtl.admit));
  }
  rdma::InboxResult result;
  const bool names_ticket = takes_ticket(next.admission) || next.admission.kind == Kind::again;
  result.ticket = names_ticket ? next.admission.ticket : rtl.ticket;
  admitted_.push_back(next);
  return result;
}

rdma::InboxResult InboxScoreboard::golden(const InboxTracePins& rtl) {
  rdma::InboxInputs inputs{rtl.room, std::nullopt, rtl.now};
  if (rtl.offer_valid) inputs.offer = rtl.offer;
  switch (rtl.kind) {
    case InboxKind::post:
      return inbox_.post(take_first(posts_, "post"), inputs);
    case InboxKind::rqt:
      return golden_request(rtl);
    case InboxKind::rsp:
      return inbox_.packet(take_first(refusals_, "RSP"), rtl.now);
    case InboxKind::timeout:
      return inbox_.timeout(rtl.ticket, inputs);
    case InboxKind::leave:
      return inbox_.leave(rtl.now);
    case InboxKind::cancel:
      return inbox_.cancel(rtl.ticket);
    case InboxKind::decided:
      return golden_decision(rtl);
  }
  throw rdma::Violation(fmt::format("there is no event of kind {}", static_cast<unsigned>(rtl.kind)));
}

void InboxScoreboard::step(const InboxTracePins& rtl) {
  try {
    const rdma::InboxResult result = golden(rtl);
    if (static_cast<Outcome>(rtl.outcome) != result.outcome || rtl.ticket != result.ticket) {
      reporter_.add(fmt::format("inbox: {} event\n  expected {} of ticket {}\n  got      {} of ticket {}",
                                event_name(rtl.kind), formats::name(result.outcome), result.ticket,
                                formats::name(static_cast<Outcome>(rtl.outcome)), rtl.ticket));
    }
    note(result);
  } catch (const rdma::Violation& violation) {
    reporter_.add(fmt::format("inbox: {} event with outcome {}, ticket {}: {}", event_name(rtl.kind),
                              formats::name(static_cast<Outcome>(rtl.outcome)), rtl.ticket,
                              violation.what()));
  }
}

void InboxScoreboard::note(const rdma::InboxResult& result) {
  if (result.emitted) packets_.expect_inbox_control(*result.emitted);
  complete(result.completion);
  if (result.outcome != Outcome::none) on_outcome_(result.outcome, result.ctl_dropped);
}

void InboxScoreboard::complete(const std::optional<rdma::TicketCompletion>& completion) const {
  if (!completion) return;
  if (!on_completion_) return reporter_.add("inbox: a completion, but nobody posts RECVs or READs here");
  on_completion_(*completion);
}

InboxScoreboard::Admitted InboxScoreboard::next_admitted() {
  return take_first(admitted_, "request of the inbox");
}

void InboxScoreboard::retired(const rdma::RxResult& result, const formats::Header* header,
                              const Admitted* admitted) {
  const uint64_t counts_from = reporter_.cycle() + receiver_age;
  if (admitted && takes_ticket(admitted->admission)) {
    const Decided decided{admitted->admission.ticket, result};
    of_receiver_.push_back({counts_from, [this, decided] { decide(decided); }});
    return;
  }
  const bool ends = result.outcome == Outcome::finish || result.outcome == Outcome::released ||
                    result.outcome == Outcome::reclaim;
  if (!ends) return;
  const std::optional<formats::Header> copy = header ? std::optional(*header) : std::nullopt;
  of_receiver_.push_back(
      {counts_from, [this, result, copy] { inbox_.retired(result, copy ? &*copy : nullptr); }});
}

/// A grant counts at once; of everything else the inbox makes an event.
void InboxScoreboard::decide(const Decided& decided) {
  if (decided.result.outcome == Outcome::grant) {
    inbox_.decided(decided.ticket, decided.result, 0);  // looks at no timer
  } else {
    decided_.push_back(decided);
  }
}

bool InboxScoreboard::quiet() const {
  if (!posts_.empty() || !requests_.empty() || !refusals_.empty() || !admitted_.empty() ||
      !of_receiver_.empty() || !decided_.empty())
    return false;
  for (uint16_t i = 0; i < build_.params.n_tickets; ++i) {
    const rdma::Ticket& ticket = inbox_.ticket(i);
    const bool rests = ticket.state == rdma::Ticket::State::free ||
                       (ticket.state == rdma::Ticket::State::waiting &&
                        ticket.post.kind == rdma::TicketKind::recv && !inbox_.cancelled(i));
    if (!rests) return false;
  }
  return true;
}

void InboxScoreboard::check_quiet() const {
  if (quiet()) return;
  reporter_.add(
      fmt::format("inbox at the end: {} posts, {} RQT, {} RSP, {} admitted requests never led to an event; "
                  "{} tickets in use",
                  posts_.size(), requests_.size(), refusals_.size(), admitted_.size(),
                  build_.params.n_tickets - inbox_.free_tickets()));
}

}  // namespace weft::tb
