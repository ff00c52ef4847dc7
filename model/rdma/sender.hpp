// SPDX-License-Identifier: Apache-2.0
// Golden model of the sending half of the RDMA engine: one call an event (docs/rdma.md, Sender).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"
#include "rdma/timer.hpp"
#include "rdma/transfer.hpp"
#include "rdma_baseline/send_buffer.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// A transfer wanted by the host: `bytes` from local `src_addr` to `dst_addr` of `node`.
struct Post {
  uint64_t src_addr = 0;
  uint64_t dst_addr = 0;
  uint32_t bytes = 0;
  uint32_t node = 0;
  uint16_t tag = 0;
  uint32_t rkey = 0;  // number and key of the region there, or of the queue; number of the ticket

  // docs/rdma_transfers.md. To a queue: a SEND, dst_addr is zero. To a ticket: an answer to its READ, whose
  // number is dst_addr; it ends without a completion.
  enum class To { region, queue, ticket };
  To to = To::region;
  std::optional<uint32_t> imm = {};

  bool operator==(const Post&) const = default;
};

struct Completion {
  uint16_t tag = 0;
  formats::Status status = formats::Status::ok;

  bool operator==(const Completion&) const = default;
};

/// A DATA packet to be made from `header.len` bytes of host memory at `src_addr`; the header is complete but
/// for crc.
struct DataOrder {
  formats::Header header;
  uint64_t src_addr = 0;
  bool resend = false;  // for the resend queue, otherwise for the send queue
  bool copy = false;    // its payload is that of the packet sent before, whatever memory has now

  bool operator==(const DataOrder&) const = default;
};

/// What the surroundings say at the moment of the event.
struct TxInputs {
  bool room = true;               // the control queue can take a packet
  bool resend_room = true;        // the resend queue can take one
  std::optional<uint16_t> offer;  // a free SID, looked at by posts only
  uint16_t now = 0;               // ticks modulo 2^16
};

/// What became of an event. `sid` is the context touched; for what is stale the one named in the packet, 0
/// for posts that are rejected. `next` is that of the context after the event (a context just freed keeps
/// it), 0 if the event found no context in use. `emitted` has no crc yet.
struct TxResult {
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t sid = 0;
  uint32_t next = 0;
  std::optional<Packet> emitted;
  std::optional<DataOrder> data;
  std::optional<Completion> completion;
  bool ctl_dropped = false;  // a control packet was not sent for want of room

  bool operator==(const TxResult&) const = default;
};

struct TxContext {
  enum class State { free, requested, active };

  State state = State::free;
  uint16_t dst = 0;
  uint16_t cid = 0;
  uint8_t gen = 0;
  uint32_t msgid = 0;
  uint16_t tag = 0;
  uint64_t src_addr = 0;
  uint64_t dst_addr = 0;
  uint32_t rkey = 0;
  Post::To to = Post::To::region;
  std::optional<uint32_t> imm = {};
  Cut cut;
  uint32_t next = 0;    // next PIDX to send
  uint32_t high = 0;    // first PIDX never sent
  uint8_t span = 0;     // log2 of the window to keep within, 0: none
  bool second = false;  // twice that window
  bool hole = false;    // something is missing there, and WBASE has not moved since that was told
  uint32_t acked = 0;   // WBASE as the receiver told it last
  uint64_t asked = 0;   // bit i: packet acked + i is to be sent again
  uint8_t retries = 0;  // timeouts in a row: requested and not answered, active and its turn has not come
  uint8_t busy = 0;     // refusals while requested, then timeouts with repeats only
  bool heard = false;   // repeats (active, without a window) since the last of these
  bool turn = false;
  uint8_t attempt = 0;    // of scheme receiver_counter: at the whole transfer, modulo 256
  uint32_t sum = 0;       // likewise: of mix(PIDX) of what this attempt has sent
  uint32_t answered = 0;  // of scheme sender_window: packets
  bool failed = false;    // likewise: of one of them the answer says so
  Timer timer;

  bool operator==(const TxContext&) const = default;
};

class Sender {
 public:
  Sender(Params params, Config config);

  /// RSP, RESEND, ACK or DONE that passed the arrival checks. Throws Violation for other types.
  TxResult packet(const Packet& packet, const TxInputs& inputs);

  /// Throws Violation for a free context, or one whose timer is not due.
  TxResult timeout(uint16_t sid, const TxInputs& inputs);

  /// Memory has answered a read of this transfer's source with an error. Throws Violation for a context that
  /// is not active, or with another transfer.
  TxResult fault(uint16_t sid, uint32_t msgid, const TxInputs& inputs);

  /// Throws Violation if a context is needed and none, or one in use, is offered.
  TxResult post(const Post& post, const TxInputs& inputs);

