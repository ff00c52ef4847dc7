// SPDX-License-Identifier: Apache-2.0
// A node of golden models: sender, receiver, inbox and a memory that answers late (docs/rdma_transfers.md).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rdma/inbox.hpp"
#include "rdma/receiver.hpp"
#include "rdma/repeats.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"
#include "weather.hpp"

namespace weft::rdma::test {

/// How a node behaves besides the network's weather.
struct Manners {
  double memory_waits = 0;   // that memory answers nothing in a tick
  double memory_errors = 0;  // of a write
  double read_errors = 0;    // that a packet cannot be read
  uint32_t most_answers = 2;
};

/// What comes out of a node, at the moment when it does.
struct NodeEvents {
  std::function<void(const Packet&)> sent;
  std::function<void(const HostWrite&)> landed;  // in memory
  std::function<void(const Completion&)> completed;
  std::function<void(const TicketCompletion&)> ticket_completed;
};

class TransferNode {
 public:
  TransferNode(const Params& params, const Config& config, const Weather& weather, Manners manners,
               Dice& dice, NodeEvents events)
      : sender(params, config),
        receiver(params, config),
        inbox(params, config),
        granted_(params),
        failed_(params.n_rx_ctx),
        params_(params),
        node_(config.node_id),
        weather_(weather),
        manners_(manners),
        dice_(dice),
        events_(std::move(events)) {}

  Sender sender;
  Receiver receiver;
  Inbox inbox;
  std::vector<uint8_t> memory = std::vector<uint8_t>(0x40000, 0);
  std::set<Outcome> outcomes;

  void start_tick(uint64_t now) {
    now_ = now;
    rx_sent_ = tx_sent_ = resends_ = 0;
  }

  /// Requests of software leave the contexts alone that are kept for answers.
  bool can_post() const { return sender.free_contexts() > manners_.most_answers - sender.answers(); }
  void post(const Post& post) {
    TxInputs inputs = tx_inputs();
    inputs.offer = free_one(params_.n_tx_ctx,
                            [&](uint16_t i) { return sender.context(i).state == TxContext::State::free; });
    take(sender.post(post, inputs));
  }

  bool can_wait() const { return inbox.free_tickets() > 0; }
  void post(const TicketPost& post) {
    InboxInputs inputs = inbox_inputs();
    inputs.offer =
        free_one(params_.n_tickets, [&](uint16_t i) { return inbox.ticket(i).state == Ticket::State::free; });
    take(inbox.post(post, inputs));
  }

  void arrive(const std::vector<uint8_t>& flits) {
    const auto arrival = check_arrival(flits, params_, node_);
    if (arrival.verdict != Outcome::none) {
      take(receiver.drop(arrival.verdict));
    } else if (for_inbox(arrival.packet.header)) {
      take(inbox.packet(arrival.packet.header, tick()));
    } else if (for_sender(arrival.packet.header)) {
      take(sender.packet(arrival.packet, tx_inputs()));
    } else {
      to_receiver(arrival.packet);
    }
  }

  void work() {
    if (!answers_.empty()) {
      const Post answer = answers_.front();
      answers_.pop_front();
      post(answer);
    }
    take_turn();
    tell_fault();
    end_timers();
    answer_writes();
    leave();
    send_controls();
  }

  bool idle() const {
    return sender.free_contexts() == params_.n_tx_ctx && receiver.free_contexts() == params_.n_rx_ctx &&
           inbox.free_tickets() == params_.n_tickets && only_waits();
  }

  /// Nothing of its own under way but RECVs.
  bool only_waits() const {
    return answers_.empty() && !fault_ && writes_.empty() && controls_.empty() && inbox.leaving() == 0;
  }

 private:
  static constexpr int per_tick = 2;  // packets that each queue takes in a tick

  struct Write {
    uint16_t cid;
    HostWrite what;
  };

  struct Control {
    Packet packet;
    uint64_t after;    // writes that memory has to answer first
    bool first_grant;  // errors of writes count from here on
  };

  uint16_t tick() const { return static_cast<uint16_t>(now_ & tick_mask); }
  bool room() { return !dice_.hit(weather_.no_room); }
  TxInputs tx_inputs() { return {room() && tx_sent_ < per_tick, room() && resends_ < per_tick, {}, tick()}; }
  InboxInputs inbox_inputs() { return {room() && tx_sent_ < per_tick, {}, tick()}; }

