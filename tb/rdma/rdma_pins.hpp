// SPDX-License-Identifier: Apache-2.0
// All signals of one RDMA engine as plain values (docs/rdma.md, Interfaces).
#pragma once

#include <array>
#include <cstdint>

#include "common/pins.hpp"

namespace weft::tb {

inline constexpr uint32_t max_window_words = 8;  ///< widest window: 512 packets

struct RxTracePins {
  bool valid = false, timeout = false, room = false, offer_valid = false, over_quota = false;
  uint8_t outcome = 0;
  uint16_t offer_cid = 0, cid = 0, now = 0;
  uint16_t limit = 0;  ///< timeout in use, ticks
  uint32_t wbase = 0;
  std::array<uint64_t, max_window_words> wvec{};  ///< bit 0 of word 0 is WVEC bit 1
};

enum class TxKind : uint8_t { packet = 0, timeout = 1, post = 2, turn = 3 };

struct TxTracePins {
  bool valid = false, room = false, resend_room = false, offer_valid = false;
  TxKind kind = TxKind::packet;
  uint8_t outcome = 0;
  uint16_t offer_sid = 0, sid = 0, now = 0;
  uint16_t limit = 0;  ///< timeout in use, ticks
  uint32_t next = 0;
};

struct RdmaPins {
  bool rst_n = false;
  bool irq = false;
  AxisPins in;   ///< packets from the network
  AxisPins out;  ///< packets to the network
  AxiLitePins axil;
  AxiPins axi;
  RxTracePins rx;
  TxTracePins tx;
};

}  // namespace weft::tb
