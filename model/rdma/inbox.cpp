// SPDX-License-Identifier: Apache-2.0
// The inbox's decisions, in the order of docs/rdma_transfers.md.
#include "rdma/inbox.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rdma/request.hpp"
#include "rdma/timeouts.hpp"
#include "rdma/transfer.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Refusal;
using formats::Status;
using formats::TransferFlag;
using State = Ticket::State;

namespace {

Admission refusing(Outcome refusal) {
  Admission admission;
  admission.kind = Admission::Kind::refuse;
  admission.refusal = refusal;
  return admission;
}

Admission dropping() {
  Admission admission;
  admission.kind = Admission::Kind::drop;
  return admission;
}

/// Whether the message of this ticket is under way.
bool has_message(const Ticket& t) { return t.state == State::taken || t.state == State::bound; }

}  // namespace

Inbox::Inbox(Params params, Config config) : params_(params) {
  validate(params_);
  if (!params_.transfers) throw Violation("an inbox in an engine without transfers");
  configure(std::move(config));
  reset();
}

void Inbox::configure(Config config) {
  validate(config, params_);
  config_ = std::move(config);
}

void Inbox::number_from(uint32_t number) {
  next_number_ = static_cast<uint32_t>(number % (uint64_t{1} << params_.msgid_bits));
}

void Inbox::reset() {
  tickets_.assign(params_.n_tickets, Ticket{});
  queues_.assign(params_.n_queues, Queue{});
  leaving_.clear();
  next_number_ = 0;
}

const Ticket& Inbox::ticket(uint16_t number) const {
  if (number >= tickets_.size()) throw Violation("there is no ticket " + std::to_string(number));
  return tickets_[number];
}

uint32_t Inbox::free_tickets() const {
  return static_cast<uint32_t>(std::ranges::count(tickets_, State::free, &Ticket::state));
}

uint32_t Inbox::held_by(uint8_t queue) const {
  return static_cast<uint32_t>(std::ranges::count_if(
      tickets_, [&](const Ticket& t) { return t.state != State::free && t.post.queue == queue; }));
}

void Inbox::open(uint8_t queue, uint16_t key) {
  if (held_by(queue) != 0) throw Violation("queue " + std::to_string(queue) + " is opened with tickets");
  queues_.at(queue) = Queue{true, key, {}};
}

void Inbox::close(uint8_t queue) { queues_.at(queue) = Queue{}; }

// Post

InboxResult Inbox::post(const TicketPost& post, const InboxInputs& inputs) {
  if (post.queue >= queues_.size()) throw Violation("there is no queue " + std::to_string(post.queue));
  if (const auto rejected = rejection(post, inputs)) {
    InboxResult result;
    result.outcome = rejected->outcome;
    result.completion = TicketCompletion{post.queue, post.tag, post.kind, rejected->status};
    return result;
  }
  const uint16_t number = *inputs.offer;
  if (ticket(number).state != State::free) {
    throw Violation("ticket " + std::to_string(number) + " is offered but in use");
  }
  Ticket& t = tickets_[number];
  t = Ticket{};
  t.state = State::waiting;
  t.post = post;
  if (post.kind == TicketKind::recv) {
    queues_[post.queue].list.push_back(number);
    return outcome_of(Outcome::wait, number);
  }
  t.number = next_number_;
  number_from(next_number_ + 1);
  t.timer.restart(inputs.now);
  InboxResult result = outcome_of(Outcome::ask, number);
  ask(result, inputs);
  return result;
}

