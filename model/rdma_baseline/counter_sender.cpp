// SPDX-License-Identifier: Apache-2.0
// What a sender to receivers of scheme receiver_counter decides by its own rules (docs/rdma_baseline.md,
// Receiver counter).
#include "rdma/sender.hpp"
#include "rdma_baseline/count.hpp"

namespace weft::rdma {

using formats::Header;
using formats::Outcome;

/// RESEND: from the start once more, if that has not begun yet.
TxResult Sender::resend_all(const Header& header, const TxInputs& inputs) {
  if (names_requested(header) && asks_of_none_come(header)) {
    contexts_[header.sid].attempt = asked_attempt(header);
    return adopt_early(header, 0, inputs);
  }
  if (!names_active(header)) return stale(header, inputs);
  TxContext& c = contexts_[header.sid];
  heard(c);
  const auto ahead = static_cast<uint8_t>(asked_attempt(header) - c.attempt);
  if (ahead == 0 || ahead >= 128) return with_context(Outcome::drop_not_yet, header.sid);
  c.attempt = asked_attempt(header);
  c.next = 0;
  c.sum = 0;
  c.turn = true;
  return with_context(Outcome::resend_from, header.sid);
}

/// Of the packet that has the next turn.
void Sender::count_sent(TxContext& c, DataOrder& order) {
  c.sum += mix(order.header.pidx);
  set_attempt(order.header, c.attempt, c.sum);
}

}  // namespace weft::rdma
