// SPDX-License-Identifier: Apache-2.0
// Golden model of the host queues in lockstep with those of a NIC.
#include "queue_scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::tb {

namespace formats = rdma_queues::formats;
namespace reg = rdma_queues::formats::reg;

namespace {

constexpr uint32_t message_bytes = 4;
constexpr uint64_t request_age = 2;  // clocks between the look at a region and the record

rdma_queues::QueueParams params_of(const RdmaBuild& build) {
  rdma_queues::QueueParams params;
  params.queues = build.queues;
  params.fetch = build.fetch;
  params.addr_bits = build.params.addr_bits;
  params.opcodes = rdma_queues::opcodes_of(build.params.transfers);
  return params;
}

bool within(uint64_t address, uint64_t base, uint64_t bytes) {
  return address >= base && address - base < bytes;
}

}  // namespace

QueueScoreboard::QueueScoreboard(const RdmaBuild& build, Reporter& reporter, const AxiMemory& memory,
                                 Scoreboard& engine)
    : build_(build), reporter_(reporter), memory_(memory), engine_(engine), model_(params_of(build)) {
  engine_.on_queue_completion([this](const rdma::Completion& completion) { engine_completed(completion); });
  if (build.params.transfers) {
    engine_.inbox().on_completion(
        [this](const rdma::TicketCompletion& completion) { inbox_completed(completion); });
  }
  reset();
}

void QueueScoreboard::reset() {
  model_.reset();
  access_ = {};
  requests_.clear();
  under_way_.clear();
  for (Outcomes* outcomes : {&rejected_, &refused_, &done_, &arrived_}) outcomes->clear();
  fetches_.clear();
  read_is_fetch_.clear();
  beats_ = 0;
  beat_bad_ = false;
  bursts_.clear();
  writes_.clear();
  messages_due_.clear();
  messages_sent_.clear();
  completion_answered_.reset();
  messages_answered_.clear();
  aged_from_.assign(build_.queues, 0);
  due_cycles_.assign(build_.queues, 0);
  level_before_ = false;
}

bool QueueScoreboard::owns(uint64_t address) const {
  for (uint32_t number = 0; number < build_.queues; ++number) {
    const rdma_queues::Queue& queue = model_.queue(number);
    if (queue.state == formats::QueueState::off) continue;
    const auto& config = queue.config;
    if (within(address, config.sq_base, uint64_t{queue.sq_size()} * formats::submission_bytes)) return true;
    if (within(address, config.cq_base, uint64_t{queue.cq_size()} * formats::completion_bytes)) return true;
    if (config.irq == formats::IrqKind::message && address == config.msi_addr) return true;
  }
  return false;
}

bool QueueScoreboard::in_ring_of_entries(uint64_t address) const {
  for (uint32_t number = 0; number < build_.queues; ++number) {
    const rdma_queues::Queue& queue = model_.queue(number);
    const uint64_t bytes = uint64_t{queue.sq_size()} * formats::submission_bytes;
    if (queue.state != formats::QueueState::off && within(address, queue.config.sq_base, bytes)) return true;
  }
  return false;
}

void QueueScoreboard::answered(uint64_t bytes, bool ok) {
  if (bytes == message_bytes) {
    messages_answered_.push_back(ok);
  } else {
    completion_answered_ = ok;
  }
}

void QueueScoreboard::trace(std::string_view event, std::optional<uint32_t> queue, const trace::Fields& rtl,
                            const trace::Fields& golden) {
  NodeTraces& traces = engine_.traces();
  if (!traces.wanted()) return;
  const rdma_queues::Queue* const after = queue ? &model_.queue(*queue) : nullptr;
  const auto record = [&](const trace::Fields& details) {
    return rdma_queues::queue_record(reporter_.cycle(), event, details, queue.value_or(0), after);
  };
  traces.write(record(rtl), record(golden));
}