std::optional<Inbox::Rejection> Inbox::rejection(const TicketPost& post, const InboxInputs& inputs) const {
  const bool is_read = post.kind == TicketKind::read;
  if (!queues_[post.queue].open) return Rejection{Outcome::reject_closed, Status::cancelled};
  if (is_read && (post.node > 0xffff || post.node >> params_.node_bits != 0)) {
    return Rejection{Outcome::reject_node, Status::bad_node};
  }
  const bool no_length_needed = post.bytes == 0 && !is_read;
  if (!no_length_needed && !cut(post.bytes, params_)) {
    return Rejection{Outcome::reject_length, Status::bad_length};
  }
  const uint64_t remote = is_read ? post.remote_addr : 0;
  if (post.address % params_.payload != 0 || remote % params_.payload != 0) {
    return Rejection{Outcome::reject_align, Status::misaligned};
  }
  if (is_read && beyond_bus(remote, post.bytes, params_)) {
    return Rejection{Outcome::reject_address, Status::bad_address};
  }
  if (post.bytes != 0 && !buffer_is_open(post)) {
    return Rejection{Outcome::reject_buffer, Status::bad_buffer};
  }
  const bool quota_used_up = config_.ticket_quota != 0 && held_by(post.queue) >= config_.ticket_quota;
  if (!inputs.offer || quota_used_up) return Rejection{Outcome::reject_ticket, Status::no_ticket};
  return std::nullopt;
}

bool Inbox::buffer_is_open(const TicketPost& post) const {
  const Region* region = region_for(Use::receive, config_, post.rkey);
  return region && holds(*region, post.address, post.bytes);
}

/// READ, or a note that there was no room for it.
void Inbox::ask(InboxResult& result, const InboxInputs& inputs) const {
  if (!inputs.room) {
    result.ctl_dropped = true;
    return;
  }
  const Ticket& t = tickets_[result.ticket];
  Packet packet;
  packet.header.ptype = static_cast<uint8_t>(Ptype::read);
  packet.header.dst = static_cast<uint16_t>(t.post.node);
  packet.header.src = config_.node_id;
  packet.header.sid = result.ticket;
  packet.header.msgid = t.number;
  packet.header.pidx = t.post.bytes;
  packet.header.arg = t.post.remote_addr;
  name_region(packet.header, t.post.remote_rkey);
  result.emitted = packet;
}

// RQT

Admission Inbox::admit(const Header& request) {
  const bool answer = has_flag(request, TransferFlag::read);
  const bool send = has_flag(request, TransferFlag::send);
  if (!answer && !send && !has_flag(request, TransferFlag::imm)) return {};
  const Form form = answer || send ? Form::buffer : Form::immediate;
  const bool refused = form == Form::buffer
                           ? !cut(request.pidx, params_)
                           : request_fault(request, Use::remote_write, config_, params_).has_value();
  if (refused) return {};
  if (const Ticket* before = asked_before(request, form)) {
    if (before->state == State::taken) return dropping();
    Admission admission;
    admission.kind = Admission::Kind::again;
    admission.ticket = number_of(*before);
    admission.cid = before->message.cid;
    admission.rkey = before->post.rkey;
    return admission;
  }
  return answer ? admit_answer(request) : admit_message(request, form);
}

/// The ticket that has this message already.
const Ticket* Inbox::asked_before(const Header& request, Form form) const {
  const auto found = std::ranges::find_if(tickets_, [&](const Ticket& t) {
    return has_message(t) && t.message.src == request.src && t.message.sid == request.sid &&
           t.message.msgid == request.msgid && t.message.form == form;
  });
  return found == tickets_.end() ? nullptr : &*found;
}

Admission Inbox::admit_answer(const Header& request) {
  if (request.cid >= tickets_.size()) return refusing(Outcome::refuse_not_wanted);
  const Ticket& t = tickets_[request.cid];
  const bool over = t.state == State::free || t.state == State::ending || cancelled(request.cid);
  const bool wanted = t.post.kind == TicketKind::read && !over && request.arg == t.number &&
                      request.src == t.post.node && request.pidx == t.post.bytes;
  if (!wanted) return refusing(Outcome::refuse_not_wanted);
  if (t.state != State::waiting) return dropping();
  return take(request.cid, request, Form::buffer);
}

Admission Inbox::admit_message(const Header& request, Form form) {
  const auto queue = queue_of(request, form);
  if (!queue) return refusing(Outcome::refuse_queue);
  auto& list = queues_[*queue].list;
  if (list.empty()) return refusing(Outcome::refuse_not_ready);
  const uint16_t number = list.front();
  if (form == Form::buffer && request.pidx > tickets_[number].post.bytes) {
    return refusing(Outcome::refuse_too_long);
  }
  list.pop_front();
  return take(number, request, form);
}

