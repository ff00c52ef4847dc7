// SPDX-License-Identifier: Apache-2.0
// Packets by handle: a hash table that allocates only when it has never had so many before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::fabric {

class PacketStore {
 public:
  /// Throws std::logic_error if it has one of this handle.
  void put(uint32_t handle, std::vector<uint8_t> packet) {
    if (2 * (count_ + 1) > places_.size()) grow();
    Place& place = places_[find(handle)];
    if (place.taken) throw std::logic_error(named(handle) + " is there already");
    place = {true, handle, std::move(packet)};
    ++count_;
  }

  /// Throws std::logic_error if it has none of this handle.
  std::vector<uint8_t> take(uint32_t handle) {
    const size_t at = places_.empty() ? 0 : find(handle);
    if (places_.empty() || !places_[at].taken) throw std::logic_error(named(handle) + " is not there");
    std::vector<uint8_t> packet = std::move(places_[at].packet);
    close(at);
    --count_;
    return packet;
  }

  void clear() {
    places_.clear();
    count_ = 0;
  }

 private:
  struct Place {
    bool taken = false;
    uint32_t handle = 0;
    std::vector<uint8_t> packet;
  };

  static std::string named(uint32_t handle) { return "packet with handle " + std::to_string(handle); }
  size_t behind(size_t place) const { return (place + 1) & (places_.size() - 1); }
  size_t distance(size_t from, size_t to) const { return (to - from) & (places_.size() - 1); }
  size_t home(uint32_t handle) const { return (handle * 0x9e3779b97f4a7c15 >> 32) & (places_.size() - 1); }

  /// The place of the packet, or where it would be put: from its home on, the first that is free.
  size_t find(uint32_t handle) const {
    size_t at = home(handle);
    while (places_[at].taken && places_[at].handle != handle) at = behind(at);
    return at;
  }

  /// A packet further on that would not be found across the gap moves into it, and leaves one.
  void close(size_t gap) {
    for (size_t at = behind(gap); places_[at].taken; at = behind(at)) {
      if (distance(home(places_[at].handle), at) < distance(gap, at)) continue;
      places_[gap] = std::move(places_[at]);
      gap = at;
    }
    places_[gap].taken = false;
  }

  void grow() {
    auto old = std::exchange(places_, std::vector<Place>(places_.empty() ? 8 : 2 * places_.size()));
    for (Place& place : old) {
      if (place.taken) places_[find(place.handle)] = std::move(place);
    }
  }

  std::vector<Place> places_;  // a power of two, at most half of them taken
  size_t count_ = 0;
};

}  // namespace weft::fabric
