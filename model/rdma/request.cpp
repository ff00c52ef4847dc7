// SPDX-License-Identifier: Apache-2.0
// Checks and refusals of requests.
#include "rdma/request.hpp"

#include "rdma/transfer.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Refusal;
using formats::Status;

RegionKey requested_region(const Header& request) { return {request.gen, request.cid}; }

void name_region(Header& request, RegionKey named) {
  request.gen = named.region;
  request.cid = named.key;
}

std::optional<Outcome> request_fault(const Header& request, Use use, const Config& config,
                                     const Params& params) {
  const uint32_t bytes = request.pidx;
  if (!cut(bytes, params)) return Outcome::refuse_length;
  if (request.arg % params.payload != 0) return Outcome::refuse_align;
  const Region* region = region_for(use, config, requested_region(request));
  if (!region) return Outcome::refuse_key;
  if (!holds(*region, request.arg, bytes)) return Outcome::refuse_region;
  return std::nullopt;
}

Refusal refusal_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::refuse_no_context:
    case Outcome::refuse_quota:
    case Outcome::refuse_answers:
      return Refusal::no_context;
    case Outcome::refuse_length:
      return Refusal::bad_length;
    case Outcome::refuse_align:
      return Refusal::misaligned;
    case Outcome::refuse_key:
    case Outcome::refuse_queue:
      return Refusal::bad_key;
    case Outcome::refuse_not_ready:
      return Refusal::not_ready;
    case Outcome::refuse_too_long:
      return Refusal::too_long;
    case Outcome::refuse_not_wanted:
      return Refusal::not_wanted;
    default:
      return Refusal::bad_region;
  }
}

Status status_of_refusal(uint64_t code) {
  if (code == static_cast<uint64_t>(Refusal::bad_length)) return Status::bad_length;
  if (code == static_cast<uint64_t>(Refusal::misaligned)) return Status::misaligned;
  if (code == static_cast<uint64_t>(Refusal::bad_key)) return Status::bad_key;
  return Status::bad_region;
}

}  // namespace weft::rdma
