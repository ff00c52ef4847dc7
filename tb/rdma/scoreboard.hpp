// SPDX-License-Identifier: Apache-2.0
// Runs the golden model in lockstep with one engine and compares everything that can be seen of it.
//
// The golden model makes one step at each event that the RTL retires. What the event was about comes from the
// ports (packets that came in, requests that were posted); from the trace come only the choices that
// docs/rdma.md leaves to the surroundings: order of events, room in queues, offered contexts, time. Outcome,
// context and what follows from it (packets, host writes, completions) must then be what the golden model
// says.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/axi_memory.hpp"
#include "common/findings.hpp"
#include "driver/rdma_driver.hpp"
#include "expected_answers.hpp"
#include "expected_packets.hpp"
#include "expected_reads.hpp"
#include "expected_writes.hpp"
#include "inbox_scoreboard.hpp"
#include "node_counts.hpp"
#include "node_traces.hpp"
#include "rdma/packet.hpp"
#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "rdma/timeouts.hpp"
#include "rdma/trace_format.hpp"
#include "rdma_model.hpp"
#include "rdma_pins.hpp"
#include "register_watch.hpp"
#include "repeat_watch.hpp"
#include "trace/record.hpp"

namespace weft::tb {

/// Free receive contexts that may be hidden from the engine (in its free list's pipeline) when it says "none
/// free", or that a source holds too many.
inline constexpr uint32_t hidden_free_contexts = 12;

class Scoreboard {
 public:
  using OnReceiverEvent = std::function<void(uint64_t cycle, const rdma::RxEventView&)>;
  using OnQueueCompletion = std::function<void(const rdma::Completion&)>;
  using OnSenderEvent = std::function<void(uint64_t cycle, const rdma::TxEventView&)>;

  Scoreboard(const RdmaBuild& build, Reporter& reporter, const AxiMemory& memory);

  /// From now on writes the events of RTL and golden model, or of the latter alone, to DIR.
  void write_traces(const std::string& directory, bool with_rtl = true);
  void close_traces() { traces_.close(); }
  NodeTraces& traces() { return traces_; }

  /// To be told of every event that both sides have, as the golden model has it.
  void on_receiver_event(OnReceiverEvent callback) { on_receiver_event_ = std::move(callback); }
  void on_sender_event(OnSenderEvent callback) { on_sender_event_ = std::move(callback); }

  // What is seen at the ports; all within one cycle before sample().
  /// Nothing: a packet that broke a rule of tkeep.
  void arrived(std::optional<std::vector<uint8_t>> flits) { arrived_.push_back(std::move(flits)); }
  void left(std::vector<uint8_t> flits);
  void wrote(WrittenBurst burst) { writes_.wrote(std::move(burst), reporter_.cycle()); }
  void answered(uint64_t bytes, bool ok);
  void completed(const driver::RdmaCompletion& completion);

  // --- posts of the host queues, of an engine that has such
  /// The engine shall get this post; its tag is the caller's and comes back.
  void posted_by_queue(const rdma::Post& post) { queue_posts_.push_back(post); }
  void on_queue_completion(OnQueueCompletion callback) { on_queue_completion_ = std::move(callback); }
  /// Of an engine with transfers.
  InboxScoreboard& inbox() { return *inbox_; }
  /// The registers so many clocks ago.
  const rdma::Config& settings(uint64_t age) const;

  /// Once a cycle, after the above.
  void sample(const RdmaPins& pins);

  void reset();

  /// Nothing is expected any more, and all contexts are free.
  bool quiet() const;
  bool contexts_free() const;
  bool buffers_empty() const;
  /// Reports what is still missing once the engine should be quiet.
  void check_quiet();
  /// Compares with the registers OUTCOME[code] and CTL_DROPPED.
  void check_counter(uint32_t code, uint32_t value);
  void check_ctl_dropped(uint32_t value);

  uint64_t outcomes(rdma::formats::Outcome outcome) const { return outcomes_[static_cast<size_t>(outcome)]; }
  const std::array<uint64_t, outcome_codes>& outcomes() const { return outcomes_; }
  uint64_t events() const { return rx_events_ + tx_events_; }
  const ExpectedPackets& packets() const { return packets_; }
  const ExpectedWrites& writes() const { return writes_; }
  const rdma::Receiver& receiver() const { return receiver_; }
  const rdma::Sender& sender() const { return sender_; }

 private:
  struct TakenPost {
    rdma::Post post;
    PostOrigin origin;
  };
  struct Completed {
    driver::RdmaCompletion completion;
    uint64_t cycle;
  };
  /// When a timer of a half could last have been looked at: events leave less time for timeouts.
  struct TimerWatch {
    uint64_t window_start = 0;
    uint64_t events = 0;
  };

  /// Clocks from the moment at which a pipeline looks at something to the moment at which the event retires;
  /// of time those beyond the sender's one.
  struct ReceiverAge {
    static constexpr uint64_t time = 2, answer = 2, decision = 4, ahead = 5, timer = 6, quota = 9,
                              answers = 10, region = 11;
  };
  struct InboxAge {
    static constexpr uint64_t decision = 2, region = 4;
  };
  struct SenderAge {
    static constexpr uint64_t decision = 1, timer = 2;
  };
  /// Clocks from the moment at which the timeout in use looks at something to the moment at which it is in
  /// use.
  struct LimitAge {
    static constexpr uint64_t registers = 1, events = 4;
  };

