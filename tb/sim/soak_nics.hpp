// SPDX-License-Identifier: Apache-2.0
// Software of the NICs in a run of the fault campaign: enables queues, keeps buffers posted, posts what the
// plan says, takes completions, and disables the queues again. What it sees it checks by itself: every
// message is delivered at most once, whole, from where it says, and if its sender was told OK, exactly once;
// every completion fits its request; a queue that is disabled discards as many completions as buffers waited.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/ring_driver.hpp"
#include "rdma_system.hpp"
#include "soak_ledger.hpp"
#include "soak_memory.hpp"
#include "soak_plan.hpp"

namespace weft::sim {

/// What came of the requests of NICs.
struct NicCounts {
  std::map<std::string, uint64_t> given, ended_ok;  ///< by opcode
  uint64_t delivered = 0;                           ///< messages
  uint64_t wake_ups = 0;                            ///< of software that slept
};

class SoakNics {
 public:
  SoakNics(const Plan& plan, tb::RdmaSystem& system, SoakLedger& ledger, SoakMemory& memory);

  /// Fills what NICs use of the memories, and tells what may change in them.
  void prepare();

  /// A round begins: queues of all nodes that live are to be enabled.
  void open();
  /// Asks for the queues of this node, if that has not been done; whether all are enabled.
  bool bring_up(uint32_t node);

  bool can_take(const PlannedPost& post) const;
  /// Of a post that can be taken and is in the ledger.
  void give(const PlannedPost& post);

  /// In every cycle of a round: software does something now and then.
  void step();

  /// All requests have ended: whether what they promise has come true.
  bool all_delivered() const;
  /// Disables the queues; whether all are off and accounted for.
  bool close();

  /// Before a node is reset or dies.
  void lose(uint32_t node);

  const NicCounts& counts() const { return counts_; }

 private:
  using Submission = rdma_queues::formats::Submission;
  using Completion = rdma_queues::formats::Completion;
  enum class State : uint8_t { off, starting, on, closing, closed, gone };

  /// Memory as software writes it: what it writes is right.
  class Memory : public driver::RingMemory {
   public:
    Memory(SoakMemory& book, tb::HostMemory& memory, uint32_t node)
        : book_(book), memory_(memory), node_(node) {}
    void write(uint64_t address, std::span<const uint8_t> bytes) override {
      book_.fill(node_, address, bytes);
    }
    void read(uint64_t address, std::span<uint8_t> bytes) const override { memory_.read(address, bytes); }

   private:
    SoakMemory& book_;
    tb::HostMemory& memory_;
    uint32_t node_;
  };

  struct Host {
    std::unique_ptr<Memory> memory;
    std::unique_ptr<driver::RingAdministrator> administrator;
    std::vector<std::unique_ptr<driver::RingQueue>> queues;
    std::vector<uint64_t> next_buffer;  ///< by queue
    State state = State::off;
    uint32_t answers = 0;  ///< of queues that are being enabled or disabled
    uint16_t next_tag = first_buffer_tag;
    uint32_t discarded = 0;  ///< so far, by the register
    bool counter_asked = false;
  };

  struct Message {
    PlannedPost post;
    std::vector<uint8_t> bytes;
    bool given = false;
    bool ok = false;    ///< said its sender's completion
    bool over = false;  ///< has completed, or its sender is lost
    bool delivered = false;
    bool excused = false;  ///< its receiver was lost meanwhile
  };

  static constexpr uint16_t first_buffer_tag = 0x8000;
  static constexpr uint64_t look_cycles = 16;  // software looks at a queue so often

  static constexpr uint64_t taken_cycles = 3000;  // an entry is taken within so many if nothing else is there

  const NicPlan& nic() const { return *plan_.nic; }
  uint32_t queues() const { return static_cast<uint32_t>(nic().queues[0].size()); }
  bool is_up(uint32_t node) const { return hosts_[node].state == State::on; }
  void tell(uint32_t node, const std::string& text) { system_.findings().add(node, system_.cycle(), text); }
  void prepare_node(uint32_t node, uint64_t& stream);
  void enable(uint32_t node);
  void announce(uint32_t node, uint32_t queue, uint16_t tag);
  void keep_buffers(uint32_t node, uint32_t queue);
  bool woken(uint32_t node, uint32_t queue);
  void look(uint32_t node, uint32_t queue);
  uint32_t take_all(uint32_t node, uint32_t queue);
  void sleep(uint32_t node, uint32_t queue);
  void note(uint32_t node, uint32_t queue, const Completion& got);
  void note_request(const PlannedPost& post, const Completion& got);
  void note_buffer(const PlannedPost& post, const Completion& got);
  Message* find_message(const PlannedPost& buffer, const Completion& got);
  void check_message(const Message& message, const PlannedPost& buffer, const Completion& got);
  void disable(uint32_t node);
  void account(uint32_t node);
  bool has_credit(uint32_t node, uint32_t queue) const;
  uint64_t reads_open(uint32_t node) const { return reads_open_[node]; }

  const Plan& plan_;
  tb::RdmaSystem& system_;
  SoakLedger& ledger_;
  SoakMemory& memory_;
  std::vector<Host> hosts_;
  std::map<std::pair<uint32_t, uint16_t>, Message> messages_;  // by sender and tag
  std::vector<uint64_t> reads_open_;
  uint64_t last_buffer_ = 0;  // cycle in which the last one was posted
  NicCounts counts_;
};

/// Bytes drawn from a seed.
std::vector<uint8_t> soak_bytes(uint64_t count, uint64_t seed, uint64_t stream);

}  // namespace weft::sim
