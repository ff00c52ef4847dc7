// SPDX-License-Identifier: Apache-2.0
// Threads that step parts of a model: who is called when, and what happens to what they throw.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/parts.hpp"

namespace weft::fabric {
namespace {

/// Every node is stepped once a clock, and no part begins a clock before all others have ended the last one.
TEST(Parts, AllMeetAfterEachClock) {
  for (const uint32_t parts : {1u, 2u, 3u, 10u, 64u}) {
    constexpr uint32_t nodes = 10;
    std::vector<uint32_t> steps(nodes);
    std::atomic<uint32_t> stepped = 0;
    uint32_t clock = 0;
    run_in_parts(
        nodes, parts,
        [&](const Part& part) {
          for (uint32_t node = part.first; node < part.behind; ++node) {
            EXPECT_EQ(steps[node], clock);
            steps[node]++;
          }
          stepped += part.behind - part.first;
        },
        [&] {
          ++clock;
          EXPECT_EQ(stepped, nodes * clock);
          return clock < 500;
        });
    EXPECT_EQ(steps, std::vector<uint32_t>(nodes, 500)) << parts;
  }
}

std::string what_is_thrown(uint32_t parts, const std::function<void(const Part&)>& step,
                           const std::function<bool()>& between) {
  try {
    run_in_parts(8, parts, step, between);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Parts, WhatIsThrownEndsTheRun) {
  for (const uint32_t parts : {1u, 4u}) {
    std::atomic<int> clocks = 0;
    const auto always = [&] { return ++clocks < 1'000; };
    const auto last = [&](const Part& part) {
      if (clocks == 5 && part.behind == 8) throw std::runtime_error("step");
    };
    EXPECT_EQ(what_is_thrown(parts, last, always), "step");
    EXPECT_EQ(clocks, 5);
    const auto throws = []() -> bool { throw std::runtime_error("between"); };
    EXPECT_EQ(what_is_thrown(
                  parts, [](const Part&) {}, throws),
              "between");
    const auto all = [](const Part& part) { throw std::runtime_error(std::to_string(part.number)); };
    EXPECT_EQ(what_is_thrown(parts, all, always), "0");
  }
}

/// There is room for the stacks of two more threads.
class RoomForTwoThreads {
 public:
  RoomForTwoThreads() {
    pthread_getattr_default_np(&usual_);
    pthread_attr_t large;
    pthread_getattr_default_np(&large);
    EXPECT_EQ(pthread_attr_setstacksize(&large, stack_bytes), 0);
    EXPECT_EQ(pthread_setattr_default_np(&large), 0);
    pthread_attr_destroy(&large);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &unlimited_);
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + stack_bytes * 5 / 2;
    const rlimit limit{most, unlimited_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
  RoomForTwoThreads(const RoomForTwoThreads&) = delete;
  RoomForTwoThreads& operator=(const RoomForTwoThreads&) = delete;
  ~RoomForTwoThreads() {
    setrlimit(RLIMIT_AS, &unlimited_);
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }

 private:
  static constexpr size_t stack_bytes = 256u << 20;

  pthread_attr_t usual_{};
  rlimit unlimited_{};
};

/// Those that have started end, nothing is stepped, and there is one error.
TEST(Parts, ThreadsThatCannotBeStarted) {
  int steps = 0;
  const auto step = [&](const Part&) { steps++; };
  const auto once = [] { return false; };
  {
    const RoomForTwoThreads limit;
    EXPECT_EQ(what_is_thrown(8, step, once).find("8 threads cannot be started, only 3: "), 0u);
    EXPECT_EQ(steps, 0);
    EXPECT_EQ(what_is_thrown(1, step, once), "nothing") << "which needs none";
  }
  EXPECT_EQ(steps, 1);
}

TEST(Parts, RefusesNone) {
  EXPECT_THROW(run_in_parts(
                   1, 0, [](const Part&) {}, [] { return false; }),
               std::invalid_argument);
}

}  // namespace
}  // namespace weft::fabric
