// SPDX-License-Identifier: Apache-2.0
// Host driver of a NIC's queues.
#include "driver/ring_driver.hpp"

#include <memory>

namespace weft::driver {

namespace formats = rdma_queues::formats;
namespace reg = rdma_queues::formats::reg;
using formats::QueueState;

namespace {

QueueState state_of(uint32_t register_value) { return static_cast<QueueState>(register_value & 3); }

/// Whether an entry is of this lap of its ring. Memory may show an entry in parts, its last byte last: so
/// that is looked at first, and the others read after it.
bool is_new(const RingMemory& memory, uint64_t address, bool first_lap) {
  std::array<uint8_t, formats::completion_bytes> bytes{};
  memory.read(address + bytes.size() - 1, std::span(bytes).last(1));
  return (formats::unpack_completion(bytes).phase != 0) == first_lap;
}

}  // namespace

void RingAdministrator::find(uint32_t queue, OnState found) {
  bus_.read(ring_register(reg::CAPS), [this, queue, found = std::move(found)](bool ok, uint32_t caps) {
    if (!ok || queue >= (caps & 0xff)) return found(false, QueueState::off);
    bus_.read(ring_register(reg::STATE, queue),
              [found](bool state_ok, uint32_t state) { found(state_ok, state_of(state)); });
  });
}

void RingAdministrator::enable(uint32_t queue, const RingSetup& setup, OnDone done) {
  find(queue, [this, queue, setup, done = std::move(done)](bool exists, QueueState state) {
    if (!exists || state != QueueState::off) return done(false);
    program(queue, setup, done);
  });
}

void RingAdministrator::program(uint32_t queue, const RingSetup& setup, OnDone done) {
  memory_.write(setup.sq_base, std::vector<uint8_t>(size_t{setup.sq_size()} * formats::submission_bytes));
  memory_.write(setup.cq_base, std::vector<uint8_t>(size_t{setup.cq_size()} * formats::completion_bytes));
  write(reg::QUEUE, queue);
  write_both(reg::Q_SQ_BASE_LO, setup.sq_base);
  write_both(reg::Q_CQ_BASE_LO, setup.cq_base);
  write(reg::Q_SIZE, setup.sq_log2 | uint32_t{setup.cq_log2} << 4);
  write(reg::Q_OWNER, setup.owner);
  write(reg::Q_IRQ, static_cast<uint32_t>(setup.irq));
  write_both(reg::Q_MSI_ADDR_LO, setup.msi_addr);
  write(reg::Q_MSI_DATA, setup.msi_data);
  write(reg::Q_KEY, setup.key);
  write(reg::Q_QUOTA, setup.quota);
  bus_.write(ring_register(reg::Q_CTL), 1, std::move(done));
}

void RingAdministrator::disable(uint32_t queue, OnDone done) {
  find(queue, [this, queue, done = std::move(done)](bool exists, QueueState) {
    if (!exists) return done(false);
    write(reg::QUEUE, queue);
    bus_.write(ring_register(reg::Q_CTL), 0, [this, queue, done](bool ok) {
      if (!ok) return done(false);
      wait_until_off(queue, done);
    });
  });
}

/// Asks the queue's own page: Q_STATE is of whatever queue was named last.
void RingAdministrator::wait_until_off(uint32_t queue, OnDone done) {
  const auto polling = std::make_shared<Repetition>();  // the access under way keeps it
  polling->start([this, queue, done = std::move(done), kept = std::weak_ptr(polling)] {
    bus_.read(ring_register(reg::STATE, queue), [done, polling = kept.lock()](bool ok, uint32_t state) {
      if (!ok) return done(false);
      if (state_of(state) == QueueState::off) return done(true);
      polling->again();
    });
  });
}

void RingAdministrator::write_both(uint32_t low_register, uint64_t value) {
  write(low_register, static_cast<uint32_t>(value));
  write(low_register + 4, static_cast<uint32_t>(value >> 32));
}

std::optional<RingQueue::Completion> RingQueue::take() {
  const uint64_t address = setup_.cq_base + uint64_t{head_ % setup_.cq_size()} * formats::completion_bytes;
  if (!is_new(memory_, address, (head_ / setup_.cq_size()) % 2 == 0)) return std::nullopt;
  std::array<uint8_t, formats::completion_bytes> bytes{};
  memory_.read(address, bytes);
  const Completion entry = formats::unpack_completion(bytes);
  ++head_;
  sq_head_ = entry.sq_head;
  return entry;
}

void RingQueue::send_head() {
  if (acknowledging_ || !acknowledge_wanted_) return;
  acknowledging_ = true;
  acknowledge_wanted_ = false;
  const bool arm = std::exchange(arm_, false);
  const uint32_t data = head_ | uint32_t{arm} << 31;
  bus_.write(ring_register(reg::CQ_HEAD, queue_), data, [this, arm](bool ok) {
    arm_ = arm_ || (arm && !ok);
    if (!ok) return repeat_if_live();
    acknowledging_ = false;
    telling_.again();
  });
}

void RingQueue::repeat_if_live() {
  bus_.read(ring_register(reg::STATE, queue_), [this](bool ok, uint32_t value) {
    const QueueState state = state_of(value);
    acknowledging_ = false;
    acknowledge_wanted_ = ok && (state == QueueState::run || state == QueueState::error);
    telling_.again();
  });
}

}  // namespace weft::driver