/// In the order of rdma_queues: first what depends on the state before this clock, then what changes it.
void QueueScoreboard::sample(const RdmaPins& pins) {
  const QueueTracePins& seen = pins.queues;
  follow_access(pins.axil);
  follow_set(seen);
  check_off(seen.off);
  expect(pins.queue_irq == level_before_, "level line of the queues is wrong");
  level_before_ = model_.level();
  if (seen.look) {
    write_allowed_ = model_.judge_write(access_.awaddr - queue_pages, access_.wdata, access_.wstrb);
  }
  check_order(seen);
  check_address(pins.axi);
  check_request(seen);
  check_slot(seen);
  check_fire(seen);
  check_entry(seen);
  check_read(pins.axi, seen);
  check_writes();
  check_retired(seen);
  if (seen.apply) {
    expect(seen.write_ok == write_allowed_,
           fmt::format("write of register {:#x} judged wrongly", access_.awaddr));
    const uint32_t address = access_.awaddr - queue_pages;
    if (address >= reg::CQ_HEAD && address % 4096 == reg::CQ_HEAD % 4096 && write_allowed_) {
      aged_from_[address / 4096 - 1] = ticks_passed();
    }
    if (address == reg::TICK_CYCLES && write_allowed_) tick_cycles_change();
    const auto queue = model_.subject(address);
    const auto was = queue ? std::optional(model_.queue(*queue).state) : std::nullopt;
    model_.apply_write(address, access_.wdata, write_allowed_);
    const auto fields = [&](bool ok) { return rdma_queues::write_fields(address, access_.wdata, ok, was); };
    trace("write", queue, fields(seen.write_ok), fields(write_allowed_));
  }
  check_due();
}

void QueueScoreboard::follow_access(const AxiLitePins& pins) {
  if (pins.awvalid && pins.awready) access_.awaddr = pins.awaddr;
  if (pins.wvalid && pins.wready) {
    access_.wdata = pins.wdata;
    access_.wstrb = pins.wstrb;
  }
}

/// The inbox is told what a queue has become; not before it is so.
void QueueScoreboard::follow_set(const QueueTracePins& seen) {
  if (!seen.set) return;
  fail(model_.tell(seen.set_queue, seen.set_open, seen.set_key));
  trace("told", seen.set_queue, rdma_queues::told_fields(seen.set_open, seen.set_key));
  if (build_.params.transfers) engine_.inbox().queue_set(seen.set_queue, seen.set_open, seen.set_key);
}

void QueueScoreboard::check_off(uint64_t off) {
  for (uint32_t queue = 0; queue < build_.queues; ++queue) {
    const bool is_off = off >> queue & 1;
    const bool model_off = model_.queue(queue).state == formats::QueueState::off;
    if (is_off && !model_off) {
      fail(model_.off(queue));
      trace("off", queue);
    }
    expect(is_off || !model_off, fmt::format("queue {} is not OFF", queue));
  }
}

void QueueScoreboard::check_order(const QueueTracePins& seen) {
  if (!seen.order) return;
  const uint32_t beats = seen.order_count * (formats::submission_bytes / build_.data_bytes);
  fetches_.push_back(
      {model_.entry_address(seen.order_queue, seen.order_index), static_cast<uint8_t>(beats - 1)});
  fail(model_.order(seen.order_queue, seen.order_index, seen.order_count));
  trace("order", seen.order_queue, rdma_queues::order_fields(seen.order_index, seen.order_count));
}

/// The queues' fetches and the engine's reads of payload share the port; each fetch must be one that was
/// ordered.
void QueueScoreboard::check_address(const AxiPins& axi) {
  if (!axi.arvalid || !axi.arready) return;
  const bool is_fetch = !fetches_.empty() && fetches_.front().address == axi.ar.addr;
  if (is_fetch) {
    expect(fetches_.front().len == axi.ar.len, "arlen of a fetch is wrong");
    fetches_.pop_front();
  } else {
    expect(!in_ring_of_entries(axi.ar.addr),
           fmt::format("read of a ring at {:#x} that is no fetch", axi.ar.addr));
  }
  read_is_fetch_.push_back(is_fetch);
}

void QueueScoreboard::check_entry(const QueueTracePins& seen) {
  if (!seen.entry) return;
  const auto judged = model_.next_verdict([&](uint64_t address) {
    std::array<uint8_t, formats::submission_bytes> bytes{};
    memory_.memory().read(address, bytes);
    return bytes;
  });
  const bool same = judged && judged->queue == seen.entry_queue &&
                    static_cast<uint8_t>(judged->verdict) == seen.entry_verdict;
  expect(same, fmt::format("entry of queue {} judged {}, which the golden model does not", seen.entry_queue,
                           seen.entry_verdict));
  if (!same) return;
  if (judged->verdict == formats::Verdict::accepted) requests_.push_back(model_.request(*judged));
  if (judged->verdict == formats::Verdict::rejected) rejected_.push_back(model_.rejection(*judged));
  model_.judged(*judged);
  const bool rejected = judged->verdict == formats::Verdict::rejected;
  const uint8_t status = rejected ? rejected_.back().fields.status : 0;
  trace("entry", judged->queue, rdma_queues::entry_fields(judged->verdict, judged->entry, status));
}

