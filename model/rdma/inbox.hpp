// SPDX-License-Identifier: Apache-2.0
// Golden model of the inbox: tickets of RECV and READ requests, one call an event (docs/rdma_transfers.md,
// Inbox).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"
#include "rdma/receiver.hpp"
#include "rdma/region.hpp"
#include "rdma/timer.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

enum class TicketKind { recv, read };

/// RECV: `bytes` of local memory wait for a message; none: for a write with immediate only. READ: `bytes`
/// from `remote_addr` of `node` are wanted there.
struct TicketPost {
  TicketKind kind = TicketKind::recv;
  uint8_t queue = 0;
  uint16_t tag = 0;
  uint64_t address = 0;  // local
  uint32_t bytes = 0;
  RegionKey rkey = {};  // of the local region

  uint32_t node = 0;  // READ only, like the next
  uint64_t remote_addr = 0;
  RegionKey remote_rkey = {};

  bool operator==(const TicketPost&) const = default;
};

/// How a message comes: into a buffer that the ticket has, or as a write with immediate.
enum class Form { buffer, immediate };

/// The end of a RECV or READ. `node` is the source, 0 if no message was met. From `form` on: of what has come
/// only.
struct TicketCompletion {
  uint8_t queue = 0;
  uint16_t tag = 0;
  TicketKind kind = TicketKind::recv;
  formats::Status status = formats::Status::ok;
  uint16_t node = 0;
  Form form = Form::buffer;
  uint32_t bytes = 0;
  std::optional<uint32_t> imm = {};

  bool operator==(const TicketCompletion&) const = default;
};

/// What the surroundings say at the moment of the event.
struct InboxInputs {
  bool room = true;               // the control queue can take a packet
  std::optional<uint16_t> offer;  // a free ticket, looked at by posts only
  uint16_t now = 0;               // ticks modulo 2^16
};

/// What became of an event. `ticket` is the one touched; for a RSP dropped the one named, 0 for posts
/// rejected. `emitted` has no crc yet.
struct InboxResult {
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t ticket = 0;
  std::optional<Packet> emitted;
  std::optional<TicketCompletion> completion;
  bool ctl_dropped = false;  // a control packet was not sent for want of room

  bool operator==(const InboxResult&) const = default;
};

struct Ticket {
  enum class State { free, waiting, taken, bound, ending, returning };

  /// From TAKEN on.
  struct Message {
    Form form = Form::buffer;
    uint16_t src = 0;
    uint16_t sid = 0;
    uint32_t msgid = 0;
    uint32_t bytes = 0;
    uint16_t cid = 0;  // from BOUND on
    std::optional<uint32_t> imm = {};
    bool failed = false;      // memory answered a write with an error
    bool unreadable = false;  // the peer could not read what it was to answer with

    bool operator==(const Message&) const = default;
  };

  State state = State::free;
  TicketPost post;
  Message message;

  // READ
  uint32_t number = 0;
  uint8_t retries = 0;
  uint8_t busy = 0;
  Timer timer;

  bool operator==(const Ticket&) const = default;
};

class Inbox {
 public:
  Inbox(Params params, Config config);

  /// RECV or READ. Throws Violation for a queue that does not exist, or a ticket offered that is in use.
  InboxResult post(const TicketPost& post, const InboxInputs& inputs);

  /// A RQT before the receiver decides it; takes a ticket if its admission says `buffer` or `with_ticket`,
  /// for which `decided` must follow.
  Admission admit(const formats::Header& request);

  /// What the receiver decided about the request of a ticket taken; a completion if that ends it.
  std::optional<TicketCompletion> decided(uint16_t ticket, const RxResult& result, uint16_t now);

  /// Every other event of the receiver, with the packet that it was, if any.
  void retired(const RxResult& result, const formats::Header* header);

  /// Memory has answered a write of this context with an error.
  void write_failed(uint16_t cid);

  /// Tickets that wait until memory has answered all that was decided before they got there.
  std::size_t leaving() const { return leaving_.size(); }

  /// Memory has answered all writes decided before the first of them got there. Throws Violation if there is
  /// none.
  InboxResult leave(uint16_t now);

  /// RSP with flag READ that passed the arrival checks. Throws Violation for other packets.
  InboxResult packet(const formats::Header& header, uint16_t now);

  /// Throws Violation for a ticket that is not a waiting READ whose timer is due.
  InboxResult timeout(uint16_t ticket, const InboxInputs& inputs);

  /// Throws Violation for a ticket that does not wait in a closed queue.
  InboxResult cancel(uint16_t ticket);

  /// Whether there is a timeout to decide, or a ticket to cancel.
  bool due(uint16_t ticket, uint16_t now) const;
  bool cancelled(uint16_t ticket) const;

  /// Throws Violation for a queue that has tickets.
  void open(uint8_t queue, uint16_t key);
  void close(uint8_t queue);
  bool is_open(uint8_t queue) const { return queues_.at(queue).open; }

  const Ticket& ticket(uint16_t number) const;
  const std::deque<uint16_t>& list(uint8_t queue) const { return queues_.at(queue).list; }
  uint32_t free_tickets() const;
  uint32_t held_by(uint8_t queue) const;

  /// Registers change, tickets stay.
  void configure(Config config);

  /// The next READ gets this number, cut to the width of a MSGID.
  void number_from(uint32_t number);

  /// As after reset: all tickets free, all queues closed, the next number is 0.
  void reset();

 private:
  struct Queue {
    bool open = false;
    uint16_t key = 0;
    std::deque<uint16_t> list;  // waiting RECV tickets
  };

  struct Rejection {
    formats::Outcome outcome;
    formats::Status status;
  };

  std::optional<Rejection> rejection(const TicketPost& post, const InboxInputs& inputs) const;
  bool buffer_is_open(const TicketPost& post) const;

  const Ticket* asked_before(const formats::Header& request, Form form) const;
  Admission admit_answer(const formats::Header& request);
  Admission admit_message(const formats::Header& request, Form form);
  std::optional<uint8_t> queue_of(const formats::Header& request, Form form) const;
  Admission take(uint16_t number, const formats::Header& request, Form form);

  void wait_again(uint16_t number);
  std::optional<TicketCompletion> back_off(uint16_t number, uint16_t now);
  TicketCompletion end(uint16_t number, formats::Status status);
  void ask(InboxResult& result, const InboxInputs& inputs) const;
  InboxResult outcome_of(formats::Outcome outcome, uint16_t number) const;
  uint16_t number_of(const Ticket& ticket) const { return static_cast<uint16_t>(&ticket - tickets_.data()); }
  Ticket* bound_to(uint16_t cid);

  Params params_;
  Config config_;
  std::vector<Ticket> tickets_;
  std::vector<Queue> queues_;
  std::deque<uint16_t> leaving_;
  uint32_t next_number_ = 0;
};

}  // namespace weft::rdma