/// The open queue that a SEND names by its key, or that is told of writes to the region.
std::optional<uint8_t> Inbox::queue_of(const Header& request, Form form) const {
  const RegionKey named = requested_region(request);
  const auto number = form == Form::buffer ? named.region : config_.regions[named.region].queue;
  if (!number || *number >= queues_.size() || !queues_[*number].open) return std::nullopt;
  if (form == Form::buffer && queues_[*number].key != named.key) return std::nullopt;
  return number;
}

Admission Inbox::take(uint16_t number, const Header& request, Form form) {
  Ticket& t = tickets_[number];
  t.state = State::taken;
  t.message = {form, request.src, request.sid, request.msgid, request.pidx};
  Admission admission;
  admission.kind = form == Form::buffer ? Admission::Kind::buffer : Admission::Kind::with_ticket;
  admission.ticket = number;
  admission.address = t.post.address;
  admission.rkey = t.post.rkey;
  admission.of_read = t.post.kind == TicketKind::read;
  return admission;
}

// What the receiver has decided

std::optional<TicketCompletion> Inbox::decided(uint16_t number, const RxResult& result, uint16_t now) {
  if (ticket(number).state != State::taken) {
    throw Violation("a decision for ticket " + std::to_string(number) + ", which was not taken");
  }
  Ticket& t = tickets_[number];
  switch (result.outcome) {
    case Outcome::grant:
      t.state = State::bound;
      t.message.cid = result.cid;
      return std::nullopt;
    case Outcome::refuse_buffer:
      return end(number, Status::bad_buffer);
    case Outcome::refuse_quota:
    case Outcome::refuse_no_context:
      wait_again(number);
      return t.post.kind == TicketKind::read ? back_off(number, now) : std::nullopt;
    default:
      wait_again(number);
      return std::nullopt;
  }
}

void Inbox::retired(const RxResult& result, const Header* header) {
  const bool all_has_come = result.outcome == Outcome::finish;
  const bool unreadable = result.outcome == Outcome::released_failed;
  const bool freed = unreadable || result.outcome == Outcome::released || result.outcome == Outcome::reclaim;
  if (!all_has_come && !freed) return;
  Ticket* t = bound_to(result.cid);
  if (!t) return;
  t->state = all_has_come ? State::ending : State::returning;
  t->message.unreadable = unreadable;
  if (all_has_come && header && has_flag(*header, TransferFlag::imm)) {
    t->message.imm = static_cast<uint32_t>(header->arg >> 32);
  }
  leaving_.push_back(number_of(*t));
}

Ticket* Inbox::bound_to(uint16_t cid) {
  const auto found = std::ranges::find_if(
      tickets_, [&](const Ticket& t) { return t.state == State::bound && t.message.cid == cid; });
  return found == tickets_.end() ? nullptr : &*found;
}

void Inbox::write_failed(uint16_t cid) {
  for (Ticket& t : tickets_) {
    const bool has_context =
        t.state == State::bound || t.state == State::ending || t.state == State::returning;
    if (has_context && t.message.cid == cid) t.message.failed = true;
  }
}

InboxResult Inbox::leave(uint16_t now) {
  if (leaving_.empty()) throw Violation("no ticket is leaving");
  const uint16_t number = leaving_.front();
  leaving_.pop_front();
  Ticket& t = tickets_[number];
  if (t.state == State::ending) {
    InboxResult result = outcome_of(Outcome::arrived, number);
    TicketCompletion completion = end(number, t.message.failed ? Status::local_error : Status::ok);
    completion.node = t.message.src;
    completion.form = t.message.form;
    completion.bytes = t.message.bytes;
    completion.imm = t.message.imm;
    result.completion = completion;
    return result;
  }
  InboxResult result = outcome_of(Outcome::returned, number);
  if (t.post.kind == TicketKind::recv) {
    wait_again(number);
  } else if (t.message.unreadable) {
    result.completion = end(number, Status::remote_error);
  } else if (t.retries >= config_.max_retry) {
    result.completion = end(number, Status::dead_peer);
  } else {
    wait_again(number);
    t.retries += 1;
    t.timer.restart(now, doublings(config_, t.retries));
  }
  return result;
}

