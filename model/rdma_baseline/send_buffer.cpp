// SPDX-License-Identifier: Apache-2.0
// A sliding window of packets that were sent.
#include "rdma_baseline/send_buffer.hpp"

#include "rdma/params.hpp"

namespace weft::rdma {

namespace {

constexpr unsigned slot_place = 24;  // of DATA's arg, above the RKEY

}  // namespace

void SendBuffer::add(const formats::Header& data) {
  if (full()) throw Violation("a packet for a send buffer that is full");
  slots_[next_slot()] = {true, data};
  newest_ += 1;
}

const formats::Header* SendBuffer::waits(uint32_t slot) const {
  if (slot >= size() || !slots_[slot].open) return nullptr;
  return &slots_[slot].header;
}

bool SendBuffer::close(uint32_t slot) {
  slots_.at(slot).open = false;
  const uint32_t before = oldest_;
  while (!empty() && !slots_[oldest_ % size()].open) {
    if (again_ == oldest_ && again_ != again_end_) again_ += 1;
    oldest_ += 1;
  }
  return oldest_ != before;
}

void SendBuffer::begin_again() {
  again_ = oldest_;
  again_end_ = newest_;
}

std::optional<uint32_t> SendBuffer::next_again() const {
  for (uint32_t at = again_; at != again_end_; ++at) {
    if (slots_[at % size()].open) return at % size();
  }
  return std::nullopt;
}

void SendBuffer::again_done(uint32_t slot) {
  while (again_ % size() != slot) again_ += 1;
  again_ += 1;
}

uint32_t slot_of_data(const formats::Header& data) { return data.arg >> slot_place & 0xff; }

void set_slot(formats::Header& data, uint32_t slot) { data.arg |= uint64_t{slot} << slot_place; }

}  // namespace weft::rdma
