// SPDX-License-Identifier: Apache-2.0
// Host driver of the RDMA engine.
#include "driver/rdma_driver.hpp"

#include <utility>

namespace weft::driver {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;

namespace {
constexpr uint32_t status_ready = 1u << 0;
constexpr uint32_t irq_completion = 1u << 0;
constexpr uint32_t completion_valid = 1u << 31;
constexpr uint32_t region_has_queue = 1u << 8;

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
}  // namespace

RdmaDriver::RdmaDriver(RegisterBus& bus, OnCompletion on_completion, OnPosted on_posted)
    : bus_(bus), on_completion_(std::move(on_completion)), on_posted_(std::move(on_posted)) {
  ringing_.start([this] { ring(); });
}

void RdmaDriver::fail(std::string why) {
  if (fault_.empty()) fault_ = std::move(why);
}

void RdmaDriver::start(const RdmaSetup& setup) {
  setup_ = setup;
  ready_ = posting_ = collecting_ = false;
  requests_.clear();
  fault_.clear();
  region_queue_ = formats::reset::REGION_QUEUE;
  src_lo_ = src_hi_ = dst_lo_ = dst_hi_ = bytes_ = node_ = key_ = std::nullopt;
  check_identity();
}

void RdmaDriver::check_identity() {
  bus_.read(reg::ID, [this](bool ok, uint32_t id) {
    if (!ok || id != formats::reset::ID) return fail("no RDMA engine: register ID does not say 'weft'");
    bus_.read(reg::VERSION, [this](bool read_ok, uint32_t version) {
      if (!read_ok || version != formats::reset::VERSION) return fail("RDMA engine of an unknown version");
      looking_.start([this] { look_if_ready(); });
    });
  });
}

void RdmaDriver::look_if_ready() {
  bus_.read(reg::STATUS, [this](bool ok, uint32_t status) {
    if (!ok) return fail("register STATUS cannot be read");
    if (status & status_ready) return program(setup_);
    looking_.again();
  });
}

void RdmaDriver::write(uint32_t address, uint32_t data) {
  bus_.write(address, data, [this, address](bool ok) {
    if (!ok) fail("write to register " + std::to_string(address) + " refused");
  });
}

void RdmaDriver::program(const RdmaSetup& setup) {
  for (size_t number = 0; number < setup.regions.size(); ++number) {
    set_region(static_cast<uint8_t>(number), setup.regions[number]);
  }
  write(reg::TICK_CYCLES, setup.tick_cycles);
  write(reg::RX_TIMEOUT, setup.rx_timeout);
  write(reg::TX_RETRY, setup.tx_retry);
  write(reg::TX_DEAD, setup.tx_dead);
  write(reg::ASK_FROM_AFTER, setup.ask_from_after);
  write(reg::MAX_SILENT, setup.max_silent);
  write(reg::MAX_RETRY, setup.max_retry);
  write(reg::MAX_BUSY, setup.max_busy);
  write(reg::BACKOFF, setup.backoff);
  write(reg::RX_QUOTA, setup.rx_quota);
  if (setup.ticket_quota != 0) write(reg::TICKET_QUOTA, setup.ticket_quota);
  if (setup.answer_quota != 0) write(reg::ANSWER_QUOTA, setup.answer_quota);
  if (setup.answers) write(reg::ANSWERS, *setup.answers);
  write(reg::RX_AHEAD, setup.rx_ahead);
  write(reg::ADAPT, setup.adapt ? 1 : 0);
  write(reg::TIMEOUT_FLOOR, setup.timeout_floor);
  write(reg::MODE, setup.weft_mode ? 1 : 0);
  if (setup.first_read_number != 0) write(reg::READ_NUMBER, setup.first_read_number);
  write(reg::MSGID, setup.first_msgid);
  bus_.write(reg::IRQ_ENABLE, irq_completion, [this](bool ok) {
    if (!ok) fail("write to register IRQ_ENABLE refused");
    if (fault_.empty()) open();
  });
}

/// From here on packets are taken.
void RdmaDriver::open() {
  bus_.write(reg::NODE_ID, setup_.node_id, [this](bool ok) {
    if (!ok) return fail("write to register NODE_ID refused");
    ready_ = true;
    ringing_.again();
  });
}

void RdmaDriver::set_region(uint8_t number, const RdmaRegion& region) {
  write(reg::REGION_BASE_LO, low(region.base));
  write(reg::REGION_BASE_HI, high(region.base));
  write(reg::REGION_LIMIT_LO, low(region.limit));
  write(reg::REGION_LIMIT_HI, high(region.limit));
  write(reg::REGION_KEY, region.key);
  write(reg::REGION_RIGHTS, (region.remote_write ? 1u : 0u) | (region.local_use ? 2u : 0u) |
                                (region.remote_read ? 4u : 0u) | (region.receive ? 8u : 0u));
  write(reg::REGION_OWNER, region.owner);
  const uint32_t queue = region.queue ? *region.queue | region_has_queue : 0;
  if (queue != region_queue_) write(reg::REGION_QUEUE, queue);
  region_queue_ = queue;
  write(reg::REGION_SET, number);
}

void RdmaDriver::post(const RdmaRequest& request) {
  requests_.push_back(request);
  ringing_.again();
}

void RdmaDriver::write_if_changed(uint32_t address, uint32_t data, std::optional<uint32_t>& known) {
  if (known == data) return;
  known = data;
  write(address, data);
}

void RdmaDriver::ring() {
  if (!ready_ || posting_ || requests_.empty()) return;
  posting_ = true;
  const RdmaRequest& request = requests_.front();
  write_if_changed(reg::POST_SRC_LO, low(request.src_addr), src_lo_);
  write_if_changed(reg::POST_SRC_HI, high(request.src_addr), src_hi_);
  write_if_changed(reg::POST_DST_LO, low(request.dst_addr), dst_lo_);
  write_if_changed(reg::POST_DST_HI, high(request.dst_addr), dst_hi_);
  write_if_changed(reg::POST_BYTES, request.bytes, bytes_);
  write_if_changed(reg::POST_NODE, request.node, node_);
  write_if_changed(reg::POST_KEY, request.rkey, key_);
  bus_.write(reg::POST, request.tag, [this](bool ok) {
    posting_ = false;
    if (ok) {  // otherwise the post queue is full: ring again
      const uint16_t tag = requests_.front().tag;
      requests_.pop_front();
      if (on_posted_) on_posted_(tag);
    }
    ringing_.again();
  });
}

void RdmaDriver::interrupt() {
  if (collecting_ || !ready_) return;
  collecting_ = true;
  taking_.start([this] { collect(); });
}

void RdmaDriver::collect() {
  bus_.read(reg::CPL, [this](bool ok, uint32_t entry) {
    if (!ok || !(entry & completion_valid)) {
      collecting_ = false;
      if (!ok) fail("register CPL cannot be read");
      return;
    }
    on_completion_({static_cast<uint16_t>(entry), static_cast<formats::Status>(entry >> 16 & 0xff)});
    taking_.again();
  });
}

}  // namespace weft::driver
