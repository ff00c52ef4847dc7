// SPDX-License-Identifier: Apache-2.0
// The host library for C.
#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "common/fault.hpp"
#include "driver/socket_port.hpp"
#include "driver/verbs.hpp"
#include "driver/weft.h"

using namespace weft;

struct weft_context {
  explicit weft_context(std::unique_ptr<driver::Port> port) : context(std::move(port)), domain(context) {}
  verbs::Context context;
  verbs::ProtectionDomain domain;
  std::string error;
};

struct weft_domain {
  explicit weft_domain(weft_context* of) : context(of), domain(of->context) {}
  weft_context* context;
  verbs::ProtectionDomain domain;
};

struct weft_region {
  weft_region(weft_context* of, const verbs::ProtectionDomain& domain, uint64_t bytes, uint32_t access,
              const weft_queue* told);
  weft_context* context;
  verbs::MemoryRegion region;
};

struct weft_queue {
  weft_queue(weft_context* of, const verbs::ProtectionDomain& domain, uint32_t number)
      : context(of), queue(domain, number) {}
  weft_context* context;
  verbs::Queue queue;
};

weft_region::weft_region(weft_context* of, const verbs::ProtectionDomain& domain, uint64_t bytes,
                         uint32_t access, const weft_queue* told)
    : context(of), region(domain, bytes, access, told != nullptr ? &told->queue : nullptr) {}

struct weft_barrier {
  weft_barrier(weft_context* of, uint32_t number, std::span<const uint32_t> nodes, uint16_t instance)
      : context(of), barrier(of->domain, number, nodes, instance) {}
  weft_context* context;
  verbs::Barrier barrier;
};

namespace {

/// What `action` returns, or `failed`: no exception gets out of here.
template <typename Result, typename Action>
Result guarded(weft_context* context, Result failed, Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    context->error = error.what();
    return failed;
  }
}

template <typename Action>
int post(weft_queue* queue, Action action) {
  return guarded(queue->context, -1, [&] {
    if (!action()) throw Fault("queue is full: take completions first");
    return 0;
  });
}

using rdma_queues::formats::Opcode;
static_assert(WEFT_WRITE == static_cast<int>(Opcode::write) &&
              WEFT_WRITE_IMM == static_cast<int>(Opcode::write_imm) &&
              WEFT_SEND == static_cast<int>(Opcode::send) && WEFT_READ == static_cast<int>(Opcode::read) &&
              WEFT_RECV == static_cast<int>(Opcode::recv) &&
              WEFT_RECEIVE == static_cast<int>(Opcode::receive) &&
              WEFT_RECEIVE_IMM == static_cast<int>(Opcode::receive_imm));

weft_completion for_c(const verbs::Completion& completion) {
  return {completion.tag,    completion.bytes,  completion.node,         completion.immediate,
          completion.status, completion.opcode, completion.has_immediate};
}

void copy_line(const std::string& text, char* to, size_t bytes) {
  if (to == nullptr || bytes == 0) return;
  const size_t count = std::min(text.size(), bytes - 1);
  std::copy_n(text.begin(), count, to);
  to[count] = '\0';
}

}  // namespace

weft_context* weft_attach(const char* fabric, uint32_t node, char* why, size_t why_bytes) {
  try {
    return new weft_context(driver::attach(fabric, node));
  } catch (const std::exception& error) {
    copy_line(error.what(), why, why_bytes);
    return nullptr;
  }
}

void weft_detach(weft_context* context) { delete context; }

const char* weft_error(const weft_context* context) { return context->error.c_str(); }

uint32_t weft_node(const weft_context* context) { return context->context.node(); }

uint64_t weft_memory_bytes(const weft_context* context) { return context->context.memory_bytes(); }

int weft_query(weft_context* context, weft_attributes* attributes) {
  return guarded(context, -1, [&] {
    const verbs::Attributes got = context->context.attributes();
    *attributes = {got.queues, got.regions, got.payload, got.memory_bytes};
    return 0;
  });
}

uint64_t weft_clock(weft_context* context) {
  return guarded(context, UINT64_MAX, [&] { return context->context.clock(); });
}

uint64_t weft_not_waited(weft_context* context) {
  return guarded(context, UINT64_MAX, [&] { return context->context.not_waited(); });
}

weft_region* weft_region_open(weft_context* context, uint64_t bytes, uint32_t access) {
  return guarded<weft_region*>(
      context, nullptr, [&] { return new weft_region(context, context->domain, bytes, access, nullptr); });
}

weft_region* weft_region_open_told(weft_context* context, uint64_t bytes, uint32_t access,
                                   const weft_queue* told) {
  return guarded<weft_region*>(
      context, nullptr, [&] { return new weft_region(context, context->domain, bytes, access, told); });
}

weft_domain* weft_domain_open(weft_context* context) {
  return guarded<weft_domain*>(context, nullptr, [&] { return new weft_domain(context); });
}

void weft_domain_close(weft_domain* domain) { delete domain; }

weft_region* weft_region_open_in(weft_domain* domain, uint64_t bytes, uint32_t access,
                                 const weft_queue* told) {
  return guarded<weft_region*>(domain->context, nullptr, [&] {
    return new weft_region(domain->context, domain->domain, bytes, access, told);
  });
}

weft_queue* weft_queue_open_in(weft_domain* domain, uint32_t number) {
  return guarded<weft_queue*>(domain->context, nullptr,
                              [&] { return new weft_queue(domain->context, domain->domain, number); });
}

void weft_region_close(weft_region* region) { delete region; }

void* weft_region_memory(weft_region* region) { return region->region.bytes().data(); }

