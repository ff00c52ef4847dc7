// SPDX-License-Identifier: Apache-2.0
// Host driver of a NIC's queues: the administrator's part and an owner's (docs/rdma_queues.md). Transfers go
// through rings in host memory; the engine itself is set up by RdmaDriver.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "driver/register_bus.hpp"
#include "weft/rdma_queues/formats.hpp"

namespace weft::driver {

/// Host memory as software sees it. What is written before a doorbell must be visible to the NIC when the
/// doorbell is; a read must not return anything older than what a read before it returned (on hosts that
/// reorder loads: a barrier behind each).
class RingMemory {
 public:
  virtual ~RingMemory() = default;
  virtual void write(uint64_t address, std::span<const uint8_t> bytes) = 0;
  virtual void read(uint64_t address, std::span<uint8_t> bytes) const = 0;
};

/// Address of a register of the queues in the register space of a NIC, whose page 0 is the engine's.
/// @param reg as in docs/rdma_queues_formats.md
/// @param queue of a register of an owner's page
constexpr uint32_t ring_register(uint32_t reg, uint32_t queue = 0) { return 0x1000 + reg + 0x1000 * queue; }

/// What the administrator says of a queue. Bases are multiples of the ring's bytes and of 4 KiB.
struct RingSetup {
  uint64_t sq_base = 0, cq_base = 0;
  uint8_t sq_log2 = 4, cq_log2 = 4;  ///< entries, 4 to 15
  uint8_t owner = 0;
  rdma_queues::formats::IrqKind irq = rdma_queues::formats::IrqKind::none;
  uint64_t msi_addr = 0;
  uint32_t msi_data = 0;
  uint16_t key = 0;  ///< that SENDs of other nodes must name
  /// WRITEs, WRITE_IMMs and SENDs under way at once, 0: no limit (docs/rdma_queues.md, Quotas)
  uint16_t quota = 0;

  uint32_t sq_size() const { return 1u << sq_log2; }
  uint32_t cq_size() const { return 1u << cq_log2; }
};

/// Enables and disables queues.
class RingAdministrator {
 public:
  using OnDone = std::function<void(bool ok)>;

  RingAdministrator(RegisterBus& bus, RingMemory& memory) : bus_(bus), memory_(memory) {}

  /// Zeroes the rings and enables a queue that is OFF. Not ok: there is no such queue or it is not OFF, and
  /// nothing was changed; or the NIC refuses the set-up.
  void enable(uint32_t queue, const RingSetup& setup, OnDone done);

  /// Disables a queue and waits until nothing of it is under way: then its rings are free for other use. Not
  /// ok: there is no such queue, or it is OFF.
  void disable(uint32_t queue, OnDone done);

 private:
  using OnState = std::function<void(bool exists, rdma_queues::formats::QueueState state)>;

  /// A number is looked up first, as the NIC would take it modulo the number of queues.
  void find(uint32_t queue, OnState found);
  void program(uint32_t queue, const RingSetup& setup, OnDone done);
  void wait_until_off(uint32_t queue, OnDone done);
  void write(uint32_t reg, uint32_t data) { bus_.write(ring_register(reg), data, nullptr); }
  void write_both(uint32_t low_register, uint64_t value);

  RegisterBus& bus_;
  RingMemory& memory_;
};

/// Memory of this node: of what is sent, or a buffer.
struct LocalBytes {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t key = 0;  ///< rdma_rkey() of its region
};

/// Memory of a peer.
struct RemoteBytes {
  uint32_t node = 0;
  uint64_t address = 0;
  uint32_t key = 0;  ///< rdma_rkey() of its region there
};

/// A queue of a peer.
struct RemoteQueue {
  uint32_t node = 0;
  uint8_t queue = 0;
  uint16_t key = 0;  ///< RingSetup::key there
};

/// One queue as its owner uses it. Uses no register but those of the queue's own page.
class RingQueue {
 public:
  using Submission = rdma_queues::formats::Submission;
  using Completion = rdma_queues::formats::Completion;

  /// Of a queue that has just been enabled with this set-up.
  RingQueue(RegisterBus& bus, RingMemory& memory, uint32_t queue, const RingSetup& setup)
      : bus_(bus), memory_(memory), queue_(queue), setup_(setup) {
    telling_.start([this] { send_head(); });
  }
  RingQueue(const RingQueue&) = delete;
  RingQueue& operator=(const RingQueue&) = delete;

  /// Entries that can be written now.
  uint32_t room() const { return setup_.sq_size() - static_cast<uint16_t>(tail_ - sq_head_); }

