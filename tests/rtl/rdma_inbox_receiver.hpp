// SPDX-License-Identifier: Apache-2.0
// Stands in for receiver and memory at the ports of rdma_inbox: grants or refuses requests at random, ends
// and frees contexts, and answers writes late, some with errors.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "rdma_inbox_ports.hpp"

namespace weft::rtl_test {

template <typename Random>
class InboxReceiver {
 public:
  using Outcome = rdma::formats::Outcome;
  using Kind = rdma::Admission::Kind;

  static constexpr uint16_t contexts = 6;  // few, so that a CID is granted again soon
  uint16_t spread = 1;                     // from one CID to the next

  /// Percent, each of a clock unless it says otherwise.
  struct Paces {
    unsigned decide = 50;
    unsigned grant = 80;  // of requests that could be granted
    unsigned write = 30;
    unsigned end = 10;  // FINISH, or DATA that was the last but is late
    unsigned lose = 2;  // RELEASED, RELEASED_FAILED or RECLAIM of a context that is not finished
    unsigned answer = 50;
    unsigned error = 5;  // of writes answered
    unsigned busy = 5;   // of requests, dropped for want of room
    unsigned delay = 0;  // clocks from a request to its decision at the least
  };

  static constexpr std::size_t room = 4;  // requests under way

  explicit InboxReceiver(Random& random) : random_(random) {}

  Paces paces;

  void reset() {
    requests_.clear();
    in_use_.clear();
    under_way_.clear();
    decided_ = answered_ = 0xffff;  // wraps at the first write
  }

  bool can_take() const { return requests_.size() < room; }
  void take(const Admitted& request) { requests_.emplace_back(clock_, request); }
  bool all_decided() const { return requests_.empty(); }
  uint16_t answered() const { return answered_; }
  bool write_waits(uint16_t writes) const { return static_cast<int16_t>(answered_ - writes) < 0; }

  /// What retires in this clock.
  std::optional<Retired> event() {
    ++clock_;
    const bool due = !requests_.empty() && clock_ - requests_.front().first > paces.delay;
    if (due && random_.chance(paces.decide)) return decision();
    if (random_.chance(paces.lose)) return free_context(true);
    if (random_.chance(paces.end)) return finish();
    if (random_.chance(paces.end)) return free_context(false);
    if (random_.chance(paces.write)) return write();
    return std::nullopt;
  }

  /// The context whose write memory answers in this clock, and whether with an error.
  std::optional<std::pair<uint16_t, bool>> answer() {
    if (under_way_.empty() || !random_.chance(paces.answer)) return std::nullopt;
    const uint16_t cid = under_way_.front();
    under_way_.pop_front();
    ++answered_;
    return std::pair{cid, random_.chance(paces.error)};
  }

 private:
  struct Context {
    bool finished = false;
  };

  Retired retired(Outcome outcome, uint16_t cid) const { return {outcome, false, cid, {}, decided_}; }
  uint16_t cid(uint64_t number) const { return static_cast<uint16_t>(number % contexts * spread); }
  uint16_t any_cid() { return cid(random_.below(contexts)); }

  std::optional<uint16_t> free_cid() {
    const uint64_t first = random_.below(contexts);
    for (uint16_t n = 0; n < contexts; ++n) {
      if (const uint16_t next = cid(first + n); !in_use_.contains(next)) return next;
    }
    return std::nullopt;
  }

  std::optional<uint16_t> used_cid(bool finished) {
    std::vector<uint16_t> found;
    for (const auto& [cid, context] : in_use_) {
      if (context.finished == finished) found.push_back(cid);
    }
    if (found.empty()) return std::nullopt;
    return found[random_.below(found.size())];
  }

  Retired decision() {
    const Admitted request = requests_.front().second;
    requests_.pop_front();
    Retired result = retired(Outcome::drop_busy, any_cid());
    result.decides = true;
    if (random_.chance(paces.busy)) return result;
    if (request.kind == Kind::refuse) {
      result.outcome = request.refusal;
    } else if (request.kind == Kind::drop) {
      result.outcome = Outcome::drop_asked;
    } else if (request.kind == Kind::again) {
      result.outcome = random_.chance(80) ? Outcome::grant_again : Outcome::drop_asked;
      result.cid = request.header.cid;
    } else {
      grant_or_refuse(request, result);
    }
    return result;
  }

  void grant_or_refuse(const Admitted& request, Retired& result) {
    const auto cid = free_cid();
    if (cid && random_.chance(request.kind == Kind::none ? paces.grant / 4 : paces.grant)) {
      result.outcome = Outcome::grant;
      result.cid = *cid;
      in_use_[*cid] = {};
      return;
    }
    const Outcome of_kind = request.kind == Kind::buffer ? Outcome::refuse_buffer : Outcome::refuse_key;
    const std::array choices{of_kind, Outcome::refuse_quota, Outcome::refuse_no_context};
    result.outcome = choices[random_.below(choices.size())];
  }

  std::optional<Retired> write() {
    const auto cid = used_cid(false);
    if (!cid || under_way_.size() >= 200) return retired(Outcome::drop_unknown_cid, any_cid());
    return written(*cid, random_.chance(50) ? Outcome::accept : Outcome::advance);
  }

  std::optional<Retired> finish() {
    const auto cid = used_cid(false);
    if (!cid) return std::nullopt;
    in_use_[*cid].finished = true;
    return written(*cid, Outcome::finish);
  }

  Retired written(uint16_t cid, Outcome outcome) {
    under_way_.push_back(cid);
    ++decided_;
    Retired result = retired(outcome, cid);
    if (random_.chance(50)) result.imm = static_cast<uint32_t>(random_.below(uint64_t{1} << 32));
    return result;
  }

  std::optional<Retired> free_context(bool lost) {
    const auto cid = used_cid(!lost);
    if (!cid) return std::nullopt;
    in_use_.erase(*cid);
    constexpr std::array ways{Outcome::released, Outcome::released_failed, Outcome::reclaim};
    return retired(ways.at(random_.below(ways.size())), *cid);
  }

  Random& random_;
  std::deque<std::pair<uint64_t, Admitted>> requests_;  // in their order, with the clocks in which they came
  uint64_t clock_ = 0;
  std::map<uint16_t, Context> in_use_;
  std::deque<uint16_t> under_way_;       // writes, by context
  uint16_t decided_ = 0, answered_ = 0;  // writes, modulo 2^16
};

}  // namespace weft::rtl_test
