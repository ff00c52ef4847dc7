// SPDX-License-Identifier: Apache-2.0
// Answers to READs of other nodes that an engine owes (docs/rdma_transfers.md, Receiver): one for each READ
// at a time, no more of all and of each group of sources than the registers say.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdma/receiver.hpp"
#include "rdma/sender.hpp"

namespace weft::tb {

/// Clocks for which an answer that is over may still count for READs that retire.
inline constexpr uint64_t hidden_answer_clocks = 13;

/// What tells a READ from all others that are answered at the same time.
struct ReadId {
  uint16_t node = 0;
  uint16_t ticket = 0;
  uint32_t number = 0;

  explicit ReadId(const rdma::formats::Header& read) : ReadId(read.src, read.sid, read.msgid) {}
  explicit ReadId(const rdma::ReadOrder& order) : ReadId(order.node, order.ticket, order.number) {}
  explicit ReadId(const rdma::Post& answer)
      : ReadId(static_cast<uint16_t>(answer.node), static_cast<uint16_t>(answer.rkey),
               static_cast<uint32_t>(answer.dst_addr)) {}
  ReadId(uint16_t from, uint16_t to, uint32_t which) : node(from), ticket(to), number(which) {}

  bool operator==(const ReadId&) const = default;
};

struct AnswerBounds {
  uint32_t answers = 0;  // in all
  uint32_t quota = 0;    // of a group of sources, 0: all
  uint32_t groups = 1;
};

class ExpectedAnswers {
 public:
  /// A READ is taken; the sender gives its answer a context; that is free again.
  void take(const ReadId& read) { owed_.push_back(read); }
  void start(const ReadId& read, uint16_t sid) { by_context_.emplace(sid, read); }
  void end(uint16_t sid, uint64_t cycle);

  /// What is wrong with this outcome of a READ.
  std::optional<std::string> fault(const ReadId& read, rdma::formats::Outcome outcome,
                                   const AnswerBounds& bounds, uint64_t cycle) const;

 private:
  struct Over {
    uint64_t cycle;
    ReadId read;
  };
  template <typename Which>
  uint32_t owed(Which which) const;
  template <typename Which>
  uint32_t owed_or_hidden(Which which, uint64_t cycle) const;

  std::vector<ReadId> owed_;
  std::map<uint16_t, ReadId> by_context_;
  std::deque<Over> over_;  // the last ones
};

}  // namespace weft::tb
