// SPDX-License-Identifier: Apache-2.0
// An image that is read by others while it still comes: one thread appends, any number read.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>

namespace weft::relay {

class GrowingFile {
 public:
  /// @param place of the image once it is complete; until then it is PLACE.part. Throws Fault.
  explicit GrowingFile(std::filesystem::path place);
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  /// Throws Fault if it is 0 or another one than before.
  void set_size(uint64_t bytes);
  /// Throws Fault if it cannot be written or is more than the size.
  void append(std::span<const char> bytes);
  uint64_t bytes() const;
  bool is_complete() const;

  /// Waits until the size is known.
  uint64_t wait_for_size();
  /// Waits for bytes from `offset` on, which is before the end. @return how many were read; 0: it cannot be
  /// read
  std::size_t read(uint64_t offset, std::span<char> into);

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path place_, part_;
  int file_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::optional<uint64_t> size_;
  uint64_t bytes_ = 0;
  bool complete_ = false;
};

}  // namespace weft::relay
