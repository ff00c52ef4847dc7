// SPDX-License-Identifier: Apache-2.0
// Book of all posts: each ends exactly once, with the status that it deserves or that an incident explains.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/findings.hpp"
#include "soak_plan.hpp"

namespace weft::sim {

class SoakLedger {
 public:
  using Status = rdma::formats::Status;

  SoakLedger(uint32_t nodes, tb::Findings& findings)
      : of_node_(nodes), accepted_(nodes), findings_(findings) {}

  /// Handed to the driver.
  void give(const PlannedPost& post, uint64_t cycle);
  /// The engine's doorbell took it.
  void accepted(uint32_t node, uint16_t tag);
  /// Returns the post; nullptr if there is none that could complete.
  const PlannedPost* completed(uint32_t node, uint16_t tag, Status status, uint64_t cycle);
  /// The node is reset or dead: its posts that have not ended are gone with it.
  void lose(uint32_t node);

  /// The queue of this buffer was disabled while nothing had come for it.
  void withdraw(uint32_t node, uint16_t tag);
  /// Tags of buffers of that queue that wait.
  std::vector<uint16_t> waiting_buffers(uint32_t node, uint32_t queue) const;

  /// From now on transfers from `from` to `to` may end with NO_ANSWER or DEAD_PEER, if they are given before
  /// end_excuses().
  /// @param queues_closed there: messages may also end with BAD_KEY
  void excuse(uint32_t from, uint32_t to, uint64_t cycle, bool queues_closed = false) {
    excuses_.push_back({from, to, cycle, never, queues_closed});
  }
  void end_excuses(uint64_t cycle);
  /// From this cycle on nothing more can have come from that node: no transfer to it may end with OK.
  void silent_from(uint32_t node, uint64_t cycle) { silent_[node] = cycle; }

  /// Of the first `taken` posts that the engine of `from` has accepted: those to `to` that have not ended.
  using Key = std::pair<uint32_t, uint16_t>;
  std::vector<Key> open_among_first(uint64_t taken, uint32_t from, uint32_t to) const;
  /// Reports each of these that has not ended yet.
  void expect_ended(const std::vector<Key>& keys, uint64_t cycle, const std::string& why);
  /// Reports every post that has not ended, and every one that ended although it was never accepted.
  void expect_all_ended(uint64_t cycle);

  uint64_t given() const { return given_; }
  uint64_t accepted() const { return accepted_count_; }
  uint64_t ended() const { return ended_; }
  uint64_t lost() const { return lost_; }
  uint64_t excused() const { return excused_; }  ///< ended with an error that an incident explains
  uint64_t withdrawn() const { return withdrawn_; }
  bool all_ended() const { return given_ == ended_ + lost_ + withdrawn_; }
  /// All but buffers.
  bool requests_ended() const { return given_ == ended_ + lost_ + withdrawn_ + waiting_; }
  const std::map<Status, uint64_t>& by_status() const { return by_status_; }

 private:
  static constexpr uint64_t never = ~0ull;
  enum class State : uint8_t { open, ended, lost, withdrawn };
  struct Entry {
    PlannedPost post;
    uint64_t given;
    State state = State::open;
    bool accepted = false;
  };
  struct Excuse {
    uint32_t from, to;
    uint64_t since, until;
    bool queues_closed;
  };

  Entry* find(uint32_t node, uint16_t tag);
  void close(Entry& entry, State state);
  void judge(const Entry& entry, Status status, uint64_t cycle);
  bool is_excused(const Entry& entry, Status status, uint64_t cycle) const;
  void tell(const Entry& entry, uint64_t cycle, const std::string& what);

  std::vector<std::map<uint16_t, Entry>> of_node_;
  std::vector<std::vector<uint16_t>> accepted_;  // tags in order, by node
  std::vector<Excuse> excuses_;
  std::map<uint32_t, uint64_t> silent_;
  std::map<Status, uint64_t> by_status_;
  uint64_t given_ = 0, accepted_count_ = 0, ended_ = 0, lost_ = 0, excused_ = 0;
  uint64_t withdrawn_ = 0, waiting_ = 0;  // buffers
  tb::Findings& findings_;
};

}  // namespace weft::sim
