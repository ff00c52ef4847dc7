// SPDX-License-Identifier: Apache-2.0
// The resent and the new packets that a sender has decided on, in two queues. What is seen of them later (a
// read of the payload, the packet itself) comes in the order of each queue, the two mixed in any way; and
// what was seen may fit both. So all ways to explain it are followed at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <utility>
#include <vector>

namespace weft::tb {

template <typename Entry>
class ResentAndNew {
 public:
  using Queue = std::deque<Entry>;
  /// How many of the resent and of the new entries below were seen, in one explanation.
  using Explanation = std::pair<size_t, size_t>;

  void push(bool resend, Entry entry) { (resend ? resent_ : fresh_).push_back(std::move(entry)); }

  /// Something was seen.
  /// @param ends what a queue may have lost afterwards, if it is of that queue: called with the queue and
  /// with how many of it were seen before, gives the numbers with it
  /// @return whether anything explains it; if not, nothing has changed
  template <typename Ends>
  bool see(const Ends& ends) {
    std::set<Explanation> next;
    for (const auto& [resent, fresh] : explanations_) {
      for (const size_t end : ends(resent_, resent)) next.insert({end, fresh});
      for (const size_t end : ends(fresh_, fresh)) next.insert({resent, end});
    }
    if (next.empty()) return false;
    explanations_ = std::move(next);
    forget_explained();
    return true;
  }

  /// Each entry that was not seen in all explanations.
  template <typename Visit>
  void for_each(const Visit& visit) {
    std::ranges::for_each(resent_, visit);
    std::ranges::for_each(fresh_, visit);
  }

  const Queue& resent() const { return resent_; }
  const Queue& fresh() const { return fresh_; }
  const std::set<Explanation>& explanations() const { return explanations_; }  // never empty

  void clear() {
    resent_.clear();
    fresh_.clear();
    explanations_ = {{0, 0}};
  }

 private:
  void forget_explained() {
    size_t resent = resent_.size();
    size_t fresh = fresh_.size();
    for (const auto& explanation : explanations_) {
      resent = std::min(resent, explanation.first);
      fresh = std::min(fresh, explanation.second);
    }
    if (resent == 0 && fresh == 0) return;
    resent_.erase(resent_.begin(), resent_.begin() + static_cast<ptrdiff_t>(resent));
    fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<ptrdiff_t>(fresh));
    std::set<Explanation> moved;
    for (const auto& explanation : explanations_) {
      moved.insert({explanation.first - resent, explanation.second - fresh});
    }
    explanations_ = std::move(moved);
  }

  Queue resent_, fresh_;
  std::set<Explanation> explanations_{{0, 0}};
};

}  // namespace weft::tb
