// SPDX-License-Identifier: Apache-2.0
// What goes in and out of rdma_inbox, as the bits of its ports.
#pragma once

#include <cstdint>

#include "rdma/inbox.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

/// Fields of a packed struct in a port of 32-bit words, from the last field, bit 0, on.
template <typename Port>
class FieldWriter {
 public:
  explicit FieldWriter(Port& port) : port_(port) {}

  FieldWriter& put(uint64_t value, unsigned width) {
    for (unsigned bit = 0; bit < width; ++bit, ++at_) {
      const uint32_t mask = 1u << (at_ % 32);
      if (value >> bit & 1)
        port_[at_ / 32] |= mask;
      else
        port_[at_ / 32] &= ~mask;
    }
    return *this;
  }

 private:
  Port& port_;
  unsigned at_ = 0;
};

template <typename Port>
class FieldReader {
 public:
  explicit FieldReader(const Port& port, unsigned at = 0) : port_(port), at_(at) {}

  uint64_t get(unsigned width) {
    uint64_t value = 0;
    for (unsigned bit = 0; bit < width; ++bit, ++at_) {
      value |= uint64_t{port_[at_ / 32] >> (at_ % 32) & 1} << bit;
    }
    return value;
  }

 private:
  const Port& port_;
  unsigned at_;
};

/// rdma_pkg::ticket_post_t
template <typename Port>
void put_ticket_post(Port& port, const rdma::TicketPost& post) {
  FieldWriter(port)
      .put(rdma::rkey(post.remote_rkey), rdma::rkey_bits)
      .put(post.remote_addr, 64)
      .put(post.node, 32)
      .put(rdma::rkey(post.rkey), rdma::rkey_bits)
      .put(post.bytes, 32)
      .put(post.address, 64)
      .put(post.tag, 16)
      .put(post.queue, 8)
      .put(post.kind == rdma::TicketKind::read, 1);
}

/// rdma_pkg::ticket_completion_t
template <typename Port>
rdma::TicketCompletion get_ticket_completion(const Port& port) {
  FieldReader bits(port);
  rdma::TicketCompletion completion;
  const auto imm = static_cast<uint32_t>(bits.get(32));
  if (bits.get(1) != 0) completion.imm = imm;
  completion.bytes = static_cast<uint32_t>(bits.get(32));
  completion.form = bits.get(1) != 0 ? rdma::Form::immediate : rdma::Form::buffer;
  completion.node = static_cast<uint16_t>(bits.get(16));
  completion.status = static_cast<rdma::formats::Status>(bits.get(8));
  completion.kind = bits.get(1) != 0 ? rdma::TicketKind::read : rdma::TicketKind::recv;
  completion.tag = static_cast<uint16_t>(bits.get(16));
  completion.queue = static_cast<uint8_t>(bits.get(8));
  return completion;
}

/// rdma_pkg::rx_retired_t
struct Retired {
  rdma::formats::Outcome outcome = rdma::formats::Outcome::none;
  bool decides = false;
  uint16_t cid = 0;
  std::optional<uint32_t> imm = {};
  uint16_t writes = 0;
};

template <typename Port>
void put_retired(Port& port, const Retired& retired) {
  FieldWriter(port)
      .put(retired.writes, 16)
      .put(retired.imm.value_or(0), 32)
      .put(retired.imm.has_value(), 1)
      .put(retired.cid, 16)
      .put(retired.decides, 1)
      .put(static_cast<uint8_t>(retired.outcome), 8);
}

/// rdma_pkg::admitted_t
struct Admitted {
  rdma::formats::Header header;
  rdma::formats::Outcome refusal = rdma::formats::Outcome::none;
  bool of_read = false;
  rdma::Admission::Kind kind = rdma::Admission::Kind::none;

  bool operator==(const Admitted&) const = default;
};

template <typename Port>
Admitted get_admitted(const Port& port) {
  FieldReader bits(port, 8 * rdma::formats::header_bytes);
  Admitted admitted;
  admitted.header = get_header(port);
  admitted.refusal = static_cast<rdma::formats::Outcome>(bits.get(8));
  admitted.of_read = bits.get(1) != 0;
  admitted.kind = static_cast<rdma::Admission::Kind>(bits.get(3));
  return admitted;
}

/// As the inbox hands on a request of which the model says this.
inline Admitted admitted(const rdma::Admission& admission, rdma::formats::Header request) {
  if (admission.kind == rdma::Admission::Kind::buffer) {
    request.arg = admission.address;
    request.gen = admission.rkey.region;
    request.cid = admission.rkey.key;
  }
  if (admission.kind == rdma::Admission::Kind::again) {
    request.arg = rdma::rkey(admission.rkey);
    request.cid = admission.cid;
  }
  const bool of_read = admission.kind == rdma::Admission::Kind::buffer && admission.of_read;
  return {request, admission.refusal, of_read, admission.kind};
}

}  // namespace weft::rtl_test
