// SPDX-License-Identifier: Apache-2.0
// What a receiver from senders of scheme sender_window decides by its own rules (docs/rdma_baseline.md,
// Sender window).
#include "rdma/receiver.hpp"
#include "rdma_baseline/send_buffer.hpp"

namespace weft::rdma {

using formats::Outcome;
using formats::Ptype;

/// DATA that fits and lies in its region: written, and answered when memory has it.
RxResult Receiver::answer_packet(const Packet& packet, uint64_t address, const RxInputs& inputs) {
  const formats::Header& header = packet.header;
  RxContext& c = contexts_[header.cid];
  c.silent = 0;
  c.timer.restart(inputs.now);
  c.count.came = true;
  RxResult result = with_context(Outcome::accept, header.cid);
  result.write = HostWrite{address, packet.payload};
  Packet answer = to_sender(Ptype::ack, header.cid);
  answer.header.pidx = header.pidx;
  answer.header.arg = slot_of_data(header);
  emit_control(result, inputs.room, answer);
  return result;
}

/// Its sender has use for this context.
RxResult Receiver::keep_waiting(uint16_t cid, const RxInputs& inputs) {
  contexts_[cid].silent = 0;
  contexts_[cid].timer.restart(inputs.now);
  return with_context(Outcome::kept, cid);
}

/// RESEND: is this context still of use?
void Receiver::ask_whether_of_use(RxResult& result, const RxContext& c, const RxInputs& inputs) const {
  result.outcome = Outcome::ask_one;
  Packet question = to_sender(Ptype::resend, result.cid);
  question.header.arg = asking(c.count);
  emit_control(result, inputs.room, question);
}

}  // namespace weft::rdma
