// SPDX-License-Identifier: Apache-2.0
// A line on the terminal while work takes longer than two seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// Shows "WHAT: 17 %" on standard error, if that is a terminal, and wipes it away in the end.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// May be called as often as one likes.
  void show(uint64_t done, uint64_t of);
  /// From now on with another WHAT.
  void show(std::string_view what, uint64_t done, uint64_t of);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool terminal_;
  std::size_t shown_ = 0;  // characters
  Clock::time_point next_;
};

}  // namespace weft
