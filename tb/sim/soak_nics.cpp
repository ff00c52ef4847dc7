// SPDX-License-Identifier: Apache-2.0
// Software of the NICs in a run of the fault campaign.
#include "soak_nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "soak_nic_plan.hpp"

namespace weft::sim {

namespace formats = rdma_queues::formats;
using formats::IrqKind;
using formats::Opcode;
using rdma::formats::Status;

namespace {

constexpr uint64_t guard_bytes = 4096;  // around each region, also with known bytes in it
constexpr uint64_t first_stream = 1 << 20;

std::array<uint8_t, 4> little_endian(uint32_t value) {
  std::array<uint8_t, 4> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  return bytes;
}

std::string opcode_name(const RingPost& post) {
  const std::string_view known = formats::name(post.opcode());
  return known == "?" ? "undefined" : std::string(known);
}

}  // namespace

SoakNics::SoakNics(const Plan& plan, tb::RdmaSystem& system, SoakLedger& ledger, SoakMemory& memory)
    : plan_(plan),
      system_(system),
      ledger_(ledger),
      memory_(memory),
      hosts_(plan.nodes()),
      reads_open_(plan.nodes(), 0) {
  for (uint32_t node = 0; node < plan.nodes(); ++node) {
    Host& host = hosts_[node];
    host.memory = std::make_unique<Memory>(memory, system.node(node).memory().memory(), node);
    host.administrator =
        std::make_unique<driver::RingAdministrator>(system.node(node).registers(), *host.memory);
    host.queues.resize(queues());
    host.next_buffer = nic().first_buffer[node];
  }
}

void SoakNics::prepare() {
  uint64_t stream = first_stream;
  for (uint32_t node = 0; node < plan_.nodes(); ++node) prepare_node(node, stream);
  for (const auto& round : plan_.rounds) {
    for (const PlannedPost& post : round) {
      if (!post.ring || post.deserved != Status::ok) continue;
      const formats::Submission& entry = post.ring->entry;
      const bool is_read = post.ring->opcode() == Opcode::read;
      const uint32_t from = is_read ? entry.node : post.node;
      auto bytes = soak_bytes(entry.bytes, plan_.seed, stream++);
      memory_.fill(from, is_read ? entry.remote_addr : entry.local_addr, bytes);
      if (post.is_message())
        messages_.insert({{post.node, post.request.tag}, {.post = post, .bytes = bytes}});
      if (post.ring->opcode() == Opcode::send) {
        memory_.expect_message(entry.node, post.message_queue(), std::move(bytes));
      } else if (is_read) {
        memory_.expect_transfer(post.node, entry.local_addr, std::move(bytes));
      } else {
        memory_.expect_transfer(entry.node, entry.remote_addr, std::move(bytes));
      }
    }
  }
}

void SoakNics::prepare_node(uint32_t node, uint64_t& stream) {
  for (const driver::RdmaRegion& region : plan_.setups[node].regions) {
    const uint64_t first = region.base - guard_bytes;
    memory_.fill(node, first, soak_bytes(region.limit + guard_bytes - first, plan_.seed, stream++));
  }
  for (const NicPlan::Queue& queue : nic().queues[node]) {
    const auto message = little_endian(queue.setup.msi_data);
    memory_.expect_transfer(node, queue.setup.msi_addr, {message.begin(), message.end()});
    memory_.add_ring(node, queue.setup.cq_base, uint64_t{queue.setup.cq_size()} * formats::completion_bytes);
  }
}

void SoakNics::open() {
  for (Host& host : hosts_) {
    if (host.state != State::gone) host.state = State::off;
  }
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    if (hosts_[node].state == State::off) enable(node);
  }
}

void SoakNics::enable(uint32_t node) {
  Host& host = hosts_[node];
  host.state = State::starting;
  host.answers = 0;
  for (uint32_t queue = 0; queue < queues(); ++queue) {
    const driver::RingSetup& setup = nic().queues[node][queue].setup;
    host.queues[queue] =
        std::make_unique<driver::RingQueue>(system_.node(node).registers(), *host.memory, queue, setup);
    host.administrator->enable(queue, setup, [this, node, queue](bool ok) {
      if (!ok) tell(node, fmt::format("queue {} cannot be enabled", queue));
      hosts_[node].answers++;
    });
  }
}

