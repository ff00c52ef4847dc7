// SPDX-License-Identifier: Apache-2.0
// Golden model of the host queues (docs/rdma_queues.md): rings, doorbells, reservation, states, interrupts.
//
// It has no clock. Its user tells it what happens, in order; every call says whether that may happen now and
// what follows. A non-empty text is what is wrong with it. Where the page leaves a choice to the hardware
// (which queue next, how many entries at once, when an interrupt is judged), any allowed choice is accepted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/rdma_queues/formats.hpp"

namespace weft::rdma_queues {

/// What a NIC accepts, as `opcodes` below.
constexpr uint16_t opcodes_of(bool transfers) {
  const auto bit = [](formats::Opcode opcode) { return 1u << static_cast<unsigned>(opcode); };
  using formats::Opcode;
  const unsigned more = bit(Opcode::write_imm) | bit(Opcode::send) | bit(Opcode::read) | bit(Opcode::recv);
  return static_cast<uint16_t>(bit(Opcode::write) | (transfers ? more : 0));
}

struct QueueParams {
  uint32_t queues = 8;
  uint32_t fetch = 4;  ///< entries a burst, at most
  uint32_t addr_bits = 48;
  uint16_t opcodes = opcodes_of(false);  ///< bit i: opcode i is accepted
};

/// Whether a request is the sender's, and counts in the quota of its queue until it ends.
constexpr bool is_of_sender(uint8_t opcode) {
  using formats::Opcode;
  const auto code = [](Opcode value) { return static_cast<uint8_t>(value); };
  return opcode == code(Opcode::write) || opcode == code(Opcode::write_imm) || opcode == code(Opcode::send);
}

/// What the administrator says of a queue.
struct QueueConfig {
  uint64_t sq_base = 0, cq_base = 0;  ///< bytes
  uint8_t sq_log2 = 0, cq_log2 = 0;   ///< entries
  uint8_t owner = 0;
  formats::IrqKind irq = formats::IrqKind::none;
  uint64_t msi_addr = 0;
  uint32_t msi_data = 0;
  uint16_t key = 0;    ///< that SENDs must name
  uint16_t quota = 0;  ///< requests of the sender under way, 0: no limit
};

/// A completion as it comes to the completion ring.
struct Outcome {
  uint8_t queue = 0;
  bool signal = false;
  formats::Completion fields{};  ///< without submission head and phase
  bool operator==(const Outcome&) const = default;
};

struct Request {
  uint8_t queue = 0;
  uint8_t owner = 0;
  formats::Submission entry{};
  bool operator==(const Request&) const = default;
};

/// One queue. Indices modulo 2^16.
struct Queue {
  QueueConfig config{};
  formats::QueueState state = formats::QueueState::off;
  bool fetch_failed = false, write_failed = false;
  uint16_t tail = 0, asked = 0, head = 0, dropped = 0, promised = 0, written = 0, retired = 0, cq_head = 0;
  uint16_t spared = 0;      ///< entries judged that are none of the sender's
  uint16_t ended = 0;       ///< requests of the sender whose completion was given a slot
  bool unreadable = false;  ///< an entry could not be read: those behind it are dropped
  bool armed = false, pending = false;
  uint16_t urgent_index = 0;     ///< completion tail behind the last one that ends the moderation
  bool urgent = false;           ///< an unseen completion ends the moderation
  uint16_t count = 0, time = 0;  ///< moderation
  bool message_under_way = false;
  bool known_open = false;  ///< what the inbox was told last

  /// Whether the hardware has to ask for entries.
  bool must_fetch() const {
    return state == formats::QueueState::run && asked != tail && room() != 0 && share() != 0;
  }
  bool live() const { return state == formats::QueueState::run || state == formats::QueueState::error; }
  uint32_t sq_size() const { return 1u << config.sq_log2; }
  uint32_t cq_size() const { return 1u << config.cq_log2; }
  uint16_t unseen() const { return static_cast<uint16_t>(retired - cq_head); }
  /// What counts in the quota: entries that may be the sender's, and its requests.
  uint16_t held() const { return static_cast<uint16_t>(asked - spared - ended); }
  /// Entries that the quota lets it ask for.
  uint32_t share() const { return config.quota == 0 ? 0x10000 : config.quota - uint32_t{held()}; }
  uint16_t room() const {
    return static_cast<uint16_t>(cq_size() - static_cast<uint16_t>(promised - cq_head));
  }
};

class Queues {
 public:
  explicit Queues(const QueueParams& params) : params_(params) { reset(); }
  void reset();

  const Queue& queue(uint32_t number) const { return queues_.at(number); }