  RxInputs rx_inputs() {
    RxInputs inputs;
    inputs.room = room() && rx_sent_ < per_tick && controls_.size() < 24;
    inputs.offer = free_one(params_.n_rx_ctx,
                            [&](uint16_t i) { return receiver.context(i).state == RxContext::State::free; });
    inputs.now = tick();
    return inputs;
  }

  template <typename IsFree>
  std::optional<uint16_t> free_one(uint32_t count, IsFree is_free) {
    const auto first = static_cast<uint32_t>(dice_.below(count));
    for (uint32_t i = 0; i < count; ++i) {
      const auto index = static_cast<uint16_t>((first + i) % count);
      if (is_free(index)) return index;
    }
    return std::nullopt;
  }

  void to_receiver(const Packet& packet) {
    RxInputs inputs = rx_inputs();
    if (is_remembered(packet.header)) {
      if (!dice_.hit(weather_.forgets)) inputs.admission = granted_.admit(packet.header);
    } else if (packet.header.ptype == static_cast<uint8_t>(Ptype::rqt)) {
      inputs.admission = inbox.admit(packet.header);
    }
    if (packet.header.ptype == static_cast<uint8_t>(Ptype::read)) look_for_answer(packet.header, inputs);
    const RxResult result = receiver.packet(packet, inputs);
    granted_.decided(packet.header, result);
    const auto kind = inputs.admission.kind;
    if (kind == Admission::Kind::buffer || kind == Admission::Kind::with_ticket) {
      take(inbox.decided(inputs.admission.ticket, result, tick()));
    }
    take(result, &packet.header);
  }

  /// Whether this READ has its answer, and whether there may be one more.
  void look_for_answer(const Header& read, RxInputs& inputs) {
    const uint32_t quota = receiver.config().answer_quota;
    const uint32_t of_source = answers_that([&](const Post& post) { return post.node == read.src; });
    inputs.answer_asked =
        answers_that([&](const Post& post) {
          return post.node == read.src && post.rkey == read.sid && post.dst_addr == read.msgid;
        }) != 0;
    EXPECT_LE(quota == 0 ? 0 : of_source, quota);
    inputs.answer_room = answers_that([](const Post&) { return true; }) < manners_.most_answers &&
                         (quota == 0 || of_source < quota);
  }

  /// How many are posted or under way.
  template <typename Which>
  uint32_t answers_that(Which which) const {
    auto all = static_cast<uint32_t>(std::ranges::count_if(answers_, which));
    for (uint16_t sid = 0; sid < static_cast<uint16_t>(params_.n_tx_ctx); ++sid) {
      const TxContext& c = sender.context(sid);
      if (c.state == TxContext::State::free || c.to != Post::To::ticket) continue;
      if (which(Post{c.src_addr, c.dst_addr, 0, c.dst, 0, c.rkey})) ++all;
    }
    return all;
  }

  void take_turn() {
    for (uint16_t i = 1; i <= static_cast<uint16_t>(params_.n_tx_ctx); ++i) {
      const auto sid = static_cast<uint16_t>((last_turn_ + i) % params_.n_tx_ctx);
      if (!sender.context(sid).turn) continue;
      last_turn_ = sid;
      take(sender.turn(sid, tx_inputs()));
      return;
    }
  }

  /// Later than the read that failed: the transfer may be over.
  void tell_fault() {
    if (!fault_ || dice_.hit(0.5)) return;
    const auto [sid, msgid] = *fault_;
    fault_.reset();
    const TxContext& c = sender.context(sid);
    if (c.state == TxContext::State::active && c.msgid == msgid) take(sender.fault(sid, msgid, tx_inputs()));
  }

  void end_timers() {
    for (uint16_t i = 0; i < static_cast<uint16_t>(params_.n_tx_ctx); ++i) {
      if (sender.due(i, tick())) take(sender.timeout(i, tx_inputs()));
    }
    for (uint16_t i = 0; i < static_cast<uint16_t>(params_.n_rx_ctx); ++i) {
      if (receiver.due(i, tick())) take(receiver.timeout(i, rx_inputs()));
    }
    for (uint16_t i = 0; i < static_cast<uint16_t>(params_.n_tickets); ++i) {
      if (inbox.due(i, tick())) take(inbox.timeout(i, inbox_inputs()));
      if (inbox.cancelled(i) && dice_.hit(0.3)) take(inbox.cancel(i));
    }
  }

