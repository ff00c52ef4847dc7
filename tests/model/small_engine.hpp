// SPDX-License-Identifier: Apache-2.0
// A small engine for tests, and short ways to make its packets.
#pragma once

#include <cstdint>
#include <vector>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"

namespace weft::rdma::test {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Refusal;
using formats::Status;

inline constexpr uint16_t receiver_node = 7;
inline constexpr uint16_t sender_node = 3;

inline Params small_params() {
  Params params;
  params.n_rx_ctx = 4;
  params.n_tx_ctx = 4;
  params.window = 8;
  params.payload = 32;
  params.pidx_bits = 8;
  params.msgid_bits = 4;
  params.node_bits = 8;
  params.addr_bits = 20;
  params.sid_bits = 4;
  return params;
}

inline Config small_config(uint16_t node_id) {
  Config config;
  config.node_id = node_id;
  config.regions = {{0x1000, 0x9000, 0, true}};
  config.rx_timeout = 10;
  config.tx_retry = 10;
  config.tx_dead = 100;
  config.ask_from_after = 2;
  config.max_silent = 4;
  config.max_retry = 2;
  config.backoff = 0;        // likewise
  config.weft_mode = false;  // tests of the other mode say so
  return config;
}

/// From the sender's node to the receiver's.
inline Header to_receiver(Ptype type, uint16_t sid, uint32_t msgid) {
  Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.dst = receiver_node;
  header.src = sender_node;
  header.sid = sid;
  header.msgid = msgid;
  return header;
}

/// From the receiver's node to the sender's.
inline Header to_sender(Ptype type, uint16_t sid, uint32_t msgid) {
  Header header = to_receiver(type, sid, msgid);
  header.dst = sender_node;
  header.src = receiver_node;
  return header;
}

inline std::vector<uint8_t> pattern(std::size_t bytes, uint32_t salt) {
  std::vector<uint8_t> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<uint8_t>((i + salt) * 37 + (salt >> 3));
  return result;
}

}  // namespace weft::rdma::test
