// SPDX-License-Identifier: Apache-2.0
// What requests of all kinds have in common: the region named, the checks before anything is granted, the
// codes of refusals (docs/rdma.md, Receiver, RQT; docs/rdma_transfers.md).
#pragma once

#include <cstdint>
#include <optional>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"
#include "rdma/region.hpp"

namespace weft::rdma {

/// The region, or for SEND the queue, that a RQT or READ names; DATA has its region in `arg`.
RegionKey requested_region(const formats::Header& request);

/// The request names this region.
void name_region(formats::Header& request, RegionKey named);

/// Check 2 of a RQT: the refusal of a request for `request.pidx` bytes at `request.arg`, or nothing.
std::optional<formats::Outcome> request_fault(const formats::Header& request, Use use, const Config& config,
                                              const Params& params);

/// The code that says this refusal to who asked.
formats::Refusal refusal_code(formats::Outcome outcome);

/// Status for a code that refuses a plain write or a READ for good; codes that are not defined count as
/// BAD_REGION.
formats::Status status_of_refusal(uint64_t code);

}  // namespace weft::rdma
