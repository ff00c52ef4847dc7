// SPDX-License-Identifier: Apache-2.0
// What a receiver of scheme receiver_counter decides by its own rules (docs/rdma_baseline.md, Receiver
// counter).
#include "rdma/receiver.hpp"

namespace weft::rdma {

using formats::Outcome;
using formats::Ptype;

/// DATA of a transfer under way that fits and lies in its region.
RxResult Receiver::count_packet(const Packet& packet, uint64_t address, const RxInputs& inputs) {
  const formats::Header& header = packet.header;
  RxContext& c = contexts_[header.cid];
  const auto behind = static_cast<uint8_t>(c.count.attempt - attempt_of(header));
  if (c.state == RxContext::State::done || (behind != 0 && behind < 128)) {
    return with_context(Outcome::drop_duplicate, header.cid);
  }
  if (behind != 0) return with_context(Outcome::drop_early, header.cid);  // nobody has asked for it
  c.silent = 0;
  c.timer.restart(inputs.now);
  c.count = take(c.count, header);
  RxResult result = with_context(Outcome::advance, header.cid);
  if (is_complete(c.count, c.cut.last + 1)) {
    c.state = RxContext::State::done;
    result.outcome = Outcome::finish;
    emit_control(result, inputs.room, to_sender(Ptype::done, header.cid));
  } else if (c.count.packets > c.cut.last) {  // a double in place of one that is missing
    ask_all(result, c, inputs);
  }
  result.write = HostWrite{address, packet.payload};
  return result;
}

/// RESEND for the whole transfer.
void Receiver::ask_all(RxResult& result, RxContext& c, const RxInputs& inputs) const {
  c.count = next_attempt(c.count);
  result = with_context(Outcome::ask_from, result.cid);
  Packet resend = to_sender(Ptype::resend, result.cid);
  resend.header.flags = formats::flag_from;
  resend.header.arg = asking(c.count);
  emit_control(result, inputs.room, resend);
}

}  // namespace weft::rdma
