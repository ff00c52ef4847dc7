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

bool names_ticket(const rdma::Admission& admission) {
  return takes_ticket(admission) || admission.kind == Kind::again;
}

/// Whether the event touches the ticket that its result names.
bool touches_ticket(const rdma::InboxEventView& view, const rdma::Params& params) {
  if (view.admission) return names_ticket(*view.admission);
  if (view.post) return view.result.outcome == Outcome::wait || view.result.outcome == Outcome::ask;
  return view.result.ticket < params.n_tickets;
}

}  // namespace

InboxScoreboard::InboxScoreboard(const RdmaBuild& build, Reporter& reporter, ExpectedPackets& packets,
                                 NodeTraces& traces, OnOutcome on_outcome)
    : build_(build),
      reporter_(reporter),
      packets_(packets),
      traces_(traces),
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
rdma::InboxResult InboxScoreboard::golden_decision(const InboxTracePins& rtl, rdma::InboxEventView& view) {
  const Decided decided = take_first(decided_, "decision of the receiver");
  view.decision = decided.result.outcome;
  rdma::InboxResult result;
  result.ticket = decided.ticket;
  result.completion = inbox_.decided(decided.ticket, decided.result, rtl.now);
  return result;
}

/// State of the ticket that an answer names, or of the one that has this message or had it last.
std::optional<rdma::Ticket::State> InboxScoreboard::found_by(const formats::Header& request) const {
  using State = rdma::Ticket::State;
  if (rdma::has_flag(request, formats::TransferFlag::read)) {
    return request.cid < build_.params.n_tickets ? std::optional(inbox_.ticket(request.cid).state)
                                                 : std::nullopt;
  }
  for (uint16_t i = 0; i < build_.params.n_tickets; ++i) {
    const rdma::Ticket& ticket = inbox_.ticket(i);
    const auto& message = ticket.message;
    const bool same =
        message.src == request.src && message.sid == request.sid && message.msgid == request.msgid;
    if (same && ticket.state != State::free && ticket.state != State::waiting) return ticket.state;
  }
  return std::nullopt;
}

rdma::InboxResult InboxScoreboard::golden_request(const InboxTracePins& rtl, rdma::InboxEventView& view) {
  Admitted next{take_first(requests_, "RQT"), {}};
  view.header = next.header;
  view.finds = found_by(next.header);
  next.admission = inbox_.admit(next.header);
  if (code_of(next.admission.kind) != rtl.admit) {
    reporter_.add(fmt::format("inbox: RQT {}\n  expected admission {}\n  got      {}", describe(next.header),
                              code_of(next.admission.kind), rtl.admit));
  }
  view.admission = next.admission;
  rdma::InboxResult result;
  result.ticket = names_ticket(next.admission) ? next.admission.ticket : rtl.ticket;
  admitted_.push_back(next);
  return result;
}

rdma::InboxResult InboxScoreboard::golden(const InboxTracePins& rtl, rdma::InboxEventView& view) {
  switch (rtl.kind) {
    case InboxKind::post:
      view.post = take_first(posts_, "post");
      return inbox_.post(*view.post, view.inputs);
    case InboxKind::rqt:
      return golden_request(rtl, view);
    case InboxKind::rsp:
      view.header = take_first(refusals_, "RSP");
      return inbox_.packet(*view.header, rtl.now);
    case InboxKind::timeout:
      return inbox_.timeout(rtl.ticket, view.inputs);
    case InboxKind::leave:
      return inbox_.leave(rtl.now);
    case InboxKind::cancel:
      return inbox_.cancel(rtl.ticket);
    case InboxKind::decided:
      return golden_decision(rtl, view);
  }
  throw rdma::Violation(fmt::format("there is no event of kind {}", static_cast<unsigned>(rtl.kind)));
}

void InboxScoreboard::step(const InboxTracePins& rtl) {
  rdma::InboxEventView view;
  view.event = event_name(rtl.kind);
  view.inputs = {rtl.room, std::nullopt, rtl.now};
  if (rtl.offer_valid) view.inputs.offer = rtl.offer;
  std::optional<rdma::Ticket> before;
  if (traces_.wanted() && rtl.ticket < build_.params.n_tickets) before = inbox_.ticket(rtl.ticket);
  try {
    const rdma::InboxResult result = golden(rtl, view);
    view.result = result;
    if (traces_.wanted()) trace(rtl, view, before);
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
    view.result.outcome = static_cast<Outcome>(rtl.outcome);
    view.result.ticket = rtl.ticket;
    traces_.write_alone(rdma::inbox_record(reporter_.cycle(), view));
  }
}

/// @param before the ticket that the RTL names, as it was
void InboxScoreboard::trace(const InboxTracePins& rtl, rdma::InboxEventView view,
                            const std::optional<rdma::Ticket>& before) {
  if (touches_ticket(view, build_.params)) {
    view.after = inbox_.ticket(view.result.ticket);
    view.before = before;
  }
  if (view.after || view.post)
    view.open = inbox_.is_open(view.after ? view.after->post.queue : view.post->queue);
  const trace::Record golden = rdma::inbox_record(reporter_.cycle(), view);
  view.result.outcome = static_cast<Outcome>(rtl.outcome);
  view.result.ticket = rtl.ticket;
  if (view.admission) view.admission->kind = static_cast<Kind>(rtl.admit);
  traces_.write(rdma::inbox_record(reporter_.cycle(), view), golden);
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
                    result.outcome == Outcome::released_failed || result.outcome == Outcome::reclaim;
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
