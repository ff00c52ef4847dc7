// SPDX-License-Identifier: Apache-2.0
// Runs the golden model of the inbox in lockstep with that of an engine (docs/rdma_transfers.md): every event
// that it retires, every request that it hands to the receiver, every completion.
//
// What an event was about comes from the ports, the choices that the page leaves open (order of events, room,
// offered ticket, time) from the trace.
// What happens elsewhere counts for the events of the inbox some clocks later, as rdma_inbox.sv says.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "common/findings.hpp"
#include "expected_packets.hpp"
#include "node_traces.hpp"
#include "rdma/inbox.hpp"
#include "rdma/trace_format.hpp"
#include "rdma_model.hpp"
#include "rdma_pins.hpp"

namespace weft::tb {

class InboxScoreboard {
 public:
  using OnCompletion = std::function<void(const rdma::TicketCompletion&)>;
  using OnOutcome = std::function<void(rdma::formats::Outcome, bool ctl_dropped)>;

  /// A request that the inbox has given to the receiver.
  struct Admitted {
    rdma::formats::Header header;
    rdma::Admission admission;
  };

  /// @param traces of the node, to which its events go
  InboxScoreboard(const RdmaBuild& build, Reporter& reporter, ExpectedPackets& packets, NodeTraces& traces,
                  OnOutcome on_outcome);

  void reset();
  void configure(rdma::Config config) { inbox_.configure(std::move(config)); }
  void number_from(uint32_t number) { inbox_.number_from(number); }
  void on_completion(OnCompletion callback) { on_completion_ = std::move(callback); }

  // What comes in, in order each.
  void posted(const rdma::TicketPost& post) { posts_.push_back(post); }
  void request_arrived(const rdma::formats::Header& header) { requests_.push_back(header); }
  void refusal_arrived(const rdma::formats::Header& header) { refusals_.push_back(header); }
  /// A queue is open with this key from now on, or closed.
  void queue_set(uint8_t queue, bool open, uint16_t key);
  void write_failed(uint16_t cid);

  /// Once a cycle, after all of the above and before retired(): what happened some clocks ago counts from
  /// here on.
  void catch_up();
  /// One event of the inbox, after catch_up().
  void step(const InboxTracePins& rtl);

  /// The oldest request that the receiver has not decided. Throws Violation if there is none.
  Admitted next_admitted();

  /// An event of the receiver; `admitted` if it was such a request.
  void retired(const rdma::RxResult& result, const rdma::formats::Header* header, const Admitted* admitted);

  /// Nothing is under way but RECVs that wait.
  bool quiet() const;
  void check_quiet() const;
  const rdma::Inbox& model() const { return inbox_; }

 private:
  rdma::InboxResult golden(const InboxTracePins& rtl, rdma::InboxEventView& view);
  rdma::InboxResult golden_request(const InboxTracePins& rtl, rdma::InboxEventView& view);
  std::optional<rdma::Ticket::State> found_by(const rdma::formats::Header& request) const;
  void trace(const InboxTracePins& rtl, rdma::InboxEventView view, const std::optional<rdma::Ticket>& before);
  void note(const rdma::InboxResult& result);
  void complete(const std::optional<rdma::TicketCompletion>& completion) const;
  rdma::InboxResult golden_decision(const InboxTracePins& rtl, rdma::InboxEventView& view);

  RdmaBuild build_;
  Reporter& reporter_;
  ExpectedPackets& packets_;
  NodeTraces& traces_;
  OnOutcome on_outcome_;
  OnCompletion on_completion_;
  rdma::Inbox inbox_;
  std::deque<rdma::TicketPost> posts_;
  std::deque<rdma::formats::Header> requests_, refusals_;
  std::deque<Admitted> admitted_;

  struct Decided {
    uint16_t ticket;
    rdma::RxResult result;
  };
  void decide(const Decided& decided);
  std::deque<Decided> decided_;  // not granted: the inbox has an event of its own for each

  struct Change {
    uint64_t cycle;  // from which on it counts
    std::function<void()> apply;
  };
  std::deque<Change> of_receiver_, of_queues_;
};

}  // namespace weft::tb