  // Memory answers in order; a write lands when it is answered, at the latest moment allowed.
  void answer_writes() {
    while (!writes_.empty() && !dice_.hit(manners_.memory_waits)) {
      const Write write = writes_.front();
      writes_.pop_front();
      answered_ += 1;
      if (dice_.hit(manners_.memory_errors)) {
        failed_[write.cid] = true;
        inbox.write_failed(write.cid);
        continue;
      }
      std::copy(write.what.bytes.begin(), write.what.bytes.end(),
                memory.begin() + static_cast<std::ptrdiff_t>(write.what.addr));
      events_.landed(write.what);
    }
  }

  void leave() {
    while (!leave_after_.empty() && answered_ >= leave_after_.front()) {
      leave_after_.pop_front();
      take(inbox.leave(tick()));
    }
  }

  void send_controls() {
    for (int i = 0; i < per_tick && !controls_.empty(); ++i) {
      Control control = controls_.front();
      Header& header = control.packet.header;
      if (header.ptype == static_cast<uint8_t>(Ptype::done)) {
        if (answered_ < control.after) return;
        if (failed_[header.cid]) header.flags |= formats::flag_failed;
      }
      if (control.first_grant) failed_[header.cid] = false;
      controls_.pop_front();
      events_.sent(control.packet);
    }
  }

  void take(const RxResult& result, const Header* header = nullptr) {
    outcomes.insert(result.outcome);
    if (result.write) {
      ASSERT_LE(result.write->addr + result.write->bytes.size(), memory.size());
      writes_.push_back({result.cid, *result.write});
      decided_ += 1;
    }
    inbox.retired(result, header);
    if (inbox.leaving() > leave_after_.size()) leave_after_.push_back(decided_);
    if (result.read) {
      const ReadOrder& read = *result.read;
      Post answer{read.src_addr, read.number, read.bytes, read.node, 0, read.ticket};
      answer.to = Post::To::ticket;
      answers_.push_back(answer);
    }
    if (result.emitted) {
      controls_.push_back({*result.emitted, decided_, result.outcome == Outcome::grant});
      rx_sent_ += 1;
    }
  }

  void take(const TxResult& result) {
    outcomes.insert(result.outcome);
    if (result.emitted) {
      events_.sent(*result.emitted);
      tx_sent_ += 1;
    }
    if (result.completion) events_.completed(*result.completion);
    if (result.data) {
      resends_ += result.data->resend ? 1 : 0;
      if (dice_.hit(manners_.read_errors)) {
        if (!fault_) fault_.emplace(result.data->header.sid, result.data->header.msgid);
        return;
      }
      const auto from = memory.begin() + static_cast<std::ptrdiff_t>(result.data->src_addr);
      events_.sent({result.data->header, {from, from + result.data->header.len}});
    }
  }

  void take(const InboxResult& result) {
    outcomes.insert(result.outcome);
    if (result.emitted) {
      events_.sent(*result.emitted);
      tx_sent_ += 1;
    }
    take(result.completion);
  }

  void take(const std::optional<TicketCompletion>& completion) {
    if (completion) events_.ticket_completed(*completion);
  }

  std::deque<Write> writes_;
  uint64_t decided_ = 0, answered_ = 0;  // writes
  std::deque<uint64_t> leave_after_;     // writes that memory has to answer first, for each ticket leaving
  std::deque<Control> controls_;         // of the receiver
  std::deque<Post> answers_;             // to READs, not yet posted
  std::optional<std::pair<uint16_t, uint32_t>> fault_;  // sid and msgid of a packet that could not be read
  GrantedRequests granted_;
  std::vector<bool> failed_;  // by CID: a write of the context was answered with an error

  Params params_;
  uint16_t node_;
  const Weather& weather_;
  Manners manners_;
  Dice& dice_;
  NodeEvents events_;
  uint64_t now_ = 0;
  int rx_sent_ = 0, tx_sent_ = 0, resends_ = 0;  // in this tick
  uint16_t last_turn_ = 0;
};

}  // namespace weft::rdma::test
