// SPDX-License-Identifier: Apache-2.0
// Which sizes and settings make sense.
#include "rdma/params.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace weft::rdma {
namespace {

void require(bool condition, const std::string& fault) {
  if (!condition) throw Violation(fault);
}

void require_width(uint32_t bits, uint32_t most, const std::string& name) {
  require(bits >= 1 && bits <= most, name + " must be 1 to " + std::to_string(most) + " bits wide");
}

}  // namespace

void validate(const Params& params) {
  require(params.n_rx_ctx >= 1 && params.n_rx_ctx <= 65536, "n_rx_ctx must be 1 to 65536");
  require(params.n_tx_ctx >= 1 && params.n_tx_ctx <= 65536, "n_tx_ctx must be 1 to 65536");
  require(params.window >= 1, "window must be at least 1");
  require(params.payload >= 32 && params.payload % 32 == 0 && params.payload <= 65504,
          "payload must be a multiple of 32 bytes, 32 to 65504");
  require_width(params.pidx_bits, 32, "PIDX");
  require_width(params.msgid_bits, 24, "MSGID");
  require_width(params.node_bits, 16, "a node number");
  require_width(params.addr_bits, 64, "an address");
  require_width(params.sid_bits, 16, "SID");
  require(params.n_sources >= 2 && params.n_sources <= 65536, "n_sources must be 2 to 65536");
  require(params.n_tickets >= 1, "n_tickets must be at least 1");
  require(!params.transfers || params.n_tickets <= uint64_t{1} << params.sid_bits,
          "n_tickets must be at most 2^sid_bits");
  require(params.n_queues >= 1 && params.n_queues <= 256, "n_queues must be 1 to 256");
  const bool counts = params.scheme == Scheme::receiver_counter;
  const bool older = params.scheme != Scheme::receiver_window;
  require(!older || !params.transfers, "older schemes have no SEND, READ and write with immediate");
  require(params.scheme != Scheme::sender_window || params.window <= 256,
          "sender_window has buffers of at most 256 packets");
  require(params.n_send_buffers >= 1, "n_send_buffers must be at least 1");
  require(!counts || params.window >= 64,
          "receiver_counter needs a window of 64 or more, which its traces use");
  require(params.n_regions >= 2 && params.n_regions <= 256, "n_regions must be 2 to 256");
}

/// Packets of payload that a region can hold, as a power of two.
uint32_t region_bits(const Params& params) {
  const uint32_t numbers = params.addr_bits - static_cast<uint32_t>(std::countr_zero(params.payload));
  return std::min(numbers, 32u);
}

void validate(const Region& region, const Params& params) {
  const auto aligned = [&](uint64_t address) { return address % params.payload == 0; };
  require(aligned(region.base) && aligned(region.limit), "a region that is not made of whole payloads");
  if (region.limit <= region.base) return;
  require(((region.limit - 1) >> params.addr_bits) == 0, "a region beyond the bus");
  require((region.limit - 1 - region.base) / params.payload >> region_bits(params) == 0,
          "a region too large");
}

void validate(const Config& config, const Params& params) {
  const uint16_t ticks = 0x1fff;
  require(config.rx_timeout <= ticks, "rx_timeout is wider than 13 bits");
  require(config.tx_retry <= ticks, "tx_retry is wider than 13 bits");
  require(config.tx_dead <= ticks, "tx_dead is wider than 13 bits");
  require(config.ask_from_after <= 3, "ask_from_after is wider than 2 bits");
  require(config.max_silent <= 15, "max_silent is wider than 4 bits");
  require(config.max_retry <= 15, "max_retry is wider than 4 bits");
  require(config.backoff <= 3, "backoff is wider than 2 bits");
  require(config.timeout_floor <= ticks, "timeout_floor is wider than 13 bits");
  require(config.regions.size() <= params.n_regions, "more regions than the engine has");
  for (const Region& region : config.regions) validate(region, params);
}

}  // namespace weft::rdma