void QueueScoreboard::check_request(const QueueTracePins& seen) {
  if (!seen.request) return;
  if (requests_.empty()) return reporter_.add("a request is checked that no queue has accepted");
  const rdma_queues::Request request = requests_.front();
  requests_.pop_front();
  const uint8_t status = rdma_queues::refusal(engine_.settings(request_age), request);
  expect(status == seen.request_status,
         fmt::format("request of queue {}, tag {:#x}: checked with status {}, golden {}", request.queue,
                     request.entry.tag, seen.request_status, status));
  trace("request", request.queue, rdma_queues::request_fields(request, seen.request_status),
        rdma_queues::request_fields(request, status));
  if (status != 0) {
    refused_.push_back(rdma_queues::outcome_of(request, status));
    return;
  }
  const uint16_t number = next_number_++;
  under_way_.emplace(number, request);
  if (rdma_queues::is_ticket(request)) {
    engine_.inbox().posted(rdma_queues::ticket_post_of(request, number));
  } else {
    engine_.posted_by_queue(rdma_queues::post_of(request, number));
  }
}

/// The request that had this number.
std::optional<rdma_queues::Request> QueueScoreboard::finished(uint16_t number) {
  const auto found = under_way_.find(number);
  if (found == under_way_.end()) {
    reporter_.add("the engine completes what no queue has posted");
    return std::nullopt;
  }
  const rdma_queues::Request request = found->second;
  under_way_.erase(found);
  return request;
}

void QueueScoreboard::engine_completed(const rdma::Completion& completion) {
  const auto request = finished(completion.tag);
  if (request) done_.push_back(rdma_queues::outcome_of(*request, static_cast<uint8_t>(completion.status)));
}

void QueueScoreboard::inbox_completed(const rdma::TicketCompletion& completion) {
  const auto request = finished(completion.tag);
  if (request) arrived_.push_back(rdma_queues::outcome_of(*request, completion));
}

void QueueScoreboard::check_slot(const QueueTracePins& seen) {
  if (!seen.slot) return;
  rdma_queues::Outcome outcome;
  outcome.queue = seen.slot_queue;
  outcome.signal = seen.slot_signal;
  outcome.fields = formats::unpack_completion(seen.slot_fields);
  Outcomes* const from = !done_.empty() && done_.front() == outcome           ? &done_
                         : !arrived_.empty() && arrived_.front() == outcome   ? &arrived_
                         : !refused_.empty() && refused_.front() == outcome   ? &refused_
                         : !rejected_.empty() && rejected_.front() == outcome ? &rejected_
                                                                              : nullptr;
  if (!from) {
    return reporter_.add(fmt::format("queue {}: a completion that nobody has made, tag {:#x}, status {}",
                                     outcome.queue, outcome.fields.tag, outcome.fields.status));
  }
  from->pop_front();
  rdma_queues::Queues::Placed placed;
  fail(model_.place(outcome, placed));
  expect(placed.discard == seen.slot_discard,
         "a completion is discarded that is wanted, or the other way round");
  model_.placed(outcome, placed);
  trace("slot", outcome.queue, rdma_queues::slot_fields(outcome, seen.slot_discard),
        rdma_queues::slot_fields(outcome, placed.discard));
  ++outcomes_[outcome.fields.status];
  if (placed.discard) {
    ++discarded_;
    return;
  }
  const auto entry = formats::pack(placed.entry);
  writes_.push_back({placed.address, {entry.begin(), entry.end()}});
}

uint64_t QueueScoreboard::tick_cycles() const {
  return std::max<uint64_t>(1, model_.read(reg::TICK_CYCLES).value_or(1));
}

/// At most so many, in parts.
double QueueScoreboard::ticks_passed() const {
  return ticks_before_ +
         static_cast<double>(reporter_.cycle() - ticks_from_) / static_cast<double>(tick_cycles());
}

/// The clocks that a tick has had may be enough for a shorter one at once.
void QueueScoreboard::tick_cycles_change() {
  ticks_before_ = ticks_passed() + 1;
  ticks_from_ = reporter_.cycle();
}

void QueueScoreboard::check_fire(const QueueTracePins& seen) {
  if (!seen.fire) return;
  const auto& queue = model_.queue(seen.fire_queue);
  const uint64_t ticks = queue.time == 0 ? 0 : queue.time - 1u;
  const std::string_view cause = model_.fire_cause(seen.fire_queue);
  fail(model_.fire(seen.fire_queue,
                   ticks_passed() - aged_from_[seen.fire_queue] > static_cast<double>(ticks) - 1e-6));
  trace("fire", seen.fire_queue, rdma_queues::fire_fields(queue.config.irq, cause));
  if (queue.config.irq == formats::IrqKind::message) messages_due_.push_back(seen.fire_queue);
}