  /// What a half has measured: from which cycle on, oldest first; never empty.
  struct Measured {
    std::deque<std::pair<uint64_t, std::optional<uint16_t>>> timeouts{{0, std::nullopt}};

    void add(uint64_t cycle, std::optional<uint16_t> timeout) {
      if (timeouts.back().second != timeout) timeouts.emplace_back(cycle, timeout);
    }
    std::optional<uint16_t> at(uint64_t cycle) const;
    void forget_before(uint64_t cycle);
  };

  /// The tick counter at some event.
  struct SeenTime {
    uint32_t tick_cycles = 0;  // 0: nothing was seen
    uint64_t cycle = 0;
    uint16_t now = 0;
  };

  void step_inbox(const InboxTracePins& rtl);
  void step_receiver(const RxTracePins& rtl);
  void step_sender(const TxTracePins& rtl);
  rdma::RxResult golden_receiver(const RxTracePins& rtl, rdma::RxInputs& inputs,
                                 std::optional<rdma::formats::Header>& header);
  rdma::RxResult golden_packet(const rdma::Packet& packet, const rdma::RxInputs& inputs);
  rdma::TxResult golden_sender(const TxTracePins& rtl, const rdma::TxInputs& inputs,
                               std::optional<rdma::formats::Header>& header, std::optional<TakenPost>& post);
  rdma::TxResult golden_post(const rdma::TxInputs& inputs, std::optional<TakenPost>& post);
  void take_post(const PostTracePins& taken);
  void compare(const RxTracePins& rtl, rdma::RxEventView view);
  void compare(const TxTracePins& rtl, rdma::TxEventView view);
  void note(const rdma::RxResult& result);
  void note(const rdma::TxResult& result, PostOrigin origin);
  void count(rdma::formats::Outcome outcome, bool ctl_dropped);
  void tell_difference(const char* half, const trace::Record& rtl, const trace::Record& golden);
  void judge_completions();
  void take_arrivals();
  void route(const RoutedTracePins& seen);
  void check_read(const rdma::formats::Header& read, const rdma::RxResult& result) const;
  AnswerBounds answer_bounds() const;
  void observe_time(const char* half, uint16_t now, uint64_t age);
  uint16_t receiver_limit(uint64_t age) const;
  uint16_t sender_limit(uint64_t age) const;
  void note_settings(const rdma::Config& config);
  void configure_receiver();
  void configure_sender();
  void forget_settings();
  void check_room(const RxTracePins& rtl) const;
  void check_room(const TxTracePins& rtl) const;
  uint16_t now_since(const SeenTime& seen, uint64_t cycle) const;
  template <typename LongestOverdue>
  void check_timers(TimerWatch& watch, uint32_t contexts, const char* half, LongestOverdue longest_overdue);

  RdmaBuild build_;
  Reporter& reporter_;
  NodeTraces traces_;
  const AxiMemory& memory_;
  rdma::Receiver receiver_;
  RepeatWatch repeats_;
  rdma::Sender sender_;
  std::deque<std::optional<std::vector<uint8_t>>> arrived_;  // in this cycle
  std::deque<std::optional<std::vector<uint8_t>>> checked_;  // come in the one before
  /// Passed the arrival checks or not; `for_inbox`: it is not known yet whether the inbox takes it;
  /// `turned_away`: that had no room.
  struct ForReceiver {
    rdma::Arrival arrival;
    bool for_inbox;
    bool turned_away = false;
  };
  std::deque<ForReceiver> for_receiver_;
  std::deque<rdma::Packet> for_sender_;
  std::deque<rdma::Post> register_posts_, queue_posts_, answer_posts_;  // not yet taken by the sender
  std::deque<TakenPost> posts_;                                         // taken, not yet retired
  std::map<uint16_t, PostOrigin> origins_;                              // of the transfers, by context
  ExpectedAnswers answers_;
  std::optional<InboxScoreboard> inbox_;  // of an engine with transfers
  std::deque<bool> grants_;  // RSPs that grant and have not left yet: whether it is the first of that grant
  OnQueueCompletion on_queue_completion_;
  ExpectedPackets packets_;
  ExpectedReads reads_;
  ExpectedWrites writes_;
  std::deque<std::pair<uint64_t, rdma::Config>> settings_;  // from which cycle on, oldest first; never empty
  rdma::ReceiverTimes receiver_times_;
  rdma::SenderTimes sender_times_;
  Measured receiver_measured_, sender_measured_;
  TimerWatch rx_timers_, tx_timers_;
  RegisterWatch registers_;
  std::deque<rdma::Completion> expected_completions_;
  std::deque<Completed> completed_;
  std::array<uint64_t, outcome_codes> outcomes_{};
  uint64_t ctl_dropped_ = 0;
  uint64_t rx_events_ = 0;
  uint64_t tx_events_ = 0;
  uint32_t tick_cycles_ = 0;  // in force since the cycle below
  uint64_t ticks_since_ = 0;
  SeenTime first_seen_, last_seen_;
  OnReceiverEvent on_receiver_event_;
  OnSenderEvent on_sender_event_;
};

}  // namespace weft::tb
