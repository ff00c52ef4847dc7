// SPDX-License-Identifier: Apache-2.0
// What is inside a FIFO of an RDMA module, and when its output shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace weft::rtl_test {

/// A word is at the output `latency` clocks after it was pushed, if nothing is in front of it.
template <typename Word>
class ShownQueue {
 public:
  explicit ShownQueue(uint64_t latency) : latency_(latency) {}

  void push(const Word& word, uint64_t cycle) { words_.push_back({word, cycle + latency_}); }
  void pop() { words_.pop_front(); }
  void clear() { words_.clear(); }
  bool shown(uint64_t cycle) const { return !words_.empty() && cycle >= words_.front().second; }
  const Word& front() const { return words_.front().first; }
  std::size_t size() const { return words_.size(); }

 private:
  uint64_t latency_;
  std::deque<std::pair<Word, uint64_t>> words_;
};

}  // namespace weft::rtl_test
