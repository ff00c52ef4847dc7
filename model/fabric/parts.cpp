// SPDX-License-Identifier: Apache-2.0
// Threads that meet at a barrier after each clock.
#include "fabric/parts.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <latch>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::fabric {

namespace {

using Step = std::function<void(const Part&)>;

/// What the threads share. Each writes to its own error only; `goes_on` is written while all others wait.
struct Run {
  const Step& step;
  const std::function<bool()>& between;
  std::vector<std::exception_ptr> errors;  ///< by part
  bool goes_on = true;

  void step_part(const Part& part) noexcept {
    try {
      step(part);
    } catch (...) {
      errors[part.number] = std::current_exception();
    }
  }
  void meet() noexcept {
    const auto is_error = [](const std::exception_ptr& error) { return error != nullptr; };
    goes_on = std::ranges::none_of(errors, is_error);
    if (!goes_on) return;
    try {
      goes_on = between();
    } catch (...) {
      errors.front() = std::current_exception();
      goes_on = false;
    }
  }
};

Part part_of(uint32_t nodes, uint32_t parts, uint32_t number) {
  const auto border = [&](uint32_t at) { return static_cast<uint32_t>(uint64_t{nodes} * at / parts); };
  return {number, border(number), border(number + 1)};
}

void run_threads(Run& run, uint32_t nodes, uint32_t parts) {
  std::barrier barrier(parts, [&run]() noexcept { run.meet(); });
  const auto work = [&](const Part& part) {
    do {
      run.step_part(part);
      barrier.arrive_and_wait();
    } while (run.goes_on);
  };
  bool all_there = false;  // else nobody begins, as all wait for all at the barrier
  std::latch start(1);
  std::vector<std::jthread> others;
  try {
    for (uint32_t number = 1; number < parts; ++number) {
      others.emplace_back([&, part = part_of(nodes, parts, number)] {
        start.wait();
        if (all_there) work(part);
      });
    }
  } catch (const std::system_error& error) {
    start.count_down();
    throw std::runtime_error(std::to_string(parts) + " threads cannot be started, only " +
                             std::to_string(others.size() + 1) + ": " + error.what());
  }
  all_there = true;
  start.count_down();
  work(part_of(nodes, parts, 0));
}

}  // namespace

void run_in_parts(uint32_t nodes, uint32_t parts, const Step& step, const std::function<bool()>& between) {
  if (parts == 0) throw std::invalid_argument("0 parts, must be at least 1");
  parts = std::clamp(nodes, 1u, parts);
  Run run{step, between, std::vector<std::exception_ptr>(parts)};
  if (parts > 1) {
    run_threads(run, nodes, parts);
  } else {
    do {
      run.step_part(part_of(nodes, 1, 0));
      run.meet();
    } while (run.goes_on);
  }
  for (const std::exception_ptr& error : run.errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace weft::fabric
