// SPDX-License-Identifier: Apache-2.0
// Golden model of the host queues, written from docs/rdma_queues.md.
#include "rdma/queues.hpp"

#include <fmt/format.h>

namespace weft::rdma_queues {

using formats::IrqKind;
using formats::Opcode;
using formats::QueueState;
using formats::QueueStatus;
using formats::Verdict;
namespace reg = formats::reg;

namespace {

constexpr uint32_t half = 32;

void put_low(uint64_t& value, uint32_t low) { value = (value >> half << half) | low; }
void put_high(uint64_t& value, uint32_t high) {
  value = static_cast<uint32_t>(value) | uint64_t{high} << half;
}
uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> half); }
uint16_t distance(uint16_t from, uint16_t to) { return static_cast<uint16_t>(to - from); }

}  // namespace

void Queues::reset() {
  queues_.assign(params_.queues, Queue{});
  asked_.clear();
  came_.clear();
  owed_.clear();
  staged_ = {};
  staged_irq_ = 0;
  chosen_ = formats::reset::QUEUE;
  tick_cycles_ = formats::reset::TICK_CYCLES;
  bad_access_ = bad_doorbell_ = discarded_ = fetch_errors_ = write_errors_ = msi_errors_ = 0;
}

// --- registers

bool Queues::good_ring(uint64_t base, uint8_t log2, uint32_t entry_bytes) const {
  const uint64_t bytes = uint64_t{entry_bytes} << log2;
  const bool on_bus = params_.addr_bits == 64 || base >> params_.addr_bits == 0;
  return log2 >= 4 && base % 4096 == 0 && base % bytes == 0 && on_bus;
}

bool Queues::can_enable(const Queue& queue) const {
  const bool message = staged_irq_ == static_cast<uint8_t>(IrqKind::message);
  const bool msi_on_bus = params_.addr_bits == 64 || staged_.msi_addr >> params_.addr_bits == 0;
  return queue.state == QueueState::off &&
         good_ring(staged_.sq_base, staged_.sq_log2, formats::submission_bytes) &&
         good_ring(staged_.cq_base, staged_.cq_log2, formats::completion_bytes) &&
         staged_irq_ <= static_cast<uint8_t>(IrqKind::message) &&
         (!message || (staged_.msi_addr % 4 == 0 && msi_on_bus));
}

bool Queues::judge_write(uint32_t address, uint32_t data, uint8_t strobes) const {
  if (!page_exists(address) || strobes != 0xf) return false;
  const Queue& queue = queues_.at(queue_of(address));
  const auto number = static_cast<uint16_t>(data);
  switch (register_of(address)) {
    case reg::TICK_CYCLES:
    case reg::QUEUE:
    case reg::Q_SQ_BASE_LO:
    case reg::Q_SQ_BASE_HI:
    case reg::Q_CQ_BASE_LO:
    case reg::Q_CQ_BASE_HI:
    case reg::Q_SIZE:
    case reg::Q_OWNER:
    case reg::Q_IRQ:
    case reg::Q_MSI_ADDR_LO:
    case reg::Q_MSI_ADDR_HI:
    case reg::Q_MSI_DATA:
    case reg::Q_KEY:
    case reg::Q_QUOTA:
      return true;
    case reg::Q_CTL:
      return data == 1 ? can_enable(queue) : data == 0 && queue.live();
    case reg::SQ_TAIL:
      return queue.state == QueueState::run && data < 0x10000 &&
             distance(queue.head, number) <= queue.sq_size() &&
             distance(queue.head, number) >= distance(queue.head, queue.tail);
    case reg::CQ_HEAD:
      return queue.live() && (data & 0x7fff0000u) == 0 && distance(queue.cq_head, number) <= queue.unseen();
    case reg::MODERATION:
      return queue.live();
    default:
      return false;
  }
}

std::optional<uint32_t> Queues::subject(uint32_t address) const {
  const bool acts = address >= reg::SQ_TAIL || address == reg::Q_CTL;
  return page_exists(address) && acts ? std::optional(queue_of(address)) : std::nullopt;
}

void Queues::enable(Queue& queue) {
  queue = Queue{};
  queue.config = staged_;
  queue.config.irq = IrqKind{staged_irq_};
  queue.state = QueueState::run;
}

