// SPDX-License-Identifier: Apache-2.0
#include "rdma/repeats.hpp"

#include <algorithm>
#include <bit>

#include "rdma/packet.hpp"

namespace weft::rdma {

using formats::Header;
using formats::TransferFlag;

namespace {

uint32_t log2_up(uint32_t n) { return static_cast<uint32_t>(std::bit_width(n - 1)); }

}  // namespace

bool is_remembered(const Header& request) {
  return request.ptype == static_cast<uint8_t>(formats::Ptype::rqt) &&
         !has_flag(request, TransferFlag::imm) && !has_flag(request, TransferFlag::send) &&
         !has_flag(request, TransferFlag::read);
}

GrantedRequests::GrantedRequests(const Params& params)
    : source_bits_(std::min(params.node_bits, log2_up(params.n_rx_ctx))),
      sid_bits_(std::min(params.sid_bits, log2_up(params.n_rx_ctx))),
      places_(std::size_t{1} << log2_up(params.n_rx_ctx)) {}

/// SID, with the lowest bits of the source laid over it from the top down.
uint32_t GrantedRequests::place_of(const Header& request) const {
  const auto size = static_cast<uint32_t>(places_.size());
  uint32_t place = request.sid & ((1u << sid_bits_) - 1);
  for (uint32_t i = 0; i < source_bits_; ++i) {
    if ((request.src >> i & 1) != 0) place ^= size >> (i + 1);
  }
  return place;
}

std::optional<uint16_t> GrantedRequests::context_of(const Header& request) const {
  const auto& grant = places_[place_of(request)];
  if (!grant || grant->request != request) return std::nullopt;
  return grant->cid;
}

Admission GrantedRequests::admit(const Header& request) const {
  Admission admission;
  if (!is_remembered(request)) return admission;
  if (const auto cid = context_of(request)) {
    admission.kind = Admission::Kind::again;
    admission.cid = *cid;
  }
  return admission;
}

void GrantedRequests::decided(const Header& request, const RxResult& result) {
  if (!is_remembered(request)) return;
  if (result.outcome == formats::Outcome::grant) granted(request, result.cid);
  if (result.outcome == formats::Outcome::drop_asked) places_[place_of(request)].reset();
}

void GrantedRequests::granted(const Header& request, uint16_t cid) {
  places_[place_of(request)] = {request, cid};
}

void GrantedRequests::reset() { std::ranges::fill(places_, std::nullopt); }

}  // namespace weft::rdma
