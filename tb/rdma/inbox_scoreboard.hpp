// SPDX-License-Identifier: Apache-2.0
// Runs the golden model of the inbox in lockstep with that of an engine (docs/rdma_transfers.md): every event
// that it retires, every request that it hands to the receiver, every completion.
//
// What an event was about comes from the ports, the choices that the page leaves open (order of events, room,
// offered ticket, time) from the trace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "common/findings.hpp"
#include "expected_packets.hpp"
#include "rdma/inbox.hpp"
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

  InboxScoreboard(const RdmaBuild& build, Reporter& reporter, ExpectedPackets& packets, OnOutcome on_outcome);

  void reset();
  void configure(rdma::Config config) { inbox_.configure(std::move(config)); }
  void number_from(uint32_t number) { inbox_.number_from(number); }
  void on_completion(OnCompletion callback) { on_completion_ = std::move(callback); }

  // What comes in, in order each.
  void posted(const rdma::TicketPost& post) { posts_.push_back(post); }
  void request_arrived(const rdma::formats::Header& header) { requests_.push_back(header); }
  void refusal_arrived(const rdma::formats::Header& header) { refusals_.push_back(header); }
  void opened(uint8_t queue, uint16_t key);
  void closed(uint8_t queue) { inbox_.close(queue); }
  void write_failed(uint16_t cid) { inbox_.write_failed(cid); }

  /// One event of the inbox.
  void step(const InboxTracePins& rtl);

  /// The oldest request that the receiver has not decided. Throws Violation if there is none.
  Admitted next_admitted();

  /// An event of the receiver; `admitted` if it was such a request.
  void retired(const rdma::RxResult& result, const rdma::formats::Header* header, const Admitted* admitted,
               uint16_t now);

  /// Nothing is under way but RECVs that wait.
  bool quiet() const;
  void check_quiet() const;
  const rdma::Inbox& model() const { return inbox_; }

 private:
  rdma::InboxResult golden(const InboxTracePins& rtl);
  rdma::InboxResult golden_request(const InboxTracePins& rtl);
  void note(const rdma::InboxResult& result);
  void complete(const std::optional<rdma::TicketCompletion>& completion) const;

  RdmaBuild build_;
  Reporter& reporter_;
  ExpectedPackets& packets_;
  OnOutcome on_outcome_;
  OnCompletion on_completion_;
  rdma::Inbox inbox_;
  std::deque<rdma::TicketPost> posts_;
  std::deque<rdma::formats::Header> requests_, refusals_;
  std::deque<Admitted> admitted_;
};

}  // namespace weft::tb