bool SoakNics::bring_up(uint32_t node) {
  Host& host = hosts_[node];
  if (host.state == State::gone) enable(node);  // only a node that was reset is ready again
  if (host.state == State::starting && host.answers == queues()) {
    host.state = State::on;
    for (uint32_t queue = 0; queue < queues(); ++queue) {
      keep_buffers(node, queue);
      if (nic().queues[node][queue].sleeps) sleep(node, queue);
    }
  }
  return host.state == State::on;
}

/// Software makes its peers send only what it has buffers for (docs/rdma_queues.md, Tags and tickets). What
/// may be under way to a queue counts against what waits there; a node that is down cannot say.
bool SoakNics::has_credit(uint32_t node, uint32_t queue) const {
  if (node >= hosts_.size() || !is_up(node)) return true;
  const auto coming = std::ranges::count_if(messages_, [&](const auto& entry) {
    const Message& message = entry.second;
    const bool may_come = message.given && !message.delivered && !(message.over && !message.ok);
    return may_come && message.post.request.node == node && message.post.message_queue() == queue;
  });
  return static_cast<uint64_t>(coming) < ledger_.waiting_buffers(node, queue).size();
}

bool SoakNics::can_take(const PlannedPost& post) const {
  const uint32_t node = post.node;
  if (system_.cycle() % look_cycles != 0 || !is_up(node)) return false;
  if (hosts_[node].queues[post.ring->queue]->room() == 0) return false;
  if (post.ring->opcode() == Opcode::read) {
    const uint64_t tickets = plan_.system.node.build.params.n_tickets - uint64_t{nic().buffers} * queues();
    return reads_open(node) < tickets;
  }
  return !post.is_message() || has_credit(post.request.node, post.message_queue());
}

void SoakNics::give(const PlannedPost& post) {
  counts_.given[opcode_name(*post.ring)]++;
  reads_open_[post.node] += post.ring->opcode() == Opcode::read;
  const auto message = messages_.find({post.node, post.request.tag});
  if (message != messages_.end()) message->second.given = true;
  hosts_[post.node].queues[post.ring->queue]->put(post.ring->entry);
  announce(post.node, post.ring->queue, post.request.tag);
}

void SoakNics::announce(uint32_t node, uint32_t queue, uint16_t tag) {
  hosts_[node].queues[queue]->ring([this, node, queue, tag](bool ok) {
    if (ok) return ledger_.accepted(node, tag);
    tell(node, fmt::format("the doorbell of queue {} is refused", queue));
  });
}

void SoakNics::keep_buffers(uint32_t node, uint32_t queue) {
  if (!plan_.system.node.build.params.transfers) return;
  Host& host = hosts_[node];
  uint64_t waiting = ledger_.waiting_buffers(node, queue).size();
  for (; waiting < nic().buffers && host.queues[queue]->room() > 0; ++waiting) {
    uint64_t& next = host.next_buffer[queue];
    if (next == nic().buffers_end[node][queue]) return;
    PlannedPost post;
    post.node = node;
    post.request.tag = host.next_tag++;
    post.request.bytes = nic().slot;
    post.request.src_addr = take_place(next, nic().slot, plan_.system.node.build.params.payload);
    RingPost& ring = post.ring.emplace();
    ring.queue = queue;
    const auto region = static_cast<uint8_t>(nic_region(queue, NicRegion::buffers));
    ring.entry.opcode = static_cast<uint8_t>(Opcode::recv);
    ring.entry.tag = wide_tag(post.request.tag);
    ring.entry.local_addr = post.request.src_addr;
    ring.entry.bytes = nic().slot;
    ring.entry.local_key = driver::rdma_rkey(region, plan_.setups[node].regions[region].key);
    memory_.add_buffer(node, queue, post.request.src_addr, nic().slot);
    last_buffer_ = system_.cycle();
    ledger_.give(post, system_.cycle());
    give(post);
  }
}

