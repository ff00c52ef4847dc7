// SPDX-License-Identifier: Apache-2.0
// Retired events of the RDMA engine, its inbox and its host queues as trace records; RTL monitor and golden
// model both go through here (docs/trace.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rdma/inbox.hpp"
#include "rdma/queues.hpp"
#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"
#include "trace/record.hpp"

namespace weft::rdma {

/// Bytes of host memory, without their contents.
struct HostRange {
  uint64_t addr = 0;
  uint32_t bytes = 0;
};

/// One receiver event in plain values. Nothing in `header`: none was there (timeouts) or none could be
/// trusted.
struct RxEventView {
  std::string_view event = "packet";  // packet, timeout
  std::optional<formats::Header> header;
  RxInputs inputs;
  bool from_inbox = false;  // a RQT that the inbox has said something about
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t cid = 0;
  uint32_t wbase = 0;
  WindowBits wvec;                         // words beyond the window, or missing ones, count as zero
  std::optional<formats::Header> emitted;  // its crc is not shown
  std::optional<HostRange> write;
  uint16_t limit = 0;  // timeout in use when it retires, ticks
};

/// One sender event in plain values; `post` for events of that kind.
struct TxEventView {
  std::string_view event = "packet";  // packet, timeout, post, turn, fault
  std::optional<formats::Header> header;
  std::optional<Post> post;
  std::string_view origin = "registers";  // of the post: registers, queues, answers
  TxInputs inputs;
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t sid = 0;
  uint32_t next = 0;
  std::optional<formats::Header> emitted;
  std::optional<DataOrder> data;
  std::optional<Completion> completion;
  uint16_t limit = 0;  // as of RxEventView
};

/// One event of the inbox in plain values.
struct InboxEventView {
  std::string_view event = "post";  // post, RQT, RSP, timeout, leave, cancel, decision
  std::optional<formats::Header> header;
  std::optional<TicketPost> post;
  std::optional<Admission> admission;  // RQT
  std::optional<Ticket::State> finds;  // RQT: state of the ticket that it names, or that has its message
  std::optional<formats::Outcome> decision;  // of the receiver, about the request of this ticket
  InboxInputs inputs;
  InboxResult result;                   // its ticket counts only if there is one below
  std::optional<Ticket> before, after;  // of the ticket touched
  bool open = false;                    // the queue of that ticket, or of the post
};

RxEventView view(std::string_view event, std::optional<formats::Header> header, const RxInputs& inputs,
                 const RxResult& result);
TxEventView view(std::string_view event, std::optional<formats::Header> header, std::optional<Post> post,
                 const TxInputs& inputs, const TxResult& result);

trace::Record rx_record(uint64_t cycle, const RxEventView& view);
trace::Record tx_record(uint64_t cycle, const TxEventView& view);
trace::Record inbox_record(uint64_t cycle, const InboxEventView& view);

}  // namespace weft::rdma

namespace weft::rdma_queues {

/// Name of the status of a completion: the engine's, or one of the queues' own.
std::string status_name(uint8_t status);

/// One event of the host queues.
/// @param details keys of this kind of event
/// @param after the queue that it is about, as it is then; null for none
trace::Record queue_record(uint64_t cycle, std::string_view event, const trace::Fields& details,
                           uint32_t number, const Queue* after);

// Details of each kind of event.
trace::Fields order_fields(uint16_t index, uint32_t count);
/// @param status with which it ends here, if it is rejected
trace::Fields entry_fields(formats::Verdict verdict, const formats::Submission& entry, uint8_t status);
trace::Fields request_fields(const Request& request, uint8_t status);
trace::Fields slot_fields(const Outcome& outcome, bool discarded);
trace::Fields retired_fields(bool discarded, bool urgent, bool failed);
trace::Fields fire_fields(formats::IrqKind kind, std::string_view cause);
trace::Fields told_fields(bool open, uint16_t key);
trace::Fields message_fields(bool ok);
/// @param was state before, of the queue that the write acts on
trace::Fields write_fields(uint32_t offset, uint32_t data, bool ok, std::optional<formats::QueueState> was);

}  // namespace weft::rdma_queues