  /// A turn in the round robin. Throws Violation for a SID that does not exist; a context with nothing to
  /// send, or a free one (its transfer ended while it waited for its turn), lapses.
  TxResult turn(uint16_t sid, const TxInputs& inputs);

  // Of scheme sender_window: its buffers have timers, and turns to send what they hold once more.
  /// Throws Violation for an empty buffer, or one whose timer is not due. The result's sid is the buffer.
  TxResult buffer_timeout(uint16_t number, const TxInputs& inputs);
  /// The oldest packet that is to be sent again, if there is one. The result's sid is the buffer.
  TxResult buffer_turn(uint16_t number, const TxInputs& inputs);
  uint16_t buffers() const { return static_cast<uint16_t>(buffers_.size()); }
  const SendBuffer& buffer(uint16_t number) const;
  bool buffer_due(uint16_t number, uint16_t now) const;

  const TxContext& context(uint16_t sid) const;
  uint32_t free_contexts() const { return free_; }

  /// Contexts of answers to READs.
  uint32_t answers() const;

  /// Whether the timer of this context has ended.
  bool due(uint16_t sid, uint16_t now) const;

  /// Ticks past due of the most overdue timer, 0 if none is.
  uint32_t longest_overdue(uint16_t now) const;

  /// Registers change, contexts stay.
  void configure(Config config);

  /// The next request gets this number, cut to its width.
  void number_from(uint32_t msgid);

  /// As after reset: all contexts free, the next MSGID is 0.
  void reset();

 private:
  TxResult response(const formats::Header& header, const TxInputs& inputs);
  TxResult answer_to_request(const formats::Header& header, const TxInputs& inputs);
  TxResult adopt(const formats::Header& header, uint64_t span, const TxInputs& inputs);
  std::optional<formats::Status> unavailable(const formats::Header& header, const TxContext& context) const;
  TxResult adopt_early(const formats::Header& header, uint64_t span, const TxInputs& inputs);
  TxResult resend(const formats::Header& header, const TxInputs& inputs);
  TxResult ack(const formats::Header& header, const TxInputs& inputs);
  TxResult done(const formats::Header& header, const TxInputs& inputs);
  TxResult stale(const formats::Header& header, const TxInputs& inputs) const;
  TxResult submit(const Post& post, const Cut& cut, const TxInputs& inputs);
  static void progress(TxContext& context, const TxInputs& inputs);
  static void heard(TxContext& context);

  // Of scheme receiver_counter.
  bool counts() const { return params_.scheme == Scheme::receiver_counter; }
  TxResult resend_all(const formats::Header& header, const TxInputs& inputs);
  static void count_sent(TxContext& context, DataOrder& order);

  // Of scheme sender_window.
  bool keeps_window() const { return params_.scheme == Scheme::sender_window; }
  uint16_t buffer_of(uint16_t node) const;
  bool window_full(const TxContext& context) const;
  void take_slot(const TxContext& context, DataOrder& order, const TxInputs& inputs);
  void close_slot(SendBuffer& buffer, uint32_t slot, const TxInputs& inputs);
  TxResult still_there(const formats::Header& header, const TxInputs& inputs);
  TxResult answered(const formats::Header& header, const TxInputs& inputs);
  void emit_release(TxResult& result, const formats::Header& answered, const TxInputs& inputs,
                    uint8_t flags = 0) const;

  bool names_active(const formats::Header& header) const;
  static uint64_t window_end(const TxContext& context);
  static bool may_send_next(const TxContext& context);
  static bool sends_in_first_window(TxContext context);
  static uint64_t behind_window(const TxContext& context, uint64_t wbase);
  static void open_second_window(TxContext& context, uint32_t asked_for);
  static void moved_on(TxContext& context, bool waited);
  static void take_map(TxContext& context, uint32_t wbase, uint64_t map);
  static void count_as_not_sent(TxContext& context, bool all);
  bool names_requested(const formats::Header& header) const;
  uint16_t timeout_of(const TxContext& context) const;
  TxResult with_context(formats::Outcome outcome, uint16_t sid) const;
  Packet request_packet(uint16_t sid) const;
  Packet release_packet(const formats::Header& answered) const;
  Packet release_packet(uint16_t sid) const;
  DataOrder data_order(uint16_t sid, uint32_t pidx, bool retry) const;
  void complete(TxResult& result, TxContext& context, formats::Status status);

  Params params_;
  Config config_;
  std::vector<TxContext> contexts_;
  std::vector<SendBuffer> buffers_;  // of scheme sender_window
  uint32_t free_ = 0;
  uint32_t next_msgid_ = 0;
};

}  // namespace weft::rdma