void SoakNics::step() {
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    if (hosts_[node].state == State::starting) bring_up(node);
    if (!is_up(node)) continue;
    for (uint32_t queue = 0; queue < queues(); ++queue) {
      if ((system_.cycle() + 5ull * node + queue) % look_cycles == 0) look(node, queue);
    }
  }
}

void SoakNics::sleep(uint32_t node, uint32_t queue) {
  hosts_[node].memory->write(nic().queues[node][queue].setup.msi_addr, little_endian(0));
  hosts_[node].queues[queue]->acknowledge(true);
}

/// The line is common to all queues; a message is of one, and there since software has last armed.
bool SoakNics::woken(uint32_t node, uint32_t queue) {
  const NicPlan::Queue& plan = nic().queues[node][queue];
  if (!plan.sleeps) return true;
  const bool called = plan.setup.irq == IrqKind::level
                          ? system_.node(node).queue_irq()
                          : system_.node(node).memory().memory().equals(plan.setup.msi_addr,
                                                                        little_endian(plan.setup.msi_data));
  counts_.wake_ups += called;
  return called;
}

void SoakNics::look(uint32_t node, uint32_t queue) {
  if (!woken(node, queue)) return;
  const uint32_t taken = take_all(node, queue);
  if (nic().queues[node][queue].sleeps) {
    sleep(node, queue);
  } else if (taken > 0) {
    hosts_[node].queues[queue]->acknowledge();
  }
  keep_buffers(node, queue);
}

uint32_t SoakNics::take_all(uint32_t node, uint32_t queue) {
  uint32_t taken = 0;
  while (const auto got = hosts_[node].queues[queue]->take()) {
    note(node, queue, *got);
    ++taken;
  }
  return taken;
}

void SoakNics::note(uint32_t node, uint32_t queue, const Completion& got) {
  const auto tag = static_cast<uint16_t>(got.tag);
  if (got.tag != wide_tag(tag)) return tell(node, fmt::format("completion with tag {:#x}", got.tag));
  const PlannedPost* post = ledger_.completed(node, tag, static_cast<Status>(got.status), system_.cycle());
  if (!post) return;
  if (!post->ring || post->ring->queue != queue)
    return tell(node,
                fmt::format("completion {} in the ring of queue {}, which has not posted it", tag, queue));
  if (got.status == 0) counts_.ended_ok[opcode_name(*post->ring)]++;
  if (post->is_buffer()) return note_buffer(*post, got);
  note_request(*post, got);
}

void SoakNics::note_request(const PlannedPost& post, const Completion& got) {
  const formats::Submission& entry = post.ring->entry;
  const bool ok = got.status == 0;
  const bool fits = got.opcode == entry.opcode && got.node == entry.node &&
                    got.bytes == (ok ? entry.bytes : 0) && got.has_immediate == 0 && got.immediate == 0;
  if (!fits)
    tell(post.node, fmt::format("completion {}: {} of {} bytes to node {}, which does not fit its request",
                                post.request.tag, got.opcode, got.bytes, got.node));
  const Opcode opcode = post.ring->opcode();
  reads_open_[post.node] -= opcode == Opcode::read;
  const auto message = messages_.find({post.node, post.request.tag});
  if (message != messages_.end()) {
    message->second.over = true;
    message->second.ok = ok;
  }
  if (!ok || post.deserved != Status::ok) return;
  if (opcode == Opcode::read) memory_.arrived(post.node, entry.local_addr, system_.cycle());
  if (opcode == Opcode::write || opcode == Opcode::write_imm)
    memory_.arrived(entry.node, entry.remote_addr, system_.cycle());
}

/// By its immediate; without one by what it is.
SoakNics::Message* SoakNics::find_message(const PlannedPost& buffer, const Completion& got) {
  const uint64_t at = buffer.ring->entry.local_addr;
  for (auto& [key, message] : messages_) {
    const formats::Submission& entry = message.post.ring->entry;
    if (!message.given || entry.node != buffer.node || message.post.message_queue() != buffer.ring->queue)
      continue;
    const bool has_immediate =
        message.post.ring->opcode() == Opcode::write_imm || (entry.flags & formats::flag_imm);
    if (has_immediate != (got.has_immediate != 0)) continue;
    if (has_immediate ? entry.immediate == got.immediate
                      : !message.delivered && entry.bytes == got.bytes && message.post.node == got.node &&
                            system_.node(buffer.node).memory().memory().equals(at, message.bytes))
      return &message;
  }
  return nullptr;
}

