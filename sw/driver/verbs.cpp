// SPDX-License-Identifier: Apache-2.0
// What applications use of a NIC.
#include "driver/verbs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

#include "common/fault.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::verbs {

using driver::Ask;
using driver::Reply;
using driver::Request;

namespace {

constexpr uint64_t look_again = 1000;       // clocks between looks for what a peer publishes
constexpr uint64_t granularity = 4096;      // of allocations; a multiple of every payload
constexpr uint16_t acknowledge_after = 64;  // completions

Request named(Ask ask, std::string_view name) {
  if (name.size() >= driver::name_bytes)
    throw Fault("'" + std::string(name) + "': longer than a name may be");
  Request request{.ask = ask};
  std::ranges::copy(name, request.name.begin());
  return request;
}

}  // namespace

std::string_view status_name(uint8_t status) {
  const std::string_view of_engine = rdma::formats::name(static_cast<rdma::formats::Status>(status));
  return of_engine != "?"
             ? of_engine
             : rdma_queues::formats::name(static_cast<rdma_queues::formats::QueueStatus>(status));
}

class Context::Bus : public driver::RegisterBus {
 public:
  explicit Bus(driver::Port& port) : port_(port) {}
  void write(uint32_t address, uint32_t data, driver::OnWritten done) override {
    const Reply reply = port_.ask({.ask = Ask::write_register, .a = address, .b = data});
    if (done) done(reply.ok != 0);
  }
  void read(uint32_t address, driver::OnRead done) override {
    const Reply reply = port_.ask({.ask = Ask::read_register, .a = address});
    done(reply.ok != 0, static_cast<uint32_t>(reply.values[0]));
  }

 private:
  driver::Port& port_;
};

class Context::Memory : public driver::RingMemory {
 public:
  explicit Memory(std::span<uint8_t> bytes) : bytes_(bytes) {}
  void write(uint64_t address, std::span<const uint8_t> bytes) override {
    std::memcpy(bytes_.data() + address, bytes.data(), bytes.size());
    std::atomic_thread_fence(std::memory_order_release);
  }
  void read(uint64_t address, std::span<uint8_t> bytes) const override {
    std::memcpy(bytes.data(), bytes_.data() + address, bytes.size());
    std::atomic_thread_fence(std::memory_order_acquire);
  }

 private:
  std::span<uint8_t> bytes_;
};

Context::Context(std::unique_ptr<driver::Port> port)
    : port_(std::move(port)),
      bus_(std::make_unique<Bus>(*port_)),
      memory_(std::make_unique<Memory>(port_->memory())),
      exceptions_(std::uncaught_exceptions()) {
  const auto values = ask({.ask = Ask::attach});
  node_ = static_cast<uint32_t>(values[0]);
  base_ = values[1];
  bytes_ = values[2];
}

Context::~Context() {
  if (std::uncaught_exceptions() > exceptions_) return;
  try {
    port_->ask({.ask = Ask::leave});
  } catch (const Fault&) {  // the node is gone
  }
}

std::array<uint64_t, 4> Context::ask(const Request& request) {
  const Reply reply = port_->ask(request);
  if (reply.ok == 0) throw Fault("node " + std::to_string(node_) + ": " + reply.text());
  return reply.values;
}

Attributes Context::attributes() {
  const auto values = ask({.ask = Ask::attributes});
  return {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
          static_cast<uint32_t>(values[2]), values[3]};
}

bool Context::wait_for_byte(uint64_t address, uint8_t value, uint64_t clocks) {
  return ask({.ask = Ask::wait, .a = value, .x = address, .y = clocks})[0] != 0;
}

void Context::publish_values(std::string_view name, std::array<uint64_t, 4> values) {
  Request request = named(Ask::publish, name);
  request.values = values;
  ask(request);
}

void Context::publish(std::string_view name, const RemoteBytes& memory) {
  publish_values(name, {memory.node, memory.address, memory.key});
}

void Context::publish(std::string_view name, const RemoteQueue& queue) {
  publish_values(name, {queue.node, queue.queue, queue.key});
}

std::array<uint64_t, 4> Context::find(uint32_t node, std::string_view name, uint64_t clocks) {
  Request request = named(Ask::look_up, name);
  request.a = node;
  for (uint64_t waited = 0;; waited += look_again) {
    const Reply reply = port_->ask(request);
    if (reply.ok != 0) return reply.values;
    if (reply.values[0] == 0) throw Fault(reply.text());
    if (waited >= clocks) throw Fault("node " + std::to_string(node) + ": " + reply.text());
    uint8_t now = 0;
    memory_->read(base_, {&now, 1});
    wait_for_byte(base_, now, look_again);
  }
}

RemoteBytes Context::find_memory(uint32_t node, std::string_view name, uint64_t clocks) {
  const auto values = find(node, name, clocks);
  return {static_cast<uint32_t>(values[0]), values[1], static_cast<uint32_t>(values[2])};
}

RemoteQueue Context::find_queue(uint32_t node, std::string_view name, uint64_t clocks) {
  const auto values = find(node, name, clocks);
  return {static_cast<uint32_t>(values[0]), static_cast<uint8_t>(values[1]),
          static_cast<uint16_t>(values[2])};
}

/// The first gap that is large enough.
uint64_t Context::allocate(uint64_t bytes) {
  uint64_t at = base_;
  for (const auto& [address, size] : used_) {
    if (address - at >= bytes) break;
    at = address + size;
  }
  if (bytes > base_ + bytes_ - at)
    throw Fault("node " + std::to_string(node_) + ": no memory left for " + std::to_string(bytes) + " bytes");
  used_[at] = bytes;
  return at;
}

