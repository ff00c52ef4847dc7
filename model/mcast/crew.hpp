// SPDX-License-Identifier: Apache-2.0
// Threads that wait for work, so that to share even a tenth of a millisecond of it is worth it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace weft::mcast {

class Crew {
 public:
  explicit Crew(uint32_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  uint32_t threads() const { return static_cast<uint32_t>(others_.size()) + 1; }

  /// Calls work(thread, i) once for each i below `count`, lower ones first, by all threads, numbered from 0;
  /// the caller is one of them. `work` must not throw.
  void share(uint32_t count, const std::function<void(uint32_t, uint32_t)>& work);

 private:
  void wait_for_work(uint32_t thread);
  void work(uint32_t thread);

  std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> busy_{0};  // of the others
  std::atomic<uint32_t> next_{0};
  std::atomic<bool> stop_{false};
  uint32_t count_ = 0;
  const std::function<void(uint32_t, uint32_t)>* work_ = nullptr;
  std::vector<std::jthread> others_;
};

}  // namespace weft::mcast
