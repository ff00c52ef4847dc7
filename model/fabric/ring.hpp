// SPDX-License-Identifier: Apache-2.0
// A queue that allocates only when it has never been so long before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::fabric {

template <typename T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  T& front() { return items_[first_]; }  ///< of one that is not empty

  void push_back(T item) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = std::move(item);
  }
  void pop_front() {  ///< of one that is not empty
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
  }
  void clear() { first_ = count_ = 0; }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 4 : 2 * items_.size());
    for (size_t i = 0; i < count_; ++i) larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> items_;  // a power of two
  size_t first_ = 0, count_ = 0;
};

}  // namespace weft::fabric
