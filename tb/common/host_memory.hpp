// SPDX-License-Identifier: Apache-2.0
// Sparse byte memory of a host; bytes never written read as zero. Its first pages may lie in memory that
// other processes see as well.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft::tb {

class HostMemory {
 public:
  static constexpr uint64_t page_bytes = 4096;

  /// Before anything is written: addresses from 0 on are bytes of `shared`, which outlives this and is of
  /// whole pages. The last byte of a piece written there is seen after its others.
  void share(std::span<uint8_t> shared) { shared_ = shared; }

  void write(uint64_t address, std::span<const uint8_t> bytes) {
    for_pieces(address, bytes.size(), [&](uint64_t at, uint64_t done, uint64_t count) {
      if (at < shared_.size()) return write_shared(at, bytes.subspan(done, count));
      std::memcpy(page(at / page_bytes).data() + at % page_bytes, bytes.data() + done, count);
    });
  }

  void read(uint64_t address, std::span<uint8_t> bytes) const {
    for_pieces(address, bytes.size(), [&](uint64_t at, uint64_t done, uint64_t count) {
      if (at < shared_.size()) {
        std::memcpy(bytes.data() + done, shared_.data() + at, count);
        return;
      }
      const Page* found = find(at / page_bytes);
      if (found) {
        std::memcpy(bytes.data() + done, found->data() + at % page_bytes, count);
      } else {
        std::memset(bytes.data() + done, 0, count);
      }
    });
  }

  std::vector<uint8_t> read(uint64_t address, uint64_t count) const {
    std::vector<uint8_t> bytes(count);
    read(address, bytes);
    return bytes;
  }

  /// Addresses of all pages ever written that are not shared, in order.
  std::vector<uint64_t> pages() const {
    std::vector<uint64_t> addresses;
    for (const auto& [number, contents] : pages_) addresses.push_back(number * page_bytes);
    std::sort(addresses.begin(), addresses.end());
    return addresses;
  }

  bool equals(uint64_t address, std::span<const uint8_t> bytes) const {
    const std::vector<uint8_t> here = read(address, bytes.size());
    return std::equal(here.begin(), here.end(), bytes.begin());
  }

 private:
  using Page = std::array<uint8_t, page_bytes>;

  template <typename Action>
  static void for_pieces(uint64_t address, uint64_t count, Action action) {
    for (uint64_t done = 0; done < count;) {
      const uint64_t at = address + done;
      const uint64_t piece = std::min(count - done, page_bytes - at % page_bytes);
      action(at, done, piece);
      done += piece;
    }
  }

  void write_shared(uint64_t at, std::span<const uint8_t> bytes) {
    std::memcpy(shared_.data() + at, bytes.data(), bytes.size() - 1);
    std::atomic_ref(shared_[at + bytes.size() - 1]).store(bytes.back(), std::memory_order_release);
  }

  Page& page(uint64_t number) {
    auto& slot = pages_[number];
    if (!slot) slot = std::make_unique<Page>();
    return *slot;
  }

  const Page* find(uint64_t number) const {
    const auto found = pages_.find(number);
    return found == pages_.end() ? nullptr : found->second.get();
  }

  std::span<uint8_t> shared_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace weft::tb