// RSP that refuses a READ

InboxResult Inbox::packet(const Header& header, uint16_t now) {
  if (!for_inbox(header)) throw Violation("the inbox takes RSP with flag READ only");
  const bool granted = header.arg == static_cast<uint64_t>(Refusal::granted);
  if (header.sid >= tickets_.size() || granted) return outcome_of(Outcome::drop_old_read, header.sid);
  const Ticket& t = tickets_[header.sid];
  const bool waits = t.state == State::waiting && t.post.kind == TicketKind::read;
  if (!waits || header.msgid != t.number || header.src != t.post.node) {
    return outcome_of(Outcome::drop_old_read, header.sid);
  }
  if (header.arg == static_cast<uint64_t>(Refusal::no_context)) {
    InboxResult result = outcome_of(Outcome::backoff_read, header.sid);
    result.completion = back_off(header.sid, now);
    if (result.completion) result.outcome = Outcome::refused_read;
    return result;
  }
  InboxResult result = outcome_of(Outcome::refused_read, header.sid);
  result.completion = end(header.sid, status_of_refusal(header.arg));
  return result;
}

/// READ: asks again later, or ends because that was so too often.
std::optional<TicketCompletion> Inbox::back_off(uint16_t number, uint16_t now) {
  Ticket& t = tickets_[number];
  if (config_.max_busy != 0 && t.busy >= config_.max_busy) return end(number, Status::remote_busy);
  t.retries = 0;
  t.busy = static_cast<uint8_t>(std::min(t.busy + 1, 255));
  t.timer.restart(now, doublings(config_, t.busy));
  return std::nullopt;
}

// Timeout and cancel

bool Inbox::due(uint16_t number, uint16_t now) const {
  const Ticket& t = ticket(number);
  return t.state == State::waiting && t.post.kind == TicketKind::read && is_open(t.post.queue) &&
         t.timer.due(now, config_.tx_retry);
}

InboxResult Inbox::timeout(uint16_t number, const InboxInputs& inputs) {
  if (!due(number, inputs.now)) throw Violation("timeout of ticket " + std::to_string(number) + ", not due");
  Ticket& t = tickets_[number];
  if (t.retries >= config_.max_retry) {
    InboxResult result = outcome_of(Outcome::give_up_read, number);
    result.completion = end(number, Status::no_answer);
    return result;
  }
  t.retries += 1;
  t.timer.restart(inputs.now, doublings(config_, t.retries));
  InboxResult result = outcome_of(Outcome::retry_read, number);
  ask(result, inputs);
  return result;
}

bool Inbox::cancelled(uint16_t number) const {
  const Ticket& t = ticket(number);
  return t.state == State::waiting && !is_open(t.post.queue);
}

InboxResult Inbox::cancel(uint16_t number) {
  if (!cancelled(number)) {
    throw Violation("ticket " + std::to_string(number) + " does not wait in a closed queue");
  }
  InboxResult result = outcome_of(Outcome::cancel, number);
  result.completion = end(number, Status::cancelled);
  return result;
}

// Common parts

/// At the head of its queue's list, if it is a RECV and the queue is still open.
void Inbox::wait_again(uint16_t number) {
  Ticket& t = tickets_[number];
  t.state = State::waiting;
  t.message = {};
  Queue& queue = queues_[t.post.queue];
  if (t.post.kind == TicketKind::recv && queue.open) queue.list.push_front(number);
}

/// The ticket is free; its completion, with the target of a READ as node.
TicketCompletion Inbox::end(uint16_t number, Status status) {
  Ticket& t = tickets_[number];
  t.state = State::free;
  TicketCompletion completion{t.post.queue, t.post.tag, t.post.kind, status};
  if (t.post.kind == TicketKind::read) completion.node = static_cast<uint16_t>(t.post.node);
  return completion;
}

InboxResult Inbox::outcome_of(Outcome outcome, uint16_t number) const {
  InboxResult result;
  result.outcome = outcome;
  result.ticket = number;
  return result;
}

}  // namespace weft::rdma
