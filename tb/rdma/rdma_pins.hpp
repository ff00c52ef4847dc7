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
  bool from_inbox = false, answer_asked = false, answer_room = true;
  uint8_t outcome = 0;
  uint16_t offer_cid = 0, cid = 0, now = 0;
  uint16_t limit = 0;  ///< timeout in use, ticks
  uint32_t wbase = 0;
  std::array<uint64_t, max_window_words> wvec{};  ///< bit 0 of word 0 is WVEC bit 1
};

enum class TxKind : uint8_t {
  packet = 0,
  timeout = 1,
  post = 2,
  turn = 3,
  fault = 4,
  buffer_timeout = 5,  // of a send buffer, likewise the next
  buffer_turn = 6
};

struct TxTracePins {
  bool valid = false, room = false, resend_room = false, offer_valid = false;
  TxKind kind = TxKind::packet;
  uint8_t outcome = 0;
  uint16_t offer_sid = 0, sid = 0, now = 0;
  uint16_t limit = 0;  ///< timeout in use, ticks
  uint32_t next = 0;
};

enum class PostOrigin : uint8_t { registers = 0, queues = 1, answers = 2 };

/// A post that the sender takes.
struct PostTracePins {
  bool valid = false;
  PostOrigin origin = PostOrigin::registers;
};

/// A RQT with a flag of transfers, or the refusal of a READ, as it leaves the arrival checks
/// (docs/rdma_transfers.md, RTL).
struct RoutedTracePins {
  bool valid = false, to_inbox = false;
};

enum class InboxKind : uint8_t {
  post = 0,
  rqt = 1,
  rsp = 2,
  timeout = 3,
  leave = 4,
  cancel = 5,
  decided = 6
};

/// An event of the inbox.
struct InboxTracePins {
  bool valid = false, room = false, offer_valid = false;
  InboxKind kind = InboxKind::post;
  uint8_t outcome = 0, admit = 0;
  uint16_t ticket = 0, offer = 0, now = 0;
};

/// Trace of the host queues and of their requests (docs/rdma_queues.md); all zero for an engine without.
struct QueueTracePins {
  bool look = false, apply = false, write_ok = false;  ///< a register write
  bool order = false, entry = false, error = false, slot = false, retired = false, fire = false,
       request = false;
  uint8_t order_queue = 0, order_count = 0, entry_queue = 0, entry_verdict = 0, error_queue = 0;
  uint16_t order_index = 0;
  uint8_t slot_queue = 0;
  bool slot_discard = false, slot_signal = false;
  std::array<uint8_t, 32> slot_fields{};
  uint8_t retired_queue = 0;
  bool retired_discarded = false, retired_failed = false, retired_urgent = false;
  uint8_t fire_queue = 0, request_status = 0;
  uint64_t off = 0;  ///< a bit a queue
  bool set = false;  ///< the inbox is told of a queue
  uint8_t set_queue = 0;
  bool set_open = false;
  uint16_t set_key = 0;
};

struct RdmaPins {
  bool rst_n = false;
  bool irq = false;
  bool queue_irq = false;
  AxisPins in;   ///< packets from the network
  AxisPins out;  ///< packets to the network
  AxiLitePins axil;
  AxiPins axi;
  RxTracePins rx;
  TxTracePins tx;
  PostTracePins post;
  RoutedTracePins routed;
  InboxTracePins inbox;
  QueueTracePins queues;
};

}  // namespace weft::tb
