// SPDX-License-Identifier: Apache-2.0
// What a sender of scheme sender_window decides by its own rules (docs/rdma_baseline.md, Sender window).
#include <algorithm>
#include <string>

#include "rdma/request.hpp"
#include "rdma/sender.hpp"
#include "rdma/timeouts.hpp"
#include "rdma_baseline/count.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;
using formats::Status;

const SendBuffer& Sender::buffer(uint16_t number) const {
  if (number >= buffers_.size()) throw Violation("there is no send buffer " + std::to_string(number));
  return buffers_[number];
}

uint16_t Sender::buffer_of(uint16_t node) const {
  return static_cast<uint16_t>(node % params_.n_send_buffers);
}

bool Sender::buffer_due(uint16_t number, uint16_t now) const {
  const SendBuffer& b = buffer(number);
  return !b.empty() && b.timer.due(now, config_.tx_retry);
}

bool Sender::window_full(const TxContext& c) const { return buffers_[buffer_of(c.dst)].full(); }

/// The packet gets a slot of its destination's buffer.
void Sender::take_slot(const TxContext& c, DataOrder& order, const TxInputs& inputs) {
  SendBuffer& b = buffers_[buffer_of(c.dst)];
  if (b.empty()) {
    b.retries = 0;
    b.timer.restart(inputs.now);
  }
  set_slot(order.header, b.next_slot());
  b.add(order.header);
}

/// RESEND: whether the receive context is of use. It is told so: maybe nothing else is on its way.
TxResult Sender::still_there(const Header& header, const TxInputs& inputs) {
  if (names_requested(header) && asks_of_none_come(header)) return adopt_early(header, 0, inputs);
  if (!names_active(header)) return stale(header, inputs);
  TxResult result = with_context(Outcome::drop_not_yet, header.sid);
  emit_release(result, header, inputs, formats::flag_retry);  // not yet
  return result;
}

/// ACK: this packet has arrived, and is in memory there.
TxResult Sender::answered(const Header& header, const TxInputs& inputs) {
  if (!names_active(header)) return stale(header, inputs);
  TxContext& c = contexts_[header.sid];
  SendBuffer& b = buffers_[buffer_of(c.dst)];
  const Header* sent = header.arg < params_.window ? b.waits(static_cast<uint32_t>(header.arg)) : nullptr;
  if (!sent || sent->sid != header.sid || sent->msgid != header.msgid || sent->pidx != header.pidx) {
    return with_context(Outcome::drop_old_ack, header.sid);
  }
  progress(c, inputs);
  c.answered += 1;
  c.failed |= has_flag(header, formats::flag_failed);
  close_slot(b, static_cast<uint32_t>(header.arg), inputs);
  if (c.answered <= c.cut.last) return with_context(Outcome::acked, header.sid);
  TxResult result = with_context(c.failed ? Outcome::complete_error : Outcome::complete, header.sid);
  complete(result, c, c.failed ? Status::remote_error : Status::ok);
  emit_release(result, header, inputs);
  return result;
}

void Sender::close_slot(SendBuffer& b, uint32_t slot, const TxInputs& inputs) {
  if (!b.close(slot)) return;
  b.retries = 0;
  b.timer.restart(inputs.now);
}

TxResult Sender::buffer_timeout(uint16_t number, const TxInputs& inputs) {
  if (!buffer_due(number, inputs.now)) {
    throw Violation("timeout of send buffer " + std::to_string(number) + ", which is empty or not due");
  }
  SendBuffer& b = buffers_[number];
  b.retries = static_cast<uint8_t>(std::min(b.retries + 1, 15));
  b.timer.restart(inputs.now, doublings(config_, b.retries));
  b.begin_again();
  TxResult result;
  result.outcome = Outcome::resend_from;
  result.sid = number;
  return result;
}

TxResult Sender::buffer_turn(uint16_t number, const TxInputs& inputs) {
  SendBuffer& b = buffers_.at(number);
  TxResult result;
  result.outcome = Outcome::lapse;
  result.sid = number;
  const auto slot = b.next_again();
  if (!slot) return result;
  const Header& sent = *b.waits(*slot);
  const TxContext& c = contexts_[sent.sid];
  b.again_done(*slot);
  if (c.state != TxContext::State::active || c.msgid != sent.msgid) {  // over: nobody waits for its answer
    close_slot(b, *slot, inputs);
    return result;
  }
  result.outcome = Outcome::resend_one;
  DataOrder order;
  order.header = sent;
  order.header.flags |= formats::flag_retry;
  order.src_addr = c.src_addr + uint64_t{sent.pidx} * params_.payload;
  order.copy = true;
  result.data = order;
  return result;
}

}  // namespace weft::rdma
