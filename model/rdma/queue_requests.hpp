// SPDX-License-Identifier: Apache-2.0
// Golden model of the requests of the host queues on their way to the engine or its inbox and back
// (docs/rdma_queues.md, Requests).
#pragma once

#include <cstdint>

#include "rdma/inbox.hpp"
#include "rdma/params.hpp"
#include "rdma/queues.hpp"
#include "rdma/sender.hpp"

namespace weft::rdma_queues {

/// Whether it is the inbox's: READ or RECV.
bool is_ticket(const Request& request);

/// May engine or inbox have this request? 0, or the status with which it ends here.
uint8_t refusal(const rdma::Config& config, const Request& request);

/// As the engine gets it. Not of a READ or RECV.
/// @param tag what the engine shall name in its completion
rdma::Post post_of(const Request& request, uint16_t tag);

/// As the inbox gets it: a READ or RECV.
rdma::TicketPost ticket_post_of(const Request& request, uint16_t tag);

/// Its completion, if the engine has completed it or it ended here.
Outcome outcome_of(const Request& request, uint8_t status);

/// Its completion, if the inbox has completed it.
Outcome outcome_of(const Request& request, const rdma::TicketCompletion& completion);

}  // namespace weft::rdma_queues
