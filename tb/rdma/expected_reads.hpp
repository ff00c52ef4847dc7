// SPDX-License-Identifier: Apache-2.0
// Reads of payload: of which packet each one is, and what follows if memory answers it with an error: that
// packet does not leave, and a fault ends its transfer (docs/rdma.md, A packet whose payload cannot be read).
//
// A read may be of either of two packets with the same address (resent_and_new.hpp); if it fails, either may
// be missing and there may be a fault of either, but none is demanded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/pins.hpp"
#include "expected_packets.hpp"
#include "rdma/sender.hpp"
#include "resent_and_new.hpp"

namespace weft::tb {

/// Clocks from the last beat of a read to the event that it leads to: on the way, behind at most 15 packets,
/// in the sender.
inline constexpr uint64_t fault_clocks = 24;

class ExpectedReads {
 public:
  ExpectedReads(const rdma::Sender& golden, ExpectedPackets& packets, uint32_t data_bytes)
      : golden_(golden), packets_(packets), data_bytes_(data_bytes) {}

  /// A packet was decided on.
  /// @param number of it among the packets expected
  void expect(const rdma::DataOrder& order, uint64_t number);

  /// Once a cycle, after what retires in it.
  /// @return what is wrong: a read failed some time ago, and its transfer goes on
  std::optional<std::string> sample(const AxiPins& axi, uint64_t cycle);

  /// A fault of the transfer that this context has retires.
  /// @return whether there was a read that led to it
  bool take_fault(uint16_t sid);

  void reset();

 private:
  struct Order {
    uint16_t sid;
    uint32_t msgid;
    uint64_t address;
    uint32_t beats;
    uint64_t number;
  };
  struct Read {
    std::vector<Order> candidates;  // none: not of a packet
    bool failed = false;
  };
  struct Failure {
    std::vector<Order> candidates;  // of transfers that were not over
    uint64_t cycle;
    bool demands;  // else the sender may not have been told, as another fault was waiting
  };

  std::vector<Order> explain(const AxiAddress& request);
  void fail(const Read& read, uint64_t cycle);
  bool is_going(const Order& order) const;
  std::optional<std::string> overdue(uint64_t cycle);

  const rdma::Sender& golden_;
  ExpectedPackets& packets_;
  uint32_t data_bytes_;
  ResentAndNew<Order> orders_;
  std::deque<Read> reads_;        // memory owes answers
  std::deque<Failure> failures_;  // no fault yet, and no longer ago than fault_clocks
};

}  // namespace weft::tb
