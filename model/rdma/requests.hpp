// SPDX-License-Identifier: Apache-2.0
// Golden model of the requests of the host queues on their way to the engine and back (docs/rdma_queues.md,
// Requests).
#pragma once

#include <cstdint>

#include "rdma/params.hpp"
#include "rdma/queues.hpp"
#include "rdma/sender.hpp"

namespace weft::rdma_queues {

/// May the engine have this request? 0, or the status with which it ends here.
uint8_t refusal(const rdma::Config& config, const Request& request);

/// As the engine gets it.
/// @param tag what the engine shall name in its completion
rdma::Post post_of(const Request& request, uint16_t tag);

/// Its completion.
Outcome outcome_of(const Request& request, uint8_t status);

}  // namespace weft::rdma_queues
