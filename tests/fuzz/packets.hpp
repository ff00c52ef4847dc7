// SPDX-License-Identifier: Apache-2.0
// Makes the packets of a course: headers that fit what the golden model holds, and then perhaps one wrong
// field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "course.hpp"
#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"

namespace weft::fuzz {

/// Whole flits of one packet, CRC included.
using Flits = std::vector<uint8_t>;

class Packets {
 public:
  using Header = rdma::formats::Header;
  using Ptype = rdma::formats::Ptype;

  Packets(const rdma::Params& params, const rdma::Receiver& receiver, const rdma::Sender& sender)
      : params_(params), receiver_(receiver), sender_(sender) {}

  /// The packets of this step, none if it is not about packets. @param node number of the engine
  std::vector<Flits> make(const Step& step, uint16_t node) const;

 private:
  uint16_t receive_context(uint8_t who) const;
  uint16_t send_context(uint8_t who) const;
  uint32_t pidx(const rdma::RxContext& context, uint8_t where) const;
  uint32_t base(const rdma::RxContext& context) const;
  Header data(const Step& step, uint16_t cid, uint32_t pidx) const;
  std::vector<Header> burst(const Step& step) const;
  Header request(const Step& step) const;
  Header release(const Step& step) const;
  Header to_sender(const Step& step, Ptype type) const;
  void number_attempt(Header& data, const rdma::RxContext& context, uint8_t extra) const;
  void ask_attempt(Header& resend, const rdma::TxContext& context, const Step& step) const;
  void answer_slot(Header& ack, const rdma::TxContext& context, const Step& step) const;
  Header noise(const Step& step) const;
  void spoil(Header& header, const Step& step) const;
  Flits flits(const Header& header, uint8_t seed) const;

  rdma::Params params_;
  const rdma::Receiver& receiver_;
  const rdma::Sender& sender_;
};

/// Bytes of a transfer that a step asks for: from one packet to some more than two windows.
uint32_t transfer_bytes(const Step& step, const rdma::Params& params);

/// CRC made right again.
void seal(Flits& flits);

/// What the header says, changed.
template <typename Change>
void edit_header(Flits& flits, Change change) {
  const std::span<uint8_t, rdma::flit_bytes> head(flits.data(), rdma::flit_bytes);
  rdma::formats::Header header = rdma::formats::unpack(head);
  change(header);
  const auto packed = rdma::formats::pack(header);
  std::copy(packed.begin(), packed.end(), flits.begin());
}

}  // namespace weft::fuzz
