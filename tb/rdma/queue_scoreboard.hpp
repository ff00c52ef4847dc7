// SPDX-License-Identifier: Apache-2.0
// Runs the golden model of the host queues in lockstep with those of a NIC: every trace record, every
// completion and message in memory, every fetch. What the queues accept goes to the engine's scoreboard as a
// post that it has to expect, and comes back from it as the completion that must be in the ring.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/axi_memory.hpp"
#include "common/findings.hpp"
#include "rdma/queue_requests.hpp"
#include "rdma/queues.hpp"
#include "rdma_model.hpp"
#include "rdma_pins.hpp"
#include "scoreboard.hpp"
#include "trace/record.hpp"

namespace weft::tb {

/// Register page of the queues' administrator; what docs/rdma_queues_formats.md says of addresses counts from
/// here.
inline constexpr uint32_t queue_pages = 0x1000;

class QueueScoreboard {
 public:
  /// @param engine of the same NIC; lives as long
  QueueScoreboard(const RdmaBuild& build, Reporter& reporter, const AxiMemory& memory, Scoreboard& engine);

  void reset();

  // What is seen on the memory port; all within one cycle before sample().
  /// Whether a write there is the queues': into a ring, or a message.
  bool owns(uint64_t address) const;
  void wrote(WrittenBurst burst) { bursts_.push_back(std::move(burst)); }
  void answered(uint64_t bytes, bool ok);

  /// Once a cycle, after the above and before the engine's scoreboard.
  void sample(const RdmaPins& pins);

  /// Nothing is under way in any queue.
  bool quiet() const;

  const rdma_queues::Queues& model() const { return model_; }
  uint64_t messages() const { return messages_; }
  uint64_t discarded() const { return discarded_; }
  uint64_t fetch_errors() const { return fetch_errors_; }
  /// Completions by status, wherever they were made.
  uint64_t outcomes(uint8_t status) const { return outcomes_[status]; }
  /// Requests that engine and inbox have.
  size_t under_way() const { return under_way_.size(); }

 private:
  struct Write {
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  struct Burst {
    uint64_t address;
    uint8_t len;
  };
  using Outcomes = std::deque<rdma_queues::Outcome>;

  void expect(bool ok, const std::string& text) const {
    if (!ok) reporter_.add(text);
  }
  void fail(const std::string& text) const { expect(text.empty(), text); }
  void follow_access(const AxiLitePins& pins);
  void check_off(uint64_t off);
  void check_order(const QueueTracePins& seen);
  void check_address(const AxiPins& axi);
  void check_entry(const QueueTracePins& seen);
  void check_request(const QueueTracePins& seen);
  void check_slot(const QueueTracePins& seen);
  void check_fire(const QueueTracePins& seen);
  void check_due();
  void check_read(const AxiPins& axi, const QueueTracePins& seen);
  void check_writes();
  void check_message(const WrittenBurst& burst);
  void check_retired(const QueueTracePins& seen);
  void engine_completed(const rdma::Completion& completion);
  void inbox_completed(const rdma::TicketCompletion& completion);
  std::optional<rdma_queues::Request> finished(uint16_t number);
  void follow_set(const QueueTracePins& seen);
  /// An event of the queues, or of one of them, as it is after it.
  void trace(std::string_view event, std::optional<uint32_t> queue, const trace::Fields& rtl,
             const trace::Fields& golden);
  void trace(std::string_view event, std::optional<uint32_t> queue, const trace::Fields& both = {}) {
    trace(event, queue, both, both);
  }
  bool in_ring_of_entries(uint64_t address) const;
  uint64_t tick_cycles() const;
  double ticks_passed() const;
  void tick_cycles_change();

  RdmaBuild build_;
  Reporter& reporter_;
  const AxiMemory& memory_;
  Scoreboard& engine_;
  rdma_queues::Queues model_;
  AxiLitePins access_;  // address and data of the register write under way
  bool write_allowed_ = false;
  std::deque<rdma_queues::Request> requests_;           // accepted, not yet checked
  std::map<uint16_t, rdma_queues::Request> under_way_;  // in engine or inbox, by the number given to it
  uint16_t next_number_ = 0;
  Outcomes rejected_, refused_, done_, arrived_;  // to be given a slot, by who has made them
  std::deque<Burst> fetches_;                     // whose address is to come
  std::deque<bool> read_is_fetch_;                // bursts whose data are to come
  uint32_t beats_ = 0;                            // of the entry that is coming
  bool beat_bad_ = false;
  std::deque<WrittenBurst> bursts_;  // of this cycle
  std::deque<Write> writes_;         // completions to come on the memory port
  std::deque<uint8_t> messages_due_, messages_sent_;
  std::optional<bool> completion_answered_;
  std::deque<bool> messages_answered_;
  double ticks_before_ = 0;        // those of before TICK_CYCLES changed
  uint64_t ticks_from_ = 0;        // cycle of that
  std::vector<double> aged_from_;  // ticks
  std::vector<uint64_t> due_cycles_;
  bool level_before_ = false;
  uint64_t messages_ = 0, discarded_ = 0, fetch_errors_ = 0;
  std::array<uint64_t, 256> outcomes_{};
};

}  // namespace weft::tb
