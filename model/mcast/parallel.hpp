// SPDX-License-Identifier: Apache-2.0
// Work that several threads share, in parts that do not depend on each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace weft::mcast {

/// Calls work(thread, i) once for each i below `count`, by up to `threads` threads, numbered from 0.
/// `work` must not throw.
template <typename Work>
void share(uint32_t threads, uint32_t count, const Work& work) {
  std::atomic<uint32_t> next{0};
  const auto run = [&](uint32_t thread) {
    for (uint32_t i = next++; i < count; i = next++) work(thread, i);
  };
  std::vector<std::jthread> others;
  for (uint32_t thread = 1; thread < threads && thread < count; ++thread) others.emplace_back(run, thread);
  run(0);
}

}  // namespace weft::mcast