void Queues::apply_write(uint32_t address, uint32_t data, bool ok) {
  const uint32_t where = register_of(address);
  if (!ok) {
    const bool doorbell = page_exists(address) && (where == reg::SQ_TAIL || where == reg::CQ_HEAD);
    ++(doorbell ? bad_doorbell_ : bad_access_);
    return;
  }
  Queue& queue = queues_.at(queue_of(address));
  switch (where) {
    case reg::TICK_CYCLES:
      tick_cycles_ = data & 0xffff;
      break;
    case reg::QUEUE:
      chosen_ = data % params_.queues;
      break;
    case reg::Q_SQ_BASE_LO:
      put_low(staged_.sq_base, data);
      break;
    case reg::Q_SQ_BASE_HI:
      put_high(staged_.sq_base, data);
      break;
    case reg::Q_CQ_BASE_LO:
      put_low(staged_.cq_base, data);
      break;
    case reg::Q_CQ_BASE_HI:
      put_high(staged_.cq_base, data);
      break;
    case reg::Q_SIZE:
      staged_.sq_log2 = data & 0xf;
      staged_.cq_log2 = data >> 4 & 0xf;
      break;
    case reg::Q_OWNER:
      staged_.owner = static_cast<uint8_t>(data);
      break;
    case reg::Q_IRQ:
      staged_irq_ = data & 3;
      break;
    case reg::Q_MSI_ADDR_LO:
      put_low(staged_.msi_addr, data);
      break;
    case reg::Q_MSI_ADDR_HI:
      put_high(staged_.msi_addr, data);
      break;
    case reg::Q_MSI_DATA:
      staged_.msi_data = data;
      break;
    case reg::Q_KEY:
      staged_.key = static_cast<uint16_t>(data);
      break;
    case reg::Q_QUOTA:
      staged_.quota = static_cast<uint16_t>(data);
      break;
    case reg::Q_CTL:
      if (data == 1) {
        enable(queue);
      } else {
        queue.state = QueueState::drain;
      }
      break;
    case reg::SQ_TAIL:
      queue.tail = static_cast<uint16_t>(data);
      break;
    case reg::CQ_HEAD:
      queue.cq_head = static_cast<uint16_t>(data);
      queue.armed = queue.armed || data >> 31;
      queue.pending = false;
      break;
    case reg::MODERATION:
      queue.count = static_cast<uint16_t>(data);
      queue.time = static_cast<uint16_t>(data >> 16);
      break;
    default:
      break;
  }
}

std::optional<uint32_t> Queues::read(uint32_t address) const {
  if (!page_exists(address)) return std::nullopt;
  const Queue& queue = queues_.at(queue_of(address));
  const auto pending = [&](uint32_t from) {
    uint32_t bits = 0;
    for (uint32_t q = from; q < from + 32 && q < params_.queues; ++q)
      bits |= uint32_t{queues_[q].pending && queues_[q].live()} << (q - from);
    return bits;
  };
  switch (register_of(address)) {
    case reg::CAPS:
      return params_.queues | params_.fetch << 8 | uint32_t{params_.opcodes} << 16;
    case reg::BAD_ACCESS:
      return bad_access_;
    case reg::BAD_DOORBELL:
      return bad_doorbell_;
    case reg::DISCARDED:
      return discarded_;
    case reg::FETCH_ERRORS:
      return fetch_errors_;
    case reg::WRITE_ERRORS:
      return write_errors_;
    case reg::MSI_ERRORS:
      return msi_errors_;
    case reg::TICK_CYCLES:
      return tick_cycles_;
    case reg::IRQ_PENDING_LO:
      return pending(0);
    case reg::IRQ_PENDING_HI:
      return pending(32);
    case reg::QUEUE:
      return chosen_;
    case reg::Q_SQ_BASE_LO:
      return low(staged_.sq_base);
    case reg::Q_SQ_BASE_HI:
      return high(staged_.sq_base);
    case reg::Q_CQ_BASE_LO:
      return low(staged_.cq_base);
    case reg::Q_CQ_BASE_HI:
      return high(staged_.cq_base);
    case reg::Q_SIZE:
      return staged_.sq_log2 | uint32_t{staged_.cq_log2} << 4;
    case reg::Q_OWNER:
      return staged_.owner;
    case reg::Q_IRQ:
      return staged_irq_;
    case reg::Q_MSI_ADDR_LO:
      return low(staged_.msi_addr);
    case reg::Q_MSI_ADDR_HI:
      return high(staged_.msi_addr);
    case reg::Q_MSI_DATA:
      return staged_.msi_data;
    case reg::Q_KEY:
      return staged_.key;
    case reg::Q_QUOTA:
      return staged_.quota;
    case reg::Q_STATE:
    case reg::STATE:
      return static_cast<uint32_t>(queue.state) | uint32_t{queue.fetch_failed} << 2 |
             uint32_t{queue.write_failed} << 3 | uint32_t{queue.armed && queue.live()} << 4;
    case reg::SQ_HEAD:
      return queue.head | uint32_t{queue.tail} << 16;
    case reg::CQ_TAIL:
      return queue.retired | uint32_t{queue.cq_head} << 16;
    default:
      return std::nullopt;
  }
}

// --- submission

