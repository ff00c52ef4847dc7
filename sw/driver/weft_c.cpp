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

struct weft_region {
  weft_region(weft_context* of, uint64_t bytes, uint32_t access, const verbs::Queue* told)
      : context(of), region(of->domain, bytes, access, told) {}
  weft_context* context;
  verbs::MemoryRegion region;
};

struct weft_queue {
  weft_queue(weft_context* of, uint32_t number) : context(of), queue(of->domain, number) {}
  weft_context* context;
  verbs::Queue queue;
};

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

weft_region* weft_region_open(weft_context* context, uint64_t bytes, uint32_t access) {
  return guarded<weft_region*>(context, nullptr,
                               [&] { return new weft_region(context, bytes, access, nullptr); });
}

weft_region* weft_region_open_told(weft_context* context, uint64_t bytes, uint32_t access,
                                   const weft_queue* told) {
  return guarded<weft_region*>(context, nullptr,
                               [&] { return new weft_region(context, bytes, access, &told->queue); });
}

void weft_region_close(weft_region* region) { delete region; }

void* weft_region_memory(weft_region* region) { return region->region.bytes().data(); }

weft_remote weft_region_remote(const weft_region* region) {
  const verbs::RemoteBytes remote = region->region.remote();
  return {remote.node, remote.key, remote.address};
}

weft_queue* weft_queue_open(weft_context* context, uint32_t number) {
  return guarded<weft_queue*>(context, nullptr, [&] { return new weft_queue(context, number); });
}

void weft_queue_close(weft_queue* queue) { delete queue; }

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
  return guarded(context, -1, [&] {
    const verbs::RemoteBytes remote = context->context.find_memory(node, name);
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
  return post(queue, [&] { return queue->queue.post_recv(tag, into->region.local(offset, bytes)); });
}

int weft_poll(weft_queue* queue, uint64_t clocks, weft_completion* completion) {
  return guarded(queue->context, -1, [&] {
    const auto got = clocks == 0 ? queue->queue.poll() : queue->queue.wait(clocks);
    if (!got) return 0;
    *completion = {got->tag, static_cast<uint32_t>(got->bytes), static_cast<uint32_t>(got->node),
                   static_cast<uint32_t>(got->immediate), got->status};
    return 1;
  });
}

weft_barrier* weft_barrier_open(weft_context* context, uint32_t number, const uint32_t* nodes, size_t count,
                                uint16_t instance) {
  return guarded<weft_barrier*>(
      context, nullptr, [&] { return new weft_barrier(context, number, std::span(nodes, count), instance); });
}

void weft_barrier_close(weft_barrier* barrier) { delete barrier; }

int weft_barrier_enter(weft_barrier* barrier, uint64_t clocks) {
  return guarded(barrier->context, -1, [&] {
    barrier->barrier.enter(clocks);
    return 0;
  });
}

const char* weft_status_name(uint8_t status) { return verbs::status_name(status).data(); }
