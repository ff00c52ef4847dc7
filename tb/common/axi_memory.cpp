// SPDX-License-Identifier: Apache-2.0
// AXI4 memory slave; answers in the order of the requests, since there is one ID only.
#include "common/axi_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::tb {

AxiMemory::AxiMemory(const AxiMemoryConfig& config, OnWrite on_write, OnAnswered on_answered)
    : config_(config),
      on_write_(std::move(on_write)),
      on_answered_(std::move(on_answered)),
      pause_(config.pause, config.seed, 0),
      random_(config.seed, 1) {}

void AxiMemory::inject_errors(uint64_t base, uint64_t limit) {
  error_base_ = base;
  error_limit_ = limit;
}

bool AxiMemory::faulty(uint64_t address, uint64_t bytes) const {
  return address < error_limit_ && address + bytes > error_base_;
}

void AxiMemory::reset() {
  reads_.clear();
  addresses_.clear();
  beats_.clear();
  whole_bursts_ = 0;
  answers_.clear();
  r_offered_ = b_offered_ = overrun_told_ = false;
  stable_aw_.reset();
  stable_ar_.reset();
  stable_w_.reset();
}

uint64_t AxiMemory::answer_time() {
  return now_ + config_.latency + (config_.jitter ? random_.below(config_.jitter + 1ull) : 0);
}

void AxiMemory::load_read_beat(AxiPins& pins) const {
  const Read& read = reads_.front();
  const uint64_t aligned = read.request.addr & ~static_cast<uint64_t>(config_.data_bytes - 1);
  const uint64_t address = aligned + static_cast<uint64_t>(read.beat) * config_.data_bytes;
  memory_.read(address, std::span(pins.rdata.data(), config_.data_bytes));
  pins.rlast = read.beat == read.request.len;
  const uint64_t burst_bytes = (read.request.len + 1ull) * config_.data_bytes;
  pins.rresp = faulty(aligned, burst_bytes) ? error_response() : resp_okay;
}

void AxiMemory::drive(AxiPins& pins) {
  pins.arready = reads_.size() < config_.max_reads && !pauses();
  const bool writes_fit = addresses_.size() + answers_.size() < config_.max_writes;
  pins.awready = writes_fit && !pauses();
  pins.wready = whole_bursts_ < config_.max_writes && !pauses();
  if (!r_offered_) {
    pins.rvalid = !reads_.empty() && reads_.front().due <= now_ && !pauses();
    if (pins.rvalid) load_read_beat(pins);
    r_offered_ = pins.rvalid;
  }
  if (!b_offered_) {
    pins.bvalid = !answers_.empty() && answers_.front().due <= now_ && !pauses();
    if (pins.bvalid) pins.bresp = perform_write(answers_.front().burst);
    b_offered_ = pins.bvalid;
  }
}

/// The bytes change no earlier than with the answer, so that whoever does not wait for it is found out.
uint8_t AxiMemory::perform_write(const WrittenBurst& burst) {
  if (faulty(burst.address, burst.bytes.size())) {
    const uint8_t response = error_response();
    errors_++;
    return response;
  }
  memory_.write(burst.address, burst.bytes);
  return resp_okay;
}

void AxiMemory::finish_answers(const AxiPins& pins) {
  if (pins.rvalid && pins.rready) {
    r_offered_ = false;
    Read& read = reads_.front();
    read.beat++;
    if (pins.rlast) {
      if (pins.rresp != resp_okay) errors_++;
      reads_.pop_front();
    }
  }
  if (pins.bvalid && pins.bready) {
    b_offered_ = false;
    on_answered_(answers_.front().burst.bytes.size(), pins.bresp == resp_okay);
    answers_.pop_front();
  }
}

void AxiMemory::check_address(const char* channel, const AxiAddress& address,
                              const Reporter& reporter) const {
  const uint64_t aligned = address.addr & ~static_cast<uint64_t>(config_.data_bytes - 1);
  const uint64_t bytes = (address.len + 1ull) * config_.data_bytes;
  if (address.burst != 1)
    reporter.add(fmt::format("m_axi {}: burst type {}, not INCR", channel, address.burst));
  if ((1u << address.size) != config_.data_bytes) {
    reporter.add(fmt::format("m_axi {}: size {} is not the bus width", channel, address.size));
  }
  if (aligned / 4096 != (aligned + bytes - 1) / 4096) {
    reporter.add(
        fmt::format("m_axi {}: burst of {} bytes at {:#x} crosses 4 KiB", channel, bytes, address.addr));
  }
  if (bytes > config_.max_burst_bytes) {
    reporter.add(fmt::format("m_axi {}: burst of {} bytes is longer than a packet", channel, bytes));
  }
}