std::string Queues::order(uint32_t number, uint16_t index, uint32_t count) {
  Queue& queue = queues_.at(number);
  if (queue.state != QueueState::run)
    return fmt::format("queue {} is {} and fetches", number, formats::name(queue.state));
  if (index != queue.asked)
    return fmt::format("queue {} fetches entry {}, not {}", number, index, queue.asked);
  if (count == 0 || count > params_.fetch)
    return fmt::format("queue {} fetches {} entries at once", number, count);
  if (count > distance(queue.asked, queue.tail))
    return fmt::format("queue {} fetches beyond its tail", number);
  if (count > queue.room())
    return fmt::format("queue {} fetches {} entries, has room for {} completions", number, count,
                       queue.room());
  if (count > queue.share())
    return fmt::format("queue {} fetches {} entries, its quota leaves it {}", number, count, queue.share());
  if (index % params_.fetch + count > params_.fetch)
    return fmt::format("queue {}: a burst over a block of {}", number, params_.fetch);
  for (uint32_t i = 0; i < count; ++i)
    asked_.push_back({static_cast<uint8_t>(number), static_cast<uint16_t>(index + i)});
  queue.asked = static_cast<uint16_t>(queue.asked + count);
  queue.promised = static_cast<uint16_t>(queue.promised + count);
  return {};
}

uint64_t Queues::entry_address(uint32_t number, uint16_t index) const {
  const Queue& queue = queues_.at(number);
  return queue.config.sq_base + uint64_t{index % queue.sq_size()} * formats::submission_bytes;
}

bool Queues::entry_read(bool bus_error, bool& becomes_error) {
  becomes_error = false;
  if (asked_.empty()) return false;
  Asked entry = asked_.front();
  asked_.pop_front();
  Queue& queue = queues_.at(entry.queue);
  if (bus_error && !queue.unreadable) {
    becomes_error = queue.unreadable = queue.fetch_failed = true;
    ++fetch_errors_;
    if (queue.state == QueueState::run) queue.state = QueueState::error;
  }
  entry.bad = queue.unreadable;
  came_.push_back(entry);
  return true;
}

bool Queues::well_formed(const formats::Submission& entry) {
  const bool send = entry.opcode == static_cast<uint8_t>(Opcode::send);
  const bool recv = entry.opcode == static_cast<uint8_t>(Opcode::recv);
  if ((entry.flags & ~formats::flag_all) != 0 || entry.reserved0 != 0 || entry.reserved1 != 0 ||
      entry.reserved2 != 0)
    return false;
  if ((entry.flags & formats::flag_imm) != 0 && !send) return false;
  if ((send || recv) && entry.remote_addr != 0) return false;
  return !recv || (entry.node == 0 && entry.remote_key == 0);
}

Verdict Queues::verdict(const Asked& asked, const formats::Submission& entry) const {
  if (asked.bad || !queues_.at(asked.queue).live()) return Verdict::dropped;
  return known_opcode(entry.opcode) && well_formed(entry) ? Verdict::accepted : Verdict::rejected;
}

void Queues::judged(const Judged& what) {
  came_.pop_front();
  Queue& queue = queues_.at(what.queue);
  ++(what.verdict == Verdict::dropped ? queue.dropped : queue.head);
  if (what.verdict == Verdict::dropped || !is_of_sender(what.entry.opcode)) ++queue.spared;
}

Request Queues::request(const Judged& what) const {
  return {what.queue, queues_.at(what.queue).config.owner, what.entry};
}

Outcome Queues::rejection(const Judged& what) const {
  Outcome outcome;
  outcome.queue = what.queue;
  outcome.fields.tag = what.entry.tag;
  outcome.fields.node = what.entry.node;
  outcome.fields.opcode = what.entry.opcode;
  outcome.fields.status = static_cast<uint8_t>(known_opcode(what.entry.opcode) ? QueueStatus::bad_entry
                                                                               : QueueStatus::bad_opcode);
  return outcome;
}

std::string Queues::claim(uint32_t number, bool granted) {
  Queue& queue = queues_.at(number);
  if (!granted) return {};  // whether there was room a moment ago is the hardware's to say
  if (!queue.live())
    return fmt::format("queue {} is {} and grants a slot", number, formats::name(queue.state));
  if (queue.room() == 0) return fmt::format("queue {} grants a slot that it does not have", number);
  ++queue.promised;
  return {};
}

// --- completions

std::string Queues::place(const Outcome& outcome, Placed& placed) const {
  const Queue& queue = queues_.at(outcome.queue);
  if (queue.promised == queue.retired)
    return fmt::format("a completion of queue {}, which owes none", outcome.queue);
  placed = {!queue.live(), 0, outcome.fields};
  if (placed.discard) return {};
  if (distance(queue.cq_head, queue.written) >= queue.cq_size())
    return fmt::format("the completion ring of queue {} is overrun", outcome.queue);
  placed.address =
      queue.config.cq_base + uint64_t{queue.written % queue.cq_size()} * formats::completion_bytes;
  placed.entry.sq_head = queue.head;
  placed.entry.phase = (queue.written / queue.cq_size() + 1) % 2;
  return {};
}

