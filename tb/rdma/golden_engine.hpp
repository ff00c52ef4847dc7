// SPDX-License-Identifier: Apache-2.0
// The golden model in the place of an RTL engine: the same pins, so driver, memory and network do not know
// the difference.
//
// What is decided is the golden model's, event by event; when, is like the RTL's but not the same: one event
// of each half a clock, the RTL's order of queues, and so many clocks from an event to what follows. Events
// of a context come in the RTL's order wherever that does not depend on a few clocks. Plain writes only, all
// schemes; its registers are those that a driver needs (golden_registers.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "golden_host.hpp"
#include "golden_registers.hpp"
#include "rdma/receiver.hpp"
#include "rdma/repeats.hpp"
#include "rdma/sender.hpp"
#include "rdma/timeouts.hpp"
#include "rdma_model.hpp"

namespace weft::tb {

class GoldenEngine : public RdmaModel {
 public:
  /// Throws std::invalid_argument for a build with host queues or transfers.
  explicit GoldenEngine(const RdmaBuild& build);

  void settle(RdmaPins& pins) override;
  void edge() override;
  void apply(const RdmaPins&) override {}
  void fetch(RdmaPins&) override {}
  void attach(WaveFile&) override {}  // it has no signals inside
  bool quiet() const override;

 private:
  using Outcome = rdma::formats::Outcome;

  template <typename T>
  struct Due {
    uint64_t cycle = 0;
    T what;
  };
  struct Answer {  // of the receiver
    rdma::Packet packet;
    uint64_t writes_before = 0;  // that it waits for
  };
  struct Fetch {
    rdma::DataOrder order;
    std::optional<std::vector<uint8_t>> payload;  // once it is there
    bool failed = false;
  };
  struct Fault {
    uint16_t sid = 0;
    uint32_t msgid = 0;
  };

  void reset();
  void count_ticks();
  void configure();
  void take_beat(const AxisPins& in);
  void note_memory();
  void adapt_to_memory();
  void note_timeouts();

  void step_receiver();
  void retire(const rdma::RxResult& result, bool timeout);
  rdma::RxInputs receiver_inputs(const rdma::formats::Header* request) const;

  void step_sender();
  bool step_of_waiting();
  bool send_room() const;
  void take_turn(uint16_t sid);
  void retire(const rdma::TxResult& result, TxKind kind);
  rdma::TxInputs sender_inputs() const;

  const rdma::formats::Header* next_order() const;
  void fetch();
  void forward_fetched();
  void leave();
  bool is_going(const rdma::formats::Header& data) const;
  uint32_t beats_of_payload(const rdma::formats::Header& data) const;
  void beat_left();

  const RdmaBuild build_;
  const rdma::Params& params_ = build_.params;
  RdmaPins pins_;  // as settled
  uint64_t cycle_ = 0;
  uint16_t now_ = 0;
  uint32_t divider_ = 0;
  rdma::Config config_;
  GoldenRegisters registers_;
  GoldenHost host_;
  RxTracePins rx_trace_;
  TxTracePins tx_trace_;

  std::vector<uint8_t> arriving_;
  std::deque<Due<rdma::Arrival>> for_receiver_;
  std::deque<Due<rdma::Packet>> for_sender_;

  rdma::Receiver receiver_;
  rdma::GrantedRequests granted_;
  rdma::ReceiverTimes receiver_times_;
  std::deque<uint16_t> free_cids_, due_cids_;
  std::deque<Due<Answer>> answers_;
  std::vector<bool> failed_;                                          // by receive context: a write of it
  std::deque<Due<std::pair<rdma::HostWrite, uint16_t>>> for_memory_;  // and their contexts
  uint64_t writes_ = 0, writes_answered_ = 0;

  rdma::Sender sender_;
  rdma::SenderTimes sender_times_;
  std::deque<rdma::Post> posts_;
  std::deque<uint16_t> free_sids_, due_sids_, due_buffers_;
  std::deque<Due<uint16_t>> turns_;
  std::vector<std::deque<uint16_t>> waiting_;  // by send buffer: for room in it
  std::vector<bool> queued_;                   // by send context: its turn is in one of these
  std::deque<Due<rdma::Packet>> controls_;
  std::deque<Due<rdma::DataOrder>> sends_, resends_;
  bool resent_last_ = false;
  std::deque<Fault> faults_;

  std::deque<Fetch> fetches_;
  std::map<uint64_t, std::vector<uint8_t>> copies_;  // by send buffer and slot
  uint64_t next_read_ = 0;                           // number of the oldest fetch
  std::deque<Due<rdma::Packet>> fetched_;
  uint32_t fetch_beats_ = 0;   // that may be ahead
  bool payload_came_ = false;  // in the clock before
  unsigned calm_ = 0;          // packets that found enough waiting
  uint32_t beats_ahead_ = 0;   // of payload, from its order on until it leaves
  std::deque<AxisBeat> leaving_;
  uint32_t payload_leaves_ = 0;  // beats of the DATA that leaves now
};

}  // namespace weft::tb
