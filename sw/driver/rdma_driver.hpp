// SPDX-License-Identifier: Apache-2.0
// Host driver of the RDMA engine: set-up, posting of transfers, collecting completions (docs/rdma.md).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/register_bus.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::driver {

/// Memory that other nodes may write or read if they name the key, or that the queues of its owner may use;
/// [base, limit), both multiples of the payload. What goes with transfers (docs/rdma_transfers.md) has no
/// effect in an engine without them.
struct RdmaRegion {
  uint64_t base = 0;
  uint64_t limit = 0;  ///< not above the base: closed
  uint16_t key = 0;
  bool remote_write = true;
  bool local_use = false;  ///< by queues of `owner`
  uint8_t owner = 0;
  // with transfers
  bool remote_read = false;
  bool receive = false;               ///< buffers may lie here (RECV, READ)
  std::optional<uint8_t> queue = {};  ///< is told of writes with immediate
};

/// What remote nodes name in RdmaRequest::rkey for a region.
constexpr uint32_t rdma_rkey(uint8_t region, uint16_t key) { return uint32_t{region} << 16 | key; }

/// What is programmed before the first transfer; times in ticks (docs/rdma_formats.md, Registers).
struct RdmaSetup {
  uint16_t node_id = 0;
  std::vector<RdmaRegion> regions = {};  ///< by number
  uint16_t tick_cycles = 64;
  uint16_t rx_timeout = 64;
  uint16_t tx_retry = 64;
  uint16_t tx_dead = 8191;
  uint8_t ask_from_after = 3;
  uint8_t max_silent = 15;
  uint8_t max_retry = 15;
  uint8_t max_busy = 255;     ///< refusals for want of a context before a transfer ends; 0: no bound
  uint8_t backoff = 3;        ///< a timeout doubles so often at the most
  uint16_t rx_quota = 0;      ///< receive contexts of a group of sources; 0: all
  uint16_t ticket_quota = 0;  ///< tickets of a queue, of a NIC with transfers; 0: all
  uint16_t answer_quota = 0;  ///< answers to READs of a group of sources, likewise; 0: all
  /// READs of others answered at once, likewise: so many send contexts are kept for them.
  std::optional<uint16_t> answers = {};
  /// Receiver, weft mode: more than PIDX may get ahead of a packet in the network; 0: not known.
  uint8_t rx_ahead = 0;
  bool adapt = false;           ///< timeouts as measured, from timeout_floor to rx_timeout and tx_retry
  uint16_t timeout_floor = 16;  ///< more than the network ever holds a packet back
  bool weft_mode = true;        ///< of the receiver; false: paper mode
  /// Number of the first transfer: after a reset, one that no receiver can still hold from before
  /// (docs/rdma.md, Programmer's guide).
  uint32_t first_msgid = 0;
  uint32_t first_read_number = 0;  ///< the same for READs, of a NIC with transfers
};

/// One transfer: local memory to remote memory.
struct RdmaRequest {
  uint64_t src_addr = 0;
  uint64_t dst_addr = 0;
  uint32_t bytes = 0;
  uint32_t node = 0;
  uint16_t tag = 0;   ///< comes back in the completion; the caller keeps tags of pending requests apart
  uint32_t rkey = 0;  ///< rdma_rkey() of the region there
};

struct RdmaCompletion {
  uint16_t tag = 0;
  rdma::formats::Status status = rdma::formats::Status::ok;
};

/// Drives one engine through its registers. Needs no thread: everything happens in callbacks of the bus.
class RdmaDriver {
 public:
  using OnCompletion = std::function<void(RdmaCompletion)>;
  using OnPosted = std::function<void(uint16_t tag)>;  ///< the doorbell was accepted

  RdmaDriver(RegisterBus& bus, OnCompletion on_completion, OnPosted on_posted = nullptr);

  /// Checks that an engine of the known version is there, waits until it is ready, programs it and enables
  /// its interrupt: ready() then. The node is not opened if a register refuses what is written: fault() then.
  void start(const RdmaSetup& setup);

  /// Once ready: opens, changes or closes a region. Transfers under way to memory that it no longer holds end
  /// without success.
  void set_region(uint8_t number, const RdmaRegion& region);

  /// Requests wait here until the engine is ready and its post queue takes them.
  void post(const RdmaRequest& request);

  /// To be called while the interrupt line is high: collects completions.
  void interrupt();

  bool ready() const { return ready_; }
  size_t unposted() const { return requests_.size(); }
  /// Why the engine cannot be used; empty if all is well.
  const std::string& fault() const { return fault_; }

 private:
  void check_identity();
  void look_if_ready();
  void program(const RdmaSetup& setup);
  void write(uint32_t address, uint32_t data);
  void write_if_changed(uint32_t address, uint32_t data, std::optional<uint32_t>& known);
  void open();
  void ring();
  void collect();
  void fail(std::string why);

  RegisterBus& bus_;
  OnCompletion on_completion_;
  OnPosted on_posted_;
  RdmaSetup setup_;
  std::deque<RdmaRequest> requests_;
  std::optional<uint32_t> src_lo_, src_hi_, dst_lo_, dst_hi_, bytes_, node_,
      key_;                    // what the POST_ registers hold
  uint32_t region_queue_ = 0;  // and REGION_QUEUE, which an engine without transfers need not have
  Repetition looking_, ringing_, taking_;
  bool ready_ = false;
  bool posting_ = false;
  bool collecting_ = false;
  std::string fault_;
};

}  // namespace weft::driver
