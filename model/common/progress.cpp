// SPDX-License-Identifier: Apache-2.0
// A line on the terminal while work takes longer than two seconds.
#include "common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft {

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (shown_ > 0) fmt::print(stderr, "\r{:{}}\r", "", shown_);
}

void Progress::show(uint64_t done, uint64_t of) {
  if (!terminal_ || of == 0) return;
  const auto now = Clock::now();
  if (now < next_) return;
  const std::string text = fmt::format("{}: {:3} %", what_, 100 * done / of);
  shown_ = std::max(shown_, text.size());  // what was longer is wiped away
  fmt::print(stderr, "\r{:{}}", text, shown_);
  std::fflush(stderr);
  next_ = now + std::chrono::milliseconds(200);
}

void Progress::show(std::string_view what, uint64_t done, uint64_t of) {
  if (what != what_) what_ = what;
  show(done, of);
}

}  // namespace weft
