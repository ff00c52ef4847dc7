// SPDX-License-Identifier: Apache-2.0
// Packets by handle. Allocates only when it has never had so many before.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::fabric {

class PacketStore {
 public:
  /// Throws std::logic_error if it has one of this handle.
  void put(uint32_t handle, std::vector<uint8_t> packet) {
    if (packets_.contains(handle)) throw std::logic_error(named(handle) + " is under way twice");
    if (spare_.empty()) {
      packets_.emplace(handle, std::move(packet));
      return;
    }
    spare_.back().key() = handle;
    spare_.back().mapped() = std::move(packet);
    packets_.insert(std::move(spare_.back()));
    spare_.pop_back();
  }

  /// Throws std::logic_error if it has none of this handle.
  std::vector<uint8_t> take(uint32_t handle) {
    auto found = packets_.extract(handle);
    if (found.empty()) throw std::logic_error(named(handle) + " is not under way");
    std::vector<uint8_t> packet = std::move(found.mapped());
    spare_.push_back(std::move(found));
    return packet;
  }

  void clear() { packets_.clear(); }

 private:
  using Packets = std::unordered_map<uint32_t, std::vector<uint8_t>>;

  static std::string named(uint32_t handle) { return "packet with handle " + std::to_string(handle); }

  Packets packets_;
  std::vector<Packets::node_type> spare_;
};

}  // namespace weft::fabric