  /// Writes an entry behind the others; false if the ring is full. ring() announces it.
  bool put(const Submission& entry) {
    if (room() == 0) return false;
    using rdma_queues::formats::submission_bytes;
    memory_.write(setup_.sq_base + uint64_t{tail_ % setup_.sq_size()} * submission_bytes,
                  rdma_queues::formats::pack(entry));
    ++tail_;
    return true;
  }

  // Each puts a request of this kind (docs/rdma_queues.md, Requests); false if the ring is full. `flags`:
  // none, or SIGNAL.

  bool post_write(uint64_t tag, const LocalBytes& local, const RemoteBytes& remote, uint8_t flags = 0) {
    return put(to_region(Opcode::write, tag, local, remote, flags));
  }
  bool post_write_imm(uint64_t tag, const LocalBytes& local, const RemoteBytes& remote, uint32_t immediate,
                      uint8_t flags = 0) {
    Submission entry = to_region(Opcode::write_imm, tag, local, remote, flags);
    entry.immediate = immediate;
    return put(entry);
  }
  bool post_send(uint64_t tag, const LocalBytes& local, const RemoteQueue& remote,
                 std::optional<uint32_t> immediate = std::nullopt, uint8_t flags = 0) {
    Submission entry = request(Opcode::send, tag, local, flags);
    entry.node = remote.node;
    entry.remote_key = uint32_t{remote.queue} << 16 | remote.key;
    if (immediate) {
      entry.flags |= rdma_queues::formats::flag_imm;
      entry.immediate = *immediate;
    }
    return put(entry);
  }
  /// From the peer into the buffer here.
  bool post_read(uint64_t tag, const LocalBytes& buffer, const RemoteBytes& remote, uint8_t flags = 0) {
    return put(to_region(Opcode::read, tag, buffer, remote, flags));
  }
  /// A buffer for a SEND, or for being told of a write with immediate; of no bytes: for the latter only.
  bool post_recv(uint64_t tag, const LocalBytes& buffer, uint8_t flags = 0) {
    return put(request(Opcode::recv, tag, buffer, flags));
  }

  /// Tells the NIC of all entries put so far.
  void ring(OnWritten done = nullptr) {
    bus_.write(ring_register(rdma_queues::formats::reg::SQ_TAIL, queue_), tail_, std::move(done));
  }

  /// The oldest completion not yet taken, if there is one.
  std::optional<Completion> take();

  /// Tells the NIC how many completions were taken; with `arm`, it interrupts for the next one, or for one
  /// that is there already. A completion may be seen in memory a little before the NIC knows that it is
  /// there: then the NIC refuses, and is told again.
  void acknowledge(bool arm = false) {
    arm_ = arm_ || arm;
    acknowledge_wanted_ = true;
    telling_.again();
  }

  /// An interrupt after so many completions, or so many ticks after the first (docs/rdma_queues.md,
  /// Interrupts).
  void moderate(uint16_t count, uint16_t ticks) {
    bus_.write(ring_register(rdma_queues::formats::reg::MODERATION, queue_), count | uint32_t{ticks} << 16,
               nullptr);
  }

  uint16_t taken() const { return head_; }
  uint32_t number() const { return queue_; }
  const RingSetup& setup() const { return setup_; }

 private:
  using Opcode = rdma_queues::formats::Opcode;

  static Submission request(Opcode opcode, uint64_t tag, const LocalBytes& local, uint8_t flags) {
    Submission entry;
    entry.opcode = static_cast<uint8_t>(opcode);
    entry.flags = flags;
    entry.tag = tag;
    entry.local_addr = local.address;
    entry.bytes = local.bytes;
    entry.local_key = local.key;
    return entry;
  }
  static Submission to_region(Opcode opcode, uint64_t tag, const LocalBytes& local, const RemoteBytes& remote,
                              uint8_t flags) {
    Submission entry = request(opcode, tag, local, flags);
    entry.node = remote.node;
    entry.remote_addr = remote.address;
    entry.remote_key = remote.key;
    return entry;
  }

  void send_head();
  void repeat_if_live();

  RegisterBus& bus_;
  RingMemory& memory_;
  uint32_t queue_;
  RingSetup setup_;
  uint16_t tail_ = 0;     // entries put
  uint16_t sq_head_ = 0;  // entries that the NIC has taken, as far as a completion has told
  uint16_t head_ = 0;     // completions taken
  Repetition telling_;
  bool arm_ = false, acknowledge_wanted_ = false, acknowledging_ = false;
};

}  // namespace weft::driver