void SoakNics::note_buffer(const PlannedPost& post, const Completion& got) {
  if (got.status != 0) return;  // told already
  memory_.buffer_done(post.node, post.ring->entry.local_addr);
  Message* message = find_message(post, got);
  if (!message)
    return tell(post.node, fmt::format("queue {} receives {} bytes of node {} that nobody has sent",
                                       post.ring->queue, got.bytes, got.node));
  check_message(*message, post, got);
  message->delivered = true;
  counts_.delivered++;
}

void SoakNics::check_message(const Message& message, const PlannedPost& buffer, const Completion& got) {
  const formats::Submission& entry = message.post.ring->entry;
  const bool is_send = message.post.ring->opcode() == Opcode::send;
  const auto expect = [&](bool ok, const char* what) {
    if (ok) return;
    tell(buffer.node, fmt::format("message {} of node {} to queue {} {}", message.post.request.tag,
                                  message.post.node, buffer.ring->queue, what));
  };
  expect(!message.delivered, "is delivered twice");
  expect(got.node == message.post.node, "is said to be of another node");
  expect(got.bytes == entry.bytes, "has another length");
  expect(got.opcode == static_cast<uint8_t>(is_send ? Opcode::receive : Opcode::receive_imm),
         "is of another kind");
  const uint64_t address = is_send ? buffer.ring->entry.local_addr : entry.remote_addr;
  expect(system_.node(buffer.node).memory().memory().equals(address, message.bytes), "is not whole");
}

bool SoakNics::all_delivered() const {
  return std::ranges::none_of(messages_, [](const auto& entry) {
    return entry.second.ok && !entry.second.delivered && !entry.second.excused;
  });
}

/// Entries that the NIC has not taken yet when their queue is disabled would end without a trace.
bool SoakNics::close() {
  if (system_.cycle() < last_buffer_ + taken_cycles) return false;
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    if (is_up(node)) disable(node);
    Host& host = hosts_[node];
    if (host.state == State::closing && host.answers == queues() && !host.counter_asked) account(node);
  }
  return std::ranges::all_of(
      hosts_, [](const Host& host) { return host.state == State::closed || host.state == State::gone; });
}

void SoakNics::disable(uint32_t node) {
  Host& host = hosts_[node];
  host.state = State::closing;
  host.answers = 0;
  host.counter_asked = false;
  for (uint32_t queue = 0; queue < queues(); ++queue) {
    host.administrator->disable(queue, [this, node, queue](bool ok) {
      if (!ok) tell(node, fmt::format("queue {} cannot be disabled", queue));
      hosts_[node].answers++;
    });
  }
}

/// All queues are off. What was given a slot before is in the ring; everything else was a buffer that waited,
/// and its completion discarded.
void SoakNics::account(uint32_t node) {
  Host& host = hosts_[node];
  host.counter_asked = true;
  for (uint32_t queue = 0; queue < queues(); ++queue) {
    take_all(node, queue);
    for (const uint16_t tag : ledger_.waiting_buffers(node, queue)) {
      ledger_.withdraw(node, tag);
      host.discarded++;
    }
  }
  system_.node(node).registers().read(
      driver::ring_register(formats::reg::DISCARDED), [this, node](bool ok, uint32_t value) {
        Host& asked = hosts_[node];
        if (!ok || value != asked.discarded)
          tell(node, fmt::format("{} completions discarded, but {} buffers waited", value, asked.discarded));
        asked.state = State::closed;
      });
}

void SoakNics::lose(uint32_t node) {
  Host& host = hosts_[node];
  host.state = State::gone;
  host.discarded = 0;
  reads_open_[node] = 0;
  for (auto& queue : host.queues) queue.reset();
  for (auto& [key, message] : messages_) {
    if (message.given && message.post.request.node == node && !message.delivered) message.excused = true;
    if (message.post.node == node && message.given && !message.over) message.over = true;
  }
}

}  // namespace weft::sim