WrittenBurst AxiMemory::gather(const AxiAddress& address, uint32_t beats, const Reporter& reporter) const {
  WrittenBurst burst{address.addr, {}};
  uint64_t next = address.addr;
  const uint64_t aligned = address.addr & ~static_cast<uint64_t>(config_.data_bytes - 1);
  for (uint32_t beat = 0; beat < beats; ++beat) {
    const AxiWriteBeat& from = beats_[beat];
    if (from.strb == 0) {
      reporter.add(fmt::format("m_axi w: beat {} of a burst of {} writes nothing", beat + 1, beats));
    }
    const uint64_t start = aligned + static_cast<uint64_t>(beat) * config_.data_bytes;
    for (uint64_t left = from.strb; left != 0;) {  // one run of lanes after the other
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      const auto count = static_cast<uint32_t>(std::countr_one(left >> lane));
      if (start + lane != next)
        reporter.add(fmt::format("m_axi w: strobes leave a gap before {:#x}", start + lane));
      next = start + lane + count;
      burst.bytes.insert(burst.bytes.end(), from.data.begin() + lane, from.data.begin() + lane + count);
      left &= left + (uint64_t{1} << lane);  // without that run
    }
  }
  return burst;
}

void AxiMemory::take_burst(const Reporter& reporter) {
  const uint32_t announced = addresses_.front().len + 1u;
  uint32_t count = 1;
  while (!beats_[count - 1].last) count++;
  if (count != announced && !overrun_told_) {
    reporter.add(fmt::format("m_axi w: wlast on beat {} of a burst of {}", count, announced));
  }
  overrun_told_ = false;
  WrittenBurst burst = gather(addresses_.front(), std::min(count, announced), reporter);
  beats_.erase(beats_.begin(), beats_.begin() + count);
  whole_bursts_--;
  addresses_.pop_front();
  on_write_(burst);
  answers_.push_back({std::move(burst), answer_time()});
}

/// Told at once: a burst whose wlast never comes is never gathered. What is left after the whole bursts were
/// taken belongs to the first address, if there is one.
void AxiMemory::check_overrun(const Reporter& reporter) {
  if (addresses_.empty() || beats_.size() <= addresses_.front().len || overrun_told_) return;
  overrun_told_ = true;
  reporter.add(
      fmt::format("m_axi w: no wlast on the last beat of a burst of {}", addresses_.front().len + 1u));
}

void AxiMemory::check_quiet(const Reporter& reporter) const {
  if (!addresses_.empty()) {
    reporter.add(fmt::format("m_axi aw: {} bursts whose data never came", addresses_.size()));
  } else if (!beats_.empty()) {
    reporter.add(fmt::format("m_axi w: {} beats whose address never came", beats_.size()));
  }
}

void AxiMemory::sample(const AxiPins& pins, const Reporter& reporter) {
  now_++;
  stable_aw_.sample(pins.awvalid, pins.awready, pins.aw, reporter);
  stable_ar_.sample(pins.arvalid, pins.arready, pins.ar, reporter);
  stable_w_.sample(pins.wvalid, pins.wready, pins.w, reporter);
  if (pins.arvalid && pins.arready) {
    check_address("ar", pins.ar, reporter);
    reads_.push_back({pins.ar, 0, answer_time()});
  }
  if (pins.awvalid && pins.awready) {
    check_address("aw", pins.aw, reporter);
    addresses_.push_back(pins.aw);
  }
  if (pins.wvalid && pins.wready) {
    beats_.push_back(pins.w);
    if (pins.w.last) whole_bursts_++;
  }
  finish_answers(pins);
  while (whole_bursts_ > 0 && !addresses_.empty()) take_burst(reporter);
  check_overrun(reporter);
}

}  // namespace weft::tb