void Queues::placed(const Outcome& outcome, const Placed& placed) {
  Queue& queue = queues_.at(outcome.queue);
  if (!placed.discard) ++queue.written;
  if (is_of_sender(outcome.fields.opcode)) ++queue.ended;
  owed_.push_back({outcome.queue, placed.discard, outcome.signal || outcome.fields.status != 0});
}

std::string Queues::retire(uint32_t number, bool discarded, bool urgent, bool failed) {
  if (owed_.empty()) return "a completion is retired that was never placed";
  const Owed owed = owed_.front();
  owed_.pop_front();
  if (owed.queue != number || owed.discarded != discarded || owed.urgent != urgent) {
    return fmt::format("a completion of queue {} is retired out of order", number);
  }
  Queue& queue = queues_.at(number);
  ++queue.retired;
  if (discarded) ++discarded_;
  if (queue.live() && urgent) {
    queue.urgent = true;
    queue.urgent_index = queue.retired;
  }
  if (failed) {
    ++write_errors_;
    queue.write_failed = true;
    if (queue.state == QueueState::run) queue.state = QueueState::error;
  }
  return {};
}

// --- interrupts and states

std::string_view Queues::due_cause(uint32_t number) const {
  const Queue& queue = queues_.at(number);
  if (!queue.live() || !queue.armed || queue.config.irq == IrqKind::none) return {};
  if (queue.state == QueueState::error) return "error";
  if (queue.unseen() == 0) return {};
  if (queue.count <= 1 || queue.time == 0) return "at_once";
  const uint16_t urgent_ahead = distance(queue.cq_head, queue.urgent_index);
  if (queue.urgent && urgent_ahead != 0 && urgent_ahead <= queue.unseen()) return "urgent";
  return queue.unseen() >= queue.count ? "count" : "";
}

std::string_view Queues::fire_cause(uint32_t number) const {
  const std::string_view due = due_cause(number);
  return !due.empty() ? due : queues_.at(number).urgent ? "urgent" : "time";
}

std::string Queues::fire(uint32_t number, bool may_be_time) {
  Queue& queue = queues_.at(number);
  if (!queue.live() || queue.config.irq == IrqKind::none)
    return fmt::format("queue {} has no interrupt now", number);
  if (!queue.armed) return fmt::format("queue {} is not armed and fires", number);
  if (queue.state != QueueState::error && queue.unseen() == 0)
    return fmt::format("queue {} fires with nothing unseen", number);
  if (!must_fire(number) && !queue.urgent && !may_be_time)
    return fmt::format("queue {} fires in spite of its moderation", number);
  queue.armed = false;
  queue.urgent = false;
  if (queue.config.irq == IrqKind::level) queue.pending = true;
  if (queue.config.irq == IrqKind::message) queue.message_under_way = true;
  return {};
}

void Queues::message_answered(uint32_t number, bool ok) {
  queues_.at(number).message_under_way = false;
  if (!ok) ++msi_errors_;
}

std::string Queues::off(uint32_t number) {
  Queue& queue = queues_.at(number);
  if (queue.state != QueueState::drain)
    return fmt::format("queue {} goes from {} to OFF", number, formats::name(queue.state));
  if (queue.promised != static_cast<uint16_t>(queue.dropped + queue.retired))
    return fmt::format("queue {} is OFF with something under way", number);
  if (queue.held() != 0) return fmt::format("queue {} is OFF and holds a part of its quota", number);
  if (queue.message_under_way) return fmt::format("queue {} is OFF with a message under way", number);
  if (queue.known_open) return fmt::format("queue {} is OFF and open for the inbox", number);
  const Queue before = queue;
  queue = Queue{};
  queue.fetch_failed = before.fetch_failed;
  queue.write_failed = before.write_failed;
  return {};
}

std::string Queues::tell(uint32_t number, bool open, uint16_t key) {
  Queue& queue = queues_.at(number);
  if (open == queue.known_open)
    return fmt::format("the inbox is told twice that queue {} is {}", number, open ? "open" : "closed");
  if (open != (queue.state == QueueState::run))
    return fmt::format("the inbox is told that queue {} is {}, which is {}", number, open ? "open" : "closed",
                       formats::name(queue.state));
  if (open && key != queue.config.key)
    return fmt::format("queue {} is opened with key {:#x}, not {:#x}", number, key, queue.config.key);
  queue.known_open = open;
  return {};
}

bool Queues::level() const {
  for (const Queue& queue : queues_) {
    if (queue.pending && queue.live()) return true;
  }
  return false;
}

}  // namespace weft::rdma_queues