uint64_t weft_region_bytes(weft_region* region) { return region->region.bytes().size(); }

weft_remote weft_region_remote(const weft_region* region) {
  const verbs::RemoteBytes remote = region->region.remote();
  return {remote.node, remote.key, remote.address};
}

weft_queue* weft_queue_open(weft_context* context, uint32_t number) {
  return guarded<weft_queue*>(context, nullptr,
                              [&] { return new weft_queue(context, context->domain, number); });
}

void weft_queue_close(weft_queue* queue) { delete queue; }

uint32_t weft_queue_number(const weft_queue* queue) { return queue->queue.number(); }

weft_remote weft_queue_remote(const weft_queue* queue) {
  const verbs::RemoteQueue remote = queue->queue.remote();
  return {remote.node, remote.key, remote.queue};
}

int weft_publish(weft_context* context, const char* name, weft_remote remote) {
  return guarded(context, -1, [&] {
    context->context.publish(name, verbs::RemoteBytes{remote.node, remote.address, remote.key});
    return 0;
  });
}

int weft_find(weft_context* context, uint32_t node, const char* name, weft_remote* found) {
  return weft_find_within(context, node, name, verbs::Context::patience, found);
}

int weft_find_within(weft_context* context, uint32_t node, const char* name, uint64_t clocks,
                     weft_remote* found) {
  return guarded(context, -1, [&] {
    const verbs::RemoteBytes remote = context->context.find_memory(node, name, clocks);
    *found = {remote.node, remote.key, remote.address};
    return 0;
  });
}

int weft_post_write(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset, uint32_t bytes,
                    weft_remote to) {
  return post(queue, [&] {
    return queue->queue.post_write(tag, from->region.local(offset, bytes), {to.node, to.address, to.key});
  });
}

int weft_post_write_imm(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset,
                        uint32_t bytes, weft_remote to, uint32_t immediate) {
  return post(queue, [&] {
    return queue->queue.post_write_imm(tag, from->region.local(offset, bytes), {to.node, to.address, to.key},
                                       immediate);
  });
}

int weft_post_read(weft_queue* queue, uint64_t tag, const weft_region* into, uint64_t offset, uint32_t bytes,
                   weft_remote from) {
  return post(queue, [&] {
    return queue->queue.post_read(tag, into->region.local(offset, bytes),
                                  {from.node, from.address, from.key});
  });
}

int weft_post_send(weft_queue* queue, uint64_t tag, const weft_region* from, uint64_t offset, uint32_t bytes,
                   weft_remote to_queue) {
  return post(queue, [&] {
    return queue->queue.post_send(
        tag, from->region.local(offset, bytes),
        {to_queue.node, static_cast<uint8_t>(to_queue.address), static_cast<uint16_t>(to_queue.key)});
  });
}

int weft_post_recv(weft_queue* queue, uint64_t tag, const weft_region* into, uint64_t offset,
                   uint32_t bytes) {
  return post(queue, [&] {
    return queue->queue.post_recv(
        tag, into != nullptr ? into->region.local(offset, bytes) : verbs::LocalBytes{0, bytes, 0});
  });
}

int weft_poll(weft_queue* queue, uint64_t clocks, weft_completion* completion) {
  return guarded(queue->context, -1, [&] {
    const auto got = clocks == 0 ? queue->queue.poll() : queue->queue.wait(clocks);
    if (!got) return 0;
    *completion = for_c(*got);
    return 1;
  });
}

int weft_poll_several(weft_queue* queue, weft_completion* completions, size_t count) {
  return guarded(queue->context, -1, [&] {
    int got = 0;
    for (; static_cast<size_t>(got) < count; ++got) {
      const auto completion = queue->queue.poll();
      if (!completion) break;
      completions[got] = for_c(*completion);
    }
    return got;
  });
}

int weft_expect(weft_queue* queue, uint64_t clocks, weft_completion* completion) {
  return guarded(queue->context, -1, [&] {
    const verbs::Completion got = queue->queue.expect(clocks);
    if (completion != nullptr) *completion = for_c(got);
    return 0;
  });
}

int weft_wait_for_byte(weft_region* region, uint64_t offset, uint8_t value, uint64_t clocks) {
  return guarded(region->context, -1, [&] {
    if (offset >= region->region.bytes().size()) throw Fault("byte to wait for is not in the memory region");
    return region->context->context.wait_for_byte(region->region.address() + offset, value, clocks) ? 1 : 0;
  });
}

weft_barrier* weft_barrier_open(weft_context* context, uint32_t number, const uint32_t* nodes, size_t count,
                                uint16_t instance) {
  return guarded<weft_barrier*>(
      context, nullptr, [&] { return new weft_barrier(context, number, std::span(nodes, count), instance); });
}

void weft_barrier_close(weft_barrier* barrier) { delete barrier; }

int weft_barrier_arrive(weft_barrier* barrier) {
  return guarded(barrier->context, -1, [&] {
    barrier->barrier.arrive();
    return 0;
  });
}

int weft_barrier_wait(weft_barrier* barrier, uint64_t clocks) {
  return guarded(barrier->context, -1, [&] { return barrier->barrier.wait(clocks) ? 1 : 0; });
}

int weft_barrier_enter(weft_barrier* barrier, uint64_t clocks) {
  return guarded(barrier->context, -1, [&] {
    barrier->barrier.enter(clocks);
    return 0;
  });
}

int weft_barrier_late(const weft_barrier* barrier) {
  const auto late = barrier->barrier.late();
  return late ? static_cast<int>(*late) : -1;
}

const char* weft_status_name(uint8_t status) { return verbs::status_name(status).data(); }
