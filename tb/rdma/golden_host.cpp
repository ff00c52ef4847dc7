// SPDX-License-Identifier: Apache-2.0
// Memory port of a golden engine.
#include "golden_host.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/axis.hpp"

namespace weft::tb {

void GoldenHost::reset() {
  addresses_.clear();
  beats_.clear();
  unanswered_.clear();
  reads_.clear();
  asked_ = 0;
  reads_done_.clear();
  written_.clear();
}

AxiAddress GoldenHost::burst(uint64_t address, uint32_t bytes) const {
  const uint32_t beats = (bytes + data_bytes_ - 1) / data_bytes_;
  return {address, static_cast<uint8_t>(beats - 1), static_cast<uint8_t>(std::countr_zero(data_bytes_)), 1};
}

void GoldenHost::write(const rdma::HostWrite& write, uint16_t cid) {
  const auto size = static_cast<uint32_t>(write.bytes.size());
  addresses_.push_back(burst(write.addr, size));
  unanswered_.push_back(cid);
  for (uint32_t at = 0; at < size; at += data_bytes_) {
    const uint32_t count = std::min(data_bytes_, size - at);
    AxiWriteBeat& beat = beats_.emplace_back();
    std::memcpy(beat.data.data(), write.bytes.data() + at, count);
    beat.strb = low_bits(count);
    beat.last = at + count == size;
  }
}

void GoldenHost::read(uint64_t address, uint32_t bytes, uint64_t tag) {
  reads_.push_back({burst(address, bytes), bytes, {tag, {}, false}});
}

void GoldenHost::drive(AxiPins& pins) const {
  pins.awvalid = !addresses_.empty() && unanswered_.size() - addresses_.size() < bursts_;
  if (pins.awvalid) pins.aw = addresses_.front();
  pins.wvalid = !beats_.empty();
  if (pins.wvalid) pins.w = beats_.front();
  pins.bready = true;
  pins.arvalid = asked_ < reads_.size() && asked_ < bursts_;
  if (pins.arvalid) pins.ar = reads_[asked_].address;
  pins.rready = true;
}

void GoldenHost::step(const AxiPins& pins) {
  if (pins.awvalid && pins.awready) addresses_.pop_front();
  if (pins.wvalid && pins.wready) beats_.pop_front();
  if (pins.bvalid && !unanswered_.empty()) {
    written_.push_back({unanswered_.front(), pins.bresp >= resp_slverr});
    unanswered_.pop_front();
  }
  if (pins.arvalid && pins.arready) ++asked_;
  if (pins.rvalid && !reads_.empty()) {
    PendingRead& front = reads_.front();
    const auto had = static_cast<uint32_t>(front.read.bytes.size());
    const uint32_t count = std::min(data_bytes_, front.bytes - had);
    front.read.bytes.insert(front.read.bytes.end(), pins.rdata.begin(), pins.rdata.begin() + count);
    front.read.failed |= pins.rresp >= resp_slverr;
    if (pins.rlast) {
      reads_done_.push_back(std::move(front.read));
      reads_.pop_front();
      --asked_;
    }
  }
}

}  // namespace weft::tb
