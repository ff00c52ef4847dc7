// SPDX-License-Identifier: Apache-2.0
// Book of all posts of a run of the fault campaign.
#include "soak_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::sim {

void SoakLedger::tell(const Entry& entry, uint64_t cycle, const std::string& what) {
  const driver::RdmaRequest& request = entry.post.request;
  const std::string kind =
      entry.post.ring ? fmt::format("{} of queue {}, ", rdma_queues::formats::name(entry.post.ring->opcode()),
                                    entry.post.ring->queue)
                      : "";
  findings_.add(entry.post.node, cycle,
                fmt::format("{}transfer {} of {} bytes to node {}: {}", kind, request.tag, request.bytes,
                            request.node, what));
}

SoakLedger::Entry* SoakLedger::find(uint32_t node, uint16_t tag) {
  auto& entries = of_node_.at(node);
  const auto found = entries.find(tag);
  return found == entries.end() ? nullptr : &found->second;
}

void SoakLedger::give(const PlannedPost& post, uint64_t cycle) {
  given_++;
  waiting_ += post.is_buffer();
  of_node_.at(post.node).emplace(post.request.tag, Entry{post, cycle});
}

void SoakLedger::accepted(uint32_t node, uint16_t tag) {
  Entry* entry = find(node, tag);
  if (!entry) return findings_.add(node, 0, fmt::format("post {} accepted that nobody made", tag));
  entry->accepted = true;
  accepted_count_++;
  accepted_[node].push_back(tag);
}

const PlannedPost* SoakLedger::completed(uint32_t node, uint16_t tag, Status status, uint64_t cycle) {
  Entry* entry = find(node, tag);
  if (!entry || entry->state != State::open) {
    const char* why = !entry                         ? "that was never posted"
                      : entry->state == State::ended ? "a second time"
                                                     : "of an earlier life, or of a queue that was off";
    findings_.add(node, cycle, fmt::format("completion {} of transfer {} {}", status_name(status), tag, why));
    return nullptr;
  }
  close(*entry, State::ended);
  ended_++;
  by_status_[status]++;
  judge(*entry, status, cycle);
  return &entry->post;
}

void SoakLedger::close(Entry& entry, State state) {
  entry.state = state;
  waiting_ -= entry.post.is_buffer();
}

bool SoakLedger::is_excused(const Entry& entry, Status status, uint64_t cycle) const {
  const Status deserved = entry.post.deserved;
  const bool silence = status == Status::no_answer || status == Status::dead_peer;
  const bool closed = status == Status::bad_key && entry.post.is_message();
  if (!is_sent(deserved) || (!silence && !closed)) return false;
  return std::ranges::any_of(excuses_, [&](const Excuse& excuse) {
    return (silence || excuse.queues_closed) && excuse.from == entry.post.node &&
           excuse.to == entry.post.request.node && cycle >= excuse.since && entry.given <= excuse.until;
  });
}

void SoakLedger::judge(const Entry& entry, Status status, uint64_t cycle) {
  const auto silent = silent_.find(entry.post.request.node);
  if (status == Status::ok && silent != silent_.end() && cycle > silent->second) {
    tell(entry, cycle, "OK, long after the receiver's death");
  }
  if (status == entry.post.deserved) return;
  if (is_excused(entry, status, cycle)) {
    excused_++;
    return;
  }
  tell(entry, cycle,
       fmt::format("ends with {}, expected {}", status_name(status), status_name(entry.post.deserved)));
}

void SoakLedger::lose(uint32_t node) {
  for (auto& [tag, entry] : of_node_.at(node)) {
    if (entry.state != State::open) continue;
    close(entry, State::lost);
    lost_++;
  }
  accepted_[node].clear();
}

void SoakLedger::withdraw(uint32_t node, uint16_t tag) {
  close(of_node_.at(node).at(tag), State::withdrawn);
  withdrawn_++;
}

std::vector<uint16_t> SoakLedger::waiting_buffers(uint32_t node, uint32_t queue) const {
  std::vector<uint16_t> tags;
  for (const auto& [tag, entry] : of_node_.at(node)) {
    const bool waits = entry.state == State::open && entry.post.is_buffer();
    if (waits && entry.post.ring->queue == queue) tags.push_back(tag);
  }
  return tags;
}

void SoakLedger::end_excuses(uint64_t cycle) {
  for (Excuse& excuse : excuses_) excuse.until = std::min(excuse.until, cycle);
}

std::vector<SoakLedger::Key> SoakLedger::open_among_first(uint64_t taken, uint32_t from, uint32_t to) const {
  std::vector<Key> keys;
  const auto& tags = accepted_.at(from);
  for (size_t i = 0; i < tags.size() && i < taken; ++i) {
    const Entry& entry = of_node_[from].at(tags[i]);
    if (entry.state == State::open && entry.post.request.node == to) keys.emplace_back(from, tags[i]);
  }
  return keys;
}

void SoakLedger::expect_ended(const std::vector<Key>& keys, uint64_t cycle, const std::string& why) {
  for (const auto& [node, tag] : keys) {
    const Entry& entry = of_node_.at(node).at(tag);
    if (entry.state == State::open) tell(entry, cycle, "has not ended " + why);
  }
}

void SoakLedger::expect_all_ended(uint64_t cycle) {
  for (const auto& entries : of_node_) {
    for (const auto& [tag, entry] : entries) {
      if (entry.state == State::open)
        tell(entry, cycle, entry.accepted ? "never ended" : "was never accepted");
      if (entry.state == State::ended && !entry.accepted) tell(entry, cycle, "ended, but was never accepted");
    }
  }
}

}  // namespace weft::sim
