// SPDX-License-Identifier: Apache-2.0
// Messages between the nodes of a model that is cut into parts: what is posted in a clock can be taken in the
// next one, never sooner.
//
// A mailbox is of one sending part and one receiver. Its part alone posts to it, its receiver alone takes
// from it, and never both in the same clock, so that threads need no locks, and machines would have the time
// of a clock to carry it from one to the other. Nothing is allocated any more once mailboxes have grown to
// what they need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::fabric {

template <typename Message>
class Mail {
 public:
  /// @param parts the most that post
  Mail(uint32_t receivers, uint32_t parts) : receivers_(receivers), senders_(parts) {}

  /// By the thread of this part. Throws std::out_of_range if there are not so many parts.
  void post(uint32_t part, uint32_t to, Message message) {
    Mailboxes& boxes = senders_.at(part)[posting_];
    if (boxes.empty()) boxes.resize(receivers_);
    std::vector<Message>& box = boxes[to];
    if (box.capacity() == 0) box.reserve(places_at_first);
    box.push_back(std::move(message));
  }

  /// What all parts posted to this receiver in the last clock: in no order, as it depends on the cut.
  template <typename Function>
  void take(uint32_t receiver, const Function& function) {
    for (uint32_t part = 0; part < parts_; ++part) {
      Mailboxes& boxes = senders_[part][1 - posting_];
      if (boxes.empty() || boxes[receiver].empty()) continue;
      for (Message& message : boxes[receiver]) function(message);
      boxes[receiver].clear();
    }
  }

  /// Between two clocks.
  void advance() {
    posting_ = 1 - posting_;
    for (uint32_t part = parts_; part < senders_.size(); ++part) {
      if (!senders_[part][1 - posting_].empty()) parts_ = part + 1;
    }
  }
  /// Likewise.
  void clear() {
    for (auto& sender : senders_) {
      for (Mailboxes& boxes : sender) {
        for (auto& box : boxes) box.clear();
      }
    }
  }

 private:
  using Mailboxes = std::vector<std::vector<Message>>;  // by receiver; none before the first is needed

  static constexpr size_t places_at_first = 8;  // few clocks have more, so that few mailboxes ever grow

  uint32_t receivers_;
  std::vector<std::array<Mailboxes, 2>> senders_;  // by part, then of even and odd clocks
  uint32_t parts_ = 0;                             // that have posted anything so far
  size_t posting_ = 0;                             // of the two
};

}  // namespace weft::fabric
