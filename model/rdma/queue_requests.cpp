// SPDX-License-Identifier: Apache-2.0
// Requests of the host queues, written from docs/rdma_queues.md.
#include "rdma/queue_requests.hpp"

#include <optional>

#include "rdma/region.hpp"

namespace weft::rdma_queues {

using formats::Opcode;
using rdma::formats::Status;

namespace {

bool is(const Request& request, Opcode opcode) {
  return request.entry.opcode == static_cast<uint8_t>(opcode);
}

bool fits(uint32_t key) { return key >> rdma::rkey_bits == 0; }

/// The region that is named, if this owner has it under this key; otherwise nullptr.
const rdma::Region* owned_region(const rdma::Config& config, uint8_t owner, uint32_t key) {
  const rdma::Region* region = fits(key) ? rdma::named_region(config, rdma::region_key(key)) : nullptr;
  return region && region->owner == owner ? region : nullptr;
}

/// Whether the local bytes are the owner's to use; the inbox looks at the right to receive.
uint8_t local_refusal(const rdma::Config& config, const Request& request) {
  const formats::Submission& entry = request.entry;
  const bool ticket = is_ticket(request);
  if (ticket && entry.bytes == 0) return 0;
  const rdma::Region* region = owned_region(config, request.owner, entry.local_key);
  if (!region || !(ticket || region->local_use)) return static_cast<uint8_t>(formats::QueueStatus::local_key);
  const bool inside = rdma::holds(*region, entry.local_addr, entry.bytes);
  return inside ? 0 : static_cast<uint8_t>(formats::QueueStatus::local_region);
}

std::optional<uint32_t> immediate_of(const Request& request) {
  const bool flagged = (request.entry.flags & formats::flag_imm) != 0;
  if (is(request, Opcode::write_imm) || (is(request, Opcode::send) && flagged))
    return request.entry.immediate;
  return std::nullopt;
}

}  // namespace

bool is_ticket(const Request& request) { return is(request, Opcode::read) || is(request, Opcode::recv); }

uint8_t refusal(const rdma::Config& config, const Request& request) {
  if (const uint8_t status = local_refusal(config, request)) return status;
  return fits(request.entry.remote_key) ? 0 : static_cast<uint8_t>(Status::bad_key);
}

rdma::Post post_of(const Request& request, uint16_t tag) {
  const formats::Submission& entry = request.entry;
  rdma::Post post{entry.local_addr, entry.remote_addr, entry.bytes, entry.node, tag, entry.remote_key};
  post.to = is(request, Opcode::send) ? rdma::Post::To::queue : rdma::Post::To::region;
  post.imm = immediate_of(request);
  return post;
}

rdma::TicketPost ticket_post_of(const Request& request, uint16_t tag) {
  const formats::Submission& entry = request.entry;
  rdma::TicketPost post;
  post.kind = is(request, Opcode::read) ? rdma::TicketKind::read : rdma::TicketKind::recv;
  post.queue = request.queue;
  post.tag = tag;
  post.address = entry.local_addr;
  post.bytes = entry.bytes;
  post.rkey = rdma::region_key(entry.local_key);
  post.node = entry.node;
  post.remote_addr = entry.remote_addr;
  post.remote_rkey = rdma::region_key(entry.remote_key);
  return post;
}

Outcome outcome_of(const Request& request, uint8_t status) {
  Outcome outcome;
  outcome.queue = request.queue;
  outcome.signal = (request.entry.flags & formats::flag_signal) != 0;
  outcome.fields.tag = request.entry.tag;
  outcome.fields.node = request.entry.node;
  outcome.fields.opcode = request.entry.opcode;
  outcome.fields.status = status;
  outcome.fields.bytes = status == 0 ? request.entry.bytes : 0;
  return outcome;
}

Outcome outcome_of(const Request& request, const rdma::TicketCompletion& completion) {
  Outcome outcome = outcome_of(request, static_cast<uint8_t>(completion.status));
  outcome.fields.bytes = completion.bytes;
  if (is(request, Opcode::read)) return outcome;
  outcome.fields.node = completion.node;
  outcome.fields.has_immediate = completion.imm.has_value();
  outcome.fields.immediate = completion.imm.value_or(0);
  if (completion.status == Status::ok || completion.status == Status::local_error) {
    const bool in_buffer = completion.form == rdma::Form::buffer;
    outcome.fields.opcode = static_cast<uint8_t>(in_buffer ? Opcode::receive : Opcode::receive_imm);
  }
  return outcome;
}

}  // namespace weft::rdma_queues
