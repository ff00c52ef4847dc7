// SPDX-License-Identifier: Apache-2.0
// What one engine has done since its last reset, counted at its pins.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "rdma/packet.hpp"
#include "rdma_pins.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

inline constexpr uint32_t outcome_codes = 96;

struct NodeCounts {
  std::array<uint64_t, outcome_codes> outcomes{};  ///< events of receiver and sender
  uint64_t events = 0;                             ///< likewise, all
  uint64_t packets = 0;                            ///< that left
  uint64_t data_packets = 0;
  uint64_t resent_packets = 0;  ///< DATA with RETRY
  uint64_t written_bytes = 0;   ///< that memory has answered for

  /// Once a cycle.
  void sample(const RdmaPins& pins) {
    if (pins.rx.valid) count(pins.rx.outcome);
    if (pins.tx.valid) count(pins.tx.outcome);
  }

  /// A packet comes from the network.
  void came(std::span<const uint8_t> packet) {
    if (packet.size() < rdma::flit_bytes) return;
    const auto header = rdma::formats::unpack(packet.first<rdma::flit_bytes>());
    if (header.ptype != static_cast<uint8_t>(rdma::formats::Ptype::data) ||
        header.flags & rdma::formats::flag_retry) {
      return;
    }
    const uint64_t transfer = uint64_t{header.msgid} << 32 | uint64_t{header.src} << 16 | header.sid;
    const auto [last, first] = last_pidx_.try_emplace(transfer, header.pidx);
    const uint32_t gap = std::max(last->second, header.pidx) - std::min(last->second, header.pidx);
    if (!first) largest_gap_ = std::max<uint64_t>(largest_gap_, gap);
    last->second = header.pidx;
  }

  /// Of PIDX, between DATA of a transfer without RETRY that come one after the other: 1 if they come in
  /// order.
  uint64_t largest_gap() const { return largest_gap_; }

  /// A packet leaves.
  void left(std::span<const uint8_t> packet) {
    packets++;
    if (packet.size() < rdma::flit_bytes) return;
    const auto header = rdma::formats::unpack(packet.first<rdma::flit_bytes>());
    if (header.ptype != static_cast<uint8_t>(rdma::formats::Ptype::data)) return;
    data_packets++;
    if (header.flags & rdma::formats::flag_retry) resent_packets++;
  }

 private:
  void count(uint8_t outcome) {
    events++;
    if (outcome < outcome_codes) outcomes[outcome]++;
  }

  std::unordered_map<uint64_t, uint32_t> last_pidx_;  // by transfer
  uint64_t largest_gap_ = 0;
};

}  // namespace weft::tb
