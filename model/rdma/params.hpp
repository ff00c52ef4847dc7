// SPDX-License-Identifier: Apache-2.0
// Sizes and settings of one RDMA engine: RTL parameters (Params) and registers (Config), see docs/rdma.md.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace weft::rdma {

/// How a receiver knows what is missing, and what a sender does about it; numbers are those of parameter
/// SCHEME.
enum class Scheme : uint8_t {
  receiver_window = 0,   ///< docs/rdma.md
  receiver_counter = 1,  ///< docs/rdma_baseline.md
  sender_window = 2,     ///< likewise
};

/// Parameters of `rdma_top`. Widths are in bits, `payload` in bytes, `window` in packets beyond WBASE.
struct Params {
  uint32_t n_rx_ctx = 1024;
  uint32_t n_tx_ctx = 1024;
  uint32_t window = 128;
  uint32_t payload = 256;
  uint32_t pidx_bits = 24;
  uint32_t msgid_bits = 20;
  uint32_t node_bits = 16;
  uint32_t addr_bits = 48;
  uint32_t sid_bits = 10;
  uint32_t cid_bits = 10;
  uint32_t n_regions = 64;
  uint32_t n_sources = 256;  // groups of sources with a quota each
  bool transfers = false;    // SEND, READ, write with immediate (docs/rdma_transfers.md)
  uint32_t n_tickets = 64;   // of RECV and READ, used with `transfers` only, like the next
  uint32_t n_queues = 8;
  Scheme scheme = Scheme::receiver_window;
  uint32_t n_send_buffers = 64;  // of sender_window, with `window` packets each; of which a node has one

  bool operator==(const Params&) const = default;
};

/// Memory that other nodes may use, or the queues of its owner: bytes [base, limit), both multiples of the
/// payload; none if limit <= base. Remote reads, buffers, and the queue told of writes with immediate go with
/// `transfers`.
struct Region {
  uint64_t base = 0;
  uint64_t limit = 0;
  uint16_t key = 0;
  bool remote_write = false;
  bool remote_read = false;
  bool receive = false;  // a buffer here may lie in it
  std::optional<uint8_t> queue = {};
  bool local_use = false;
  uint8_t owner = 0;

  bool operator==(const Region&) const = default;
};

/// Registers that the engine's decisions depend on. Times are in ticks; a time of 0 counts as 1.
struct Config {
  uint16_t node_id = 0;
  std::vector<Region> regions;  // by number; those above are closed
  uint16_t rx_timeout = 64;
  uint16_t tx_retry = 64;
  uint16_t tx_dead = 8191;
  uint8_t ask_from_after = 3;
  uint8_t max_silent = 15;
  uint8_t max_retry = 15;
  uint8_t max_busy = 255;  // 0: no bound
  uint8_t backoff = 3;     // doublings of a timeout
  uint8_t rx_ahead = 0;    // packets that may come before one of lower PIDX, 0: any number
  bool adapt = false;      // timeouts as measured; false: rx_timeout and tx_retry themselves
  uint16_t timeout_floor = 16;
  uint16_t rx_quota = 0;      // contexts of a group of sources, 0: all
  uint16_t ticket_quota = 0;  // tickets of a queue, 0: all
  uint16_t answers = 4;       // to READs, at once
  uint16_t answer_quota = 0;  // of a group of sources, 0: all
  bool weft_mode = true;      // of the receiver; false: paper mode

  bool operator==(const Config&) const = default;
};

/// A call that the surroundings of the engine should never make, such as the offer of a context in use.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throw Violation for sizes that no engine can be built with.
void validate(const Params& params);

/// Throw Violation for settings that the registers of an engine of this size do not take.
void validate(const Config& config, const Params& params);

}  // namespace weft::rdma
