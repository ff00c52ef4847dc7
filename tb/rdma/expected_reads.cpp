// SPDX-License-Identifier: Apache-2.0
// Reads of payload, and what follows if memory answers one with an error.
#include "expected_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weft::tb {

void ExpectedReads::expect(const rdma::DataOrder& order, uint64_t number) {
  const uint32_t beats = (order.header.len + data_bytes_ - 1) / data_bytes_;
  orders_.push(order.resend, {order.header.sid, order.header.msgid, order.src_addr, beats, number});
}

/// The packets that this read may be of.
std::vector<ExpectedReads::Order> ExpectedReads::explain(const AxiAddress& request) {
  std::vector<Order> candidates;
  orders_.see([&](const std::deque<Order>& queue, size_t at) -> std::vector<size_t> {
    if (at >= queue.size() || queue[at].address != request.addr || queue[at].beats != request.len + 1u)
      return {};
    const auto same = [&](const Order& order) { return order.number == queue[at].number; };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(queue[at]);
    return {at + 1};
  });
  return candidates;
}

bool ExpectedReads::is_going(const Order& order) const {
  const rdma::TxContext& context = golden_.context(order.sid);
  return context.state == rdma::TxContext::State::active && context.msgid == order.msgid;
}

/// The sender is not told of a transfer that is over, nor while it has yet to take what failed before.
void ExpectedReads::fail(const Read& read, uint64_t cycle) {
  const bool certain = read.candidates.size() == 1;
  for (const Order& order : read.candidates) packets_.could_not_be_read(order.number, certain);
  std::vector<Order> going;
  std::ranges::copy_if(read.candidates, std::back_inserter(going),
                       [this](const Order& order) { return is_going(order); });
  if (!going.empty()) failures_.push_back({std::move(going), cycle, certain && failures_.empty()});
}

std::optional<std::string> ExpectedReads::overdue(uint64_t cycle) {
  while (!failures_.empty() && failures_.front().cycle + fault_clocks < cycle) {
    const Failure oldest = std::move(failures_.front());
    failures_.pop_front();
    if (oldest.demands && is_going(oldest.candidates.front())) {
      return fmt::format(
          "a packet of send context {} could not be read in cycle {}, and its transfer goes on",
          oldest.candidates.front().sid, oldest.cycle);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ExpectedReads::sample(const AxiPins& axi, uint64_t cycle) {
  if (axi.arvalid && axi.arready) reads_.push_back({explain(axi.ar)});
  if (axi.rvalid && axi.rready && !reads_.empty()) {
    reads_.front().failed |= axi.rresp >= resp_slverr;
    if (axi.rlast) {
      if (reads_.front().failed) fail(reads_.front(), cycle);
      reads_.pop_front();
    }
  }
  return overdue(cycle);
}

bool ExpectedReads::take_fault(uint16_t sid) {
  const uint32_t msgid = golden_.context(sid).msgid;
  const auto failure = std::ranges::find_if(failures_, [&](const Failure& each) {
    return std::ranges::any_of(each.candidates,
                               [&](const Order& order) { return order.sid == sid && order.msgid == msgid; });
  });
  if (failure == failures_.end()) return false;
  failures_.erase(failure);
  return true;
}

void ExpectedReads::reset() {
  orders_.clear();
  reads_.clear();
  failures_.clear();
}

}  // namespace weft::tb
