// SPDX-License-Identifier: Apache-2.0
// A heap in which each element has up to four below it. Of equal elements it gives out the same one as
// OpenSM's, so that equally short ways are found in the same order. Not for use outside this folder.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::mcast {

class OpenSmHeap {
 public:
  /// Names are numbers below this.
  explicit OpenSmHeap(uint32_t names) : place_(names) {}

  bool empty() const { return elements_.empty(); }
  void clear() { elements_.clear(); }

  void insert(uint32_t name, uint64_t key) {
    elements_.push_back({key, name});
    rise(elements_.size() - 1);
  }
  /// The key of one that is there becomes smaller.
  void lower(uint32_t name, uint64_t key) {
    elements_[place_[name]].key = key;
    rise(place_[name]);
  }
  /// One with the smallest key. The last element takes its place and sinks.
  uint32_t take() {
    const uint32_t name = elements_.front().name;
    const Element last = elements_.back();
    elements_.pop_back();
    if (!elements_.empty()) {
      put(0, last);
      sink(0);
    }
    return name;
  }

 private:
  struct Element {
    uint64_t key;
    uint32_t name;
  };
  static constexpr std::size_t width = 4;

  void put(std::size_t at, const Element& element) {
    elements_[at] = element;
    place_[element.name] = static_cast<uint32_t>(at);
  }

  /// Only past larger ones.
  void rise(std::size_t at) {
    const Element element = elements_[at];
    while (at > 0 && element.key < elements_[(at - 1) / width].key) {
      put(at, elements_[(at - 1) / width]);
      at = (at - 1) / width;
    }
    put(at, element);
  }

  /// Of equally small ones below, the last one comes up.
  void sink(std::size_t at) {
    const Element element = elements_[at];
    for (;;) {
      const std::size_t first = at * width + 1;
      if (first >= elements_.size()) break;
      std::size_t least = first;
      for (std::size_t below = first + 1; below < first + width && below < elements_.size(); ++below)
        if (elements_[below].key <= elements_[least].key) least = below;
      if (element.key <= elements_[least].key) break;
      put(at, elements_[least]);
      at = least;
    }
    put(at, element);
  }

  std::vector<Element> elements_;
  std::vector<uint32_t> place_;  // of each name in elements_
};

}  // namespace weft::mcast
