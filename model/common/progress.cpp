// SPDX-License-Identifier: Apache-2.0
// A line on the terminal while work takes longer than two seconds.
#include "common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace weft {

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r{}\r", std::string(what_.size() + 7, ' '));
}

void Progress::show(uint64_t done, uint64_t of) {
  if (!terminal_ || of == 0) return;
  const auto now = Clock::now();
  if (now < next_) return;
  fmt::print(stderr, "\r{}: {:3} %", what_, 100 * done / of);
  std::fflush(stderr);
  shown_ = true;
  next_ = now + std::chrono::milliseconds(200);
}

}  // namespace weft