/// What is due is sent within a bounded number of clocks in which no message is under way.
void QueueScoreboard::check_due() {
  const uint64_t bound = 8ull * build_.queues + 60;
  bool sending = false;
  for (uint32_t number = 0; number < build_.queues; ++number) {
    sending = sending || model_.queue(number).message_under_way;
  }
  for (uint32_t number = 0; number < build_.queues; ++number) {
    if (!model_.must_fire(number)) {
      due_cycles_[number] = 0;
    } else if (!sending && ++due_cycles_[number] == bound) {
      reporter_.add(fmt::format("queue {}: an interrupt is due and not sent", number));
    }
  }
}

void QueueScoreboard::check_read(const AxiPins& axi, const QueueTracePins& seen) {
  bool becomes_error = false;
  uint32_t failed_queue = 0;
  if (axi.rvalid && axi.rready && !read_is_fetch_.empty()) {
    if (read_is_fetch_.front()) {
      beat_bad_ = beat_bad_ || axi.rresp != resp_okay;
      if (++beats_ == formats::submission_bytes / build_.data_bytes) {
        if (model_.entries_asked()) failed_queue = model_.next_read_queue();
        expect(model_.entry_read(beat_bad_, becomes_error), "data of entries that were not asked for");
        beats_ = 0;
        beat_bad_ = false;
      }
    }
    if (axi.rlast) read_is_fetch_.pop_front();
  }
  expect(seen.error == becomes_error, "error of a fetch told wrongly");
  if (becomes_error) trace("fetch_error", failed_queue);
  fetch_errors_ += becomes_error;
}

void QueueScoreboard::check_writes() {
  for (; !bursts_.empty(); bursts_.pop_front()) {
    const WrittenBurst& burst = bursts_.front();
    if (burst.bytes.size() == message_bytes) {
      check_message(burst);
    } else if (writes_.empty() || burst.address != writes_.front().address ||
               burst.bytes != writes_.front().bytes) {
      reporter_.add(fmt::format("a wrong completion is written to {:#x}", burst.address));
    } else {
      writes_.pop_front();
    }
  }
  for (; !messages_answered_.empty(); messages_answered_.pop_front()) {
    if (messages_sent_.empty()) return reporter_.add("a message is answered that was not sent");
    model_.message_answered(messages_sent_.front(), messages_answered_.front());
    trace("message", messages_sent_.front(), rdma_queues::message_fields(messages_answered_.front()));
    messages_sent_.pop_front();
  }
}

void QueueScoreboard::check_message(const WrittenBurst& burst) {
  if (messages_due_.empty()) return reporter_.add("a message that is not due");
  const auto& config = model_.queue(messages_due_.front()).config;
  uint32_t data = 0;
  for (uint32_t i = 0; i < message_bytes; ++i) data |= uint32_t{burst.bytes[i]} << (8 * i);
  expect(burst.address == config.msi_addr && data == config.msi_data, "a wrong message");
  messages_sent_.push_back(messages_due_.front());
  messages_due_.pop_front();
  ++messages_;
}

void QueueScoreboard::check_retired(const QueueTracePins& seen) {
  const auto answered = std::exchange(completion_answered_, std::nullopt);
  if (answered) {
    expect(seen.retired && !seen.retired_discarded && seen.retired_failed == !*answered,
           "answer of memory to a completion taken wrongly");
  }
  if (!seen.retired) return;
  expect(seen.retired_discarded || answered, "a completion is retired before memory has answered");
  if (model_.queue(seen.retired_queue).unseen() == 0) aged_from_[seen.retired_queue] = ticks_passed();
  fail(model_.retire(seen.retired_queue, seen.retired_discarded, seen.retired_urgent, seen.retired_failed));
  trace("retired", seen.retired_queue,
        rdma_queues::retired_fields(seen.retired_discarded, seen.retired_urgent, seen.retired_failed));
}

bool QueueScoreboard::quiet() const {
  const bool streams = requests_.empty() && under_way_.empty() && rejected_.empty() && refused_.empty() &&
                       done_.empty() && arrived_.empty() && fetches_.empty() && read_is_fetch_.empty() &&
                       writes_.empty();
  if (!streams) return false;
  for (uint32_t number = 0; number < build_.queues; ++number) {
    const auto& queue = model_.queue(number);
    if (queue.state == formats::QueueState::drain || queue.message_under_way) return false;
    if (queue.live() && queue.promised != static_cast<uint16_t>(queue.dropped + queue.retired)) return false;
    if (queue.must_fetch()) return false;
  }
  return true;
}

}  // namespace weft::tb