uint64_t Context::new_domain() {
  uint64_t number = 0;
  while (!domains_.insert(number).second) ++number;
  return number;
}

MemoryRegion::MemoryRegion(const ProtectionDomain& domain, uint64_t bytes, uint32_t access, const Queue* told)
    : context_(domain.context()), bytes_(bytes) {
  if (bytes == 0) throw Fault("memory region of no bytes");
  const uint64_t whole = (bytes + granularity - 1) / granularity * granularity;
  if (whole < bytes) throw Fault("memory region of more bytes than any node has");
  address_ = context_.allocate(whole);
  try {
    const uint32_t queue = told ? told->number() + 1 : 0;
    key_ = static_cast<uint32_t>(context_.ask({.ask = Ask::open_region,
                                               .a = access,
                                               .b = queue,
                                               .x = address_,
                                               .y = whole,
                                               .values = {domain.number()}})[0]);
  } catch (...) {
    context_.free(address_);
    throw;
  }
}

MemoryRegion::~MemoryRegion() {
  try {
    context_.port_->ask({.ask = Ask::close_region, .a = key_});
  } catch (const Fault&) {  // the node is gone, and the region with it
  }
  context_.free(address_);
}

std::span<uint8_t> MemoryRegion::bytes() { return context_.port_->memory().subspan(address_, bytes_); }

Queue::Queue(const ProtectionDomain& domain, uint32_t number) : context_(domain.context()) {
  const auto values = context_.ask({.ask = Ask::claim_queue, .a = number, .values = {domain.number()}});
  driver::RingSetup setup;
  setup.sq_base = values[1];
  setup.cq_base = values[2];
  setup.sq_log2 = setup.cq_log2 = 8;
  setup.key = static_cast<uint16_t>(values[3]);
  ring_.emplace(*context_.bus_, *context_.memory_, static_cast<uint32_t>(values[0]), setup);
}

Queue::~Queue() {
  try {
    context_.port_->ask({.ask = Ask::release_queue, .a = number()});
  } catch (const Fault&) {  // the node is gone, and the queue with it
  }
}

RemoteQueue Queue::remote() const {
  return {context_.node(), static_cast<uint8_t>(number()), ring_->setup().key};
}

bool Queue::announce(bool put) {
  if (put)
    ring_->ring([](bool ok) {
      if (!ok) throw Fault("the queue takes no more requests: it is disabled, or in error");
    });
  return put;
}

std::optional<Completion> Queue::poll() {
  const auto completion = ring_->take();
  if (completion && static_cast<uint16_t>(ring_->taken() - acknowledged_) >= acknowledge_after) {
    acknowledged_ = ring_->taken();
    ring_->acknowledge();
  }
  return completion;
}

/// Its last byte, which is written last.
uint64_t Queue::next_completion() const {
  constexpr uint64_t bytes = rdma_queues::formats::completion_bytes;
  return ring_->setup().cq_base + (ring_->taken() % ring_->setup().cq_size() + 1) * bytes - 1;
}

std::optional<Completion> Queue::wait(uint64_t clocks) {
  uint8_t before = 0;
  context_.memory_->read(next_completion(), {&before, 1});
  if (const auto there = poll()) return there;
  context_.wait_for_byte(next_completion(), before, clocks);
  return poll();
}

Completion Queue::expect(uint64_t clocks) {
  const auto completion = wait(clocks);
  if (!completion) throw Fault("no completion within " + std::to_string(clocks) + " clocks");
  if (completion->status != 0)
    throw Fault("request " + std::to_string(completion->tag) + " to node " +
                std::to_string(completion->node) + " ended with " +
                std::string(status_name(completion->status)));
  return *completion;
}

Barrier::Barrier(const ProtectionDomain& domain, uint32_t number, std::span<const uint32_t> nodes,
                 uint16_t instance)
    : context_(domain.context()), number_(number) {
  uint64_t members = 0;
  for (const uint32_t node : nodes) {
    if (node >= 64) throw Fault("barrier: node " + std::to_string(node) + " is beyond 63");
    if (members >> node & 1) throw Fault("barrier: node " + std::to_string(node) + " is named twice");
    members |= uint64_t{1} << node;
  }
  context_.ask({.ask = Ask::open_barrier, .a = number, .b = instance, .x = members});
}

Barrier::~Barrier() {
  try {
    context_.port_->ask({.ask = Ask::close_barrier, .a = number_});
  } catch (const Fault&) {  // the node is gone, and the barrier with it
  }
}

void Barrier::arrive() { context_.ask({.ask = Ask::arrive, .a = number_}); }

bool Barrier::wait(uint64_t clocks) {
  const auto values = context_.ask({.ask = Ask::await_barrier, .a = number_, .y = clocks});
  late_ = values[3] != 0 ? std::optional(static_cast<uint32_t>(values[3] - 1)) : std::nullopt;
  if (values[0] == 0) return false;
  if (values[1] != 0)
    throw Fault("barrier " + std::to_string(number_) + ": node " + std::to_string(values[2]) + " is dead");
  return true;
}

void Barrier::enter(uint64_t clocks) {
  arrive();
  if (!wait(clocks))
    throw Fault("barrier " + std::to_string(number_) + " has not ended within " + std::to_string(clocks) +
                " clocks" + (late_ ? ": node " + std::to_string(*late_) + " is late" : ""));
}

}  // namespace weft::verbs
