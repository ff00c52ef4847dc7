// SPDX-License-Identifier: Apache-2.0
// Requests of the host queues, written from docs/rdma_queues.md.
#include "rdma/requests.hpp"

#include "rdma/region.hpp"

namespace weft::rdma_queues {

namespace {

bool fits(uint32_t key) { return key >> rdma::rkey_bits == 0; }

/// The region that is named, if this owner's queues may use it by this key; otherwise nullptr.
const rdma::Region* usable_region(const rdma::Config& config, uint8_t owner, uint32_t key) {
  const rdma::RegionKey named = rdma::region_key(key);
  if (!fits(key) || named.region >= config.regions.size()) return nullptr;
  const rdma::Region& region = config.regions[named.region];
  const bool open = region.local_use && region.base < region.limit;
  return open && region.owner == owner && region.key == named.key ? &region : nullptr;
}

}  // namespace

uint8_t refusal(const rdma::Config& config, const Request& request) {
  const formats::Submission& entry = request.entry;
  const rdma::Region* region = usable_region(config, request.owner, entry.local_key);
  if (!region) return static_cast<uint8_t>(formats::QueueStatus::local_key);
  if (!rdma::holds(*region, entry.local_addr, entry.bytes)) {
    return static_cast<uint8_t>(formats::QueueStatus::local_region);
  }
  return fits(entry.remote_key) ? 0 : static_cast<uint8_t>(rdma::formats::Status::bad_key);
}

rdma::Post post_of(const Request& request, uint16_t tag) {
  const formats::Submission& entry = request.entry;
  return {entry.local_addr, entry.remote_addr, entry.bytes, entry.node, tag, entry.remote_key};
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

}  // namespace weft::rdma_queues
