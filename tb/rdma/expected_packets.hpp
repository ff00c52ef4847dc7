// SPDX-License-Identifier: Apache-2.0
// Checks every packet that leaves an engine against what the golden model decided to send.
//
// Five classes, each first in, first out: control of the receiver, of the sender, of the inbox, resent data,
// new data. A DATA packet with RETRY may belong to either data class (resent_and_new.hpp). One that was
// decided on may be missing if its transfer is over, and is if it could not be read; but if it leaves, its
// payload is what was there when it was decided: software may write there again as soon as it is told.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/findings.hpp"
#include "common/host_memory.hpp"
#include "rdma/packet.hpp"
#include "rdma/sender.hpp"
#include "resent_and_new.hpp"

namespace weft::tb {

class ExpectedPackets {
 public:
  ExpectedPackets(const rdma::Params& params, const HostMemory& memory) : params_(params), memory_(memory) {
    reset();
  }

  /// @param written_before bytes of host writes decided before; a DONE must not leave before they are
  /// answered
  void expect_receiver_control(rdma::Packet packet, uint64_t written_before);
  void expect_sender_control(rdma::Packet packet) { sender_control_.push_back(std::move(packet)); }
  void expect_inbox_control(rdma::Packet packet) { inbox_control_.push_back(std::move(packet)); }
  /// @return number of the packet, since the first one
  uint64_t expect_data(const rdma::DataOrder& order);
  /// Memory has answered the read of this packet with an error, or of another one with the same address:
  /// it does not leave, or may not.
  void could_not_be_read(uint64_t number, bool certain);
  /// The send context is free: what is still to be sent of its transfers may be left out.
  void transfer_over(uint16_t sid);

  /// A packet left. It is judged some cycles later, when the event it comes from has surely been traced.
  /// @param write_failed memory answered a write of its context with an error, or nothing if that cannot be
  /// said; looked at for DONE only
  void left(std::vector<uint8_t> flits, uint64_t answered_bytes, std::optional<bool> write_failed,
            uint64_t cycle);

  /// Judges packets that left long enough ago.
  void judge(const Reporter& reporter);

  /// Packets decided on that wait, or have just left.
  size_t receiver_control_waiting() const { return receiver_control_.size(); }
  size_t sender_control_waiting() const { return sender_control_.size(); }
  size_t resends_waiting() const { return data_.resent().size(); }

  bool empty() const;
  std::string describe_missing() const;
  void reset();

  uint64_t packets() const { return packets_; }
  uint64_t data_packets() const { return data_packets_; }
  uint64_t resent_packets() const { return resent_packets_; }

 private:
  struct Control {
    rdma::Packet packet;
    uint64_t written_before;
  };
  struct Left {
    std::vector<uint8_t> flits;
    uint64_t answered_bytes;
    std::optional<bool> write_failed;
    uint64_t cycle;
  };
  struct Data {
    rdma::formats::Header header;
    std::vector<uint8_t> payload;
    uint64_t number;
    bool may_be_missing = false;
    bool must_be_missing = false;
  };
  using DataQueue = ResentAndNew<Data>::Queue;

  void judge_one(const Left& left, const Reporter& reporter);
  void judge_receiver_control(const rdma::Packet& packet, const Left& left, const Reporter& reporter);
  void judge_in_order(const char* whose, std::deque<rdma::Packet>& expected, const rdma::Packet& packet,
                      const Reporter& reporter);
  void judge_data(const rdma::Packet& packet, const Reporter& reporter);
  static bool matches(const Data& data, const rdma::Packet& packet);
  static std::vector<size_t> explanations_in(const DataQueue& queue, size_t from, const rdma::Packet& packet);
  static const Data* first_wanted(const DataQueue& queue, size_t from);

  rdma::Params params_;
  const HostMemory& memory_;
  std::deque<Control> receiver_control_;
  std::deque<rdma::Packet> sender_control_, inbox_control_;
  ResentAndNew<Data> data_;
  std::deque<Left> left_;
  uint64_t packets_ = 0;
  uint64_t expected_data_ = 0;
  uint64_t data_packets_ = 0;
  uint64_t resent_packets_ = 0;
};

/// A packet on one line, for messages.
std::string describe(const rdma::formats::Header& header);

/// Cycles between an effect at a port and the moment at which the trace port has surely told its cause.
inline constexpr uint64_t trace_lag = 32;

}  // namespace weft::tb