  // --- registers; addresses as in the description, page 1 + q for queue q
  /// Would this write be answered with OKAY in the state of now?
  bool judge_write(uint32_t address, uint32_t data, uint8_t strobes) const;
  /// The queue that a write there acts on: it has the page, or Q_CTL speaks of it.
  std::optional<uint32_t> subject(uint32_t address) const;
  /// Its effect, judged as given.
  void apply_write(uint32_t address, uint32_t data, bool ok);
  /// Value of a register; none: SLVERR, which is counted by count_bad_read().
  std::optional<uint32_t> read(uint32_t address) const;
  void count_bad_read() { ++bad_access_; }

  // --- submission
  /// Entries index … index + count - 1 of a queue are asked of memory.
  std::string order(uint32_t number, uint16_t index, uint32_t count);
  uint64_t entry_address(uint32_t number, uint16_t index) const;
  /// The oldest entry asked for has come; says whether the queue becomes ERROR by it.
  bool entry_read(bool bus_error, bool& becomes_error);
  bool entries_asked() const { return !asked_.empty(); }
  uint32_t next_read_queue() const { return asked_.front().queue; }
  /// What has to become of the oldest entry that has come, in the state of now.
  struct Judged {
    uint8_t queue;
    formats::Verdict verdict;
    formats::Submission entry;
  };
  /// read gives the entry's bytes at an address.
  template <typename Read>
  std::optional<Judged> next_verdict(Read read) const {
    if (came_.empty()) return std::nullopt;
    const Asked& asked = came_.front();
    const formats::Submission entry =
        formats::unpack_submission(read(entry_address(asked.queue, asked.index)));
    return Judged{asked.queue, verdict(asked, entry), entry};
  }
  /// The oldest entry is judged so: a request, or an error completion to come, or dropped.
  void judged(const Judged& what);
  Request request(const Judged& what) const;
  Outcome rejection(const Judged& what) const;

  // --- arrivals
  /// A slot is asked for an arrival: granted only if the queue is live and there is one.
  std::string claim(uint32_t number, bool granted);

  // --- completions
  struct Placed {
    bool discard;
    uint64_t address;
    formats::Completion entry;
  };
  /// What becomes of this completion in the state of now; fault if none is owed.
  std::string place(const Outcome& outcome, Placed& placed) const;
  void placed(const Outcome& outcome, const Placed& placed);
  /// The oldest completion placed is answered by memory, or was to be discarded.
  std::string retire(uint32_t number, bool discarded, bool urgent, bool failed);

  // --- interrupts and states
  /// An interrupt is sent now. With may_be_time, moderation's time may have passed.
  std::string fire(uint32_t number, bool may_be_time);
  /// Why an interrupt is due at once, whatever the time: error, at_once (no moderation), urgent (SIGNAL or a
  /// status), count; empty: it is not.
  std::string_view due_cause(uint32_t number) const;
  bool must_fire(uint32_t number) const { return !due_cause(number).empty(); }
  /// Why it is sent, if it is sent now.
  std::string_view fire_cause(uint32_t number) const;
  void message_answered(uint32_t number, bool ok);
  /// The queue is OFF now.
  std::string off(uint32_t number);
  bool level() const;
  /// The inbox is told that the queue is open with this key, or closed.
  std::string tell(uint32_t number, bool open, uint16_t key);
  /// The inbox has still to be told of a change.
  bool untold(uint32_t number) const {
    const Queue& queue = queues_.at(number);
    return queue.known_open != (queue.state == formats::QueueState::run);
  }

 private:
  struct Asked {
    uint8_t queue;
    uint16_t index;
    bool bad = false;
  };
  struct Owed {
    uint8_t queue;
    bool discarded;
    bool urgent;
  };

  formats::Verdict verdict(const Asked& asked, const formats::Submission& entry) const;
  static bool well_formed(const formats::Submission& entry);
  bool known_opcode(uint8_t opcode) const { return opcode < 16 && (params_.opcodes >> opcode & 1); }
  bool page_exists(uint32_t address) const { return address / 4096 <= params_.queues; }
  /// The register as the description places it, and the queue that it is about.
  static uint32_t register_of(uint32_t address) { return address % 4096 + (address >= 4096 ? 4096 : 0); }
  uint32_t queue_of(uint32_t address) const { return address >= 4096 ? address / 4096 - 1 : chosen_; }
  bool good_ring(uint64_t base, uint8_t log2, uint32_t entry_bytes) const;
  bool can_enable(const Queue& queue) const;
  void enable(Queue& queue);

  QueueParams params_;
  std::vector<Queue> queues_;
  std::deque<Asked> asked_, came_;  // entries that memory owes, entries to be judged
  std::deque<Owed> owed_;           // completions placed and not retired
  QueueConfig staged_{};
  uint8_t staged_irq_ = 0;
  uint32_t chosen_ = 0, tick_cycles_ = 0;
  uint32_t bad_access_ = 0, bad_doorbell_ = 0, discarded_ = 0, fetch_errors_ = 0, write_errors_ = 0,
           msi_errors_ = 0;
};

}  // namespace weft::rdma_queues
