// SPDX-License-Identifier: Apache-2.0
// Harness of the RTL unit tests: one Verilated top with clock, reset and seeded random numbers.
//
// The seed is GoogleTest's --gtest_random_seed (GTEST_RANDOM_SEED). Every failure while a Bench lives says
// how to reproduce it.
#pragma once

#include <errno.h>  // program_invocation_short_name, of glibc
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "common/verilated_clock.hpp"
#include "mutant.hpp"

namespace weft::rtl_test {

/// An assertion in the RTL failed; its message is in the output of the test.
class AssertionFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline uint64_t seed() { return static_cast<uint64_t>(GTEST_FLAG_GET(random_seed)); }

inline std::string reproduce_command() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return "reproduce: " + std::string(program_invocation_short_name) +
         " --gtest_random_seed=" + std::to_string(seed()) + " --gtest_filter=" + test->test_suite_name() +
         "." + test->name();
}

template <typename Top>
class Bench {
 public:
  Bench() : context_(seed()), clock_(context_, "bench"), random_(seed()) { choose_mutant(top()); }

  Top* operator->() { return &clock_.top(); }
  Top& top() { return clock_.top(); }

  /// Outputs follow the inputs of this cycle.
  void settle() { clock_.settle(); }

  /// Ends this cycle. Throws AssertionFailed.
  void step() {
    clock_.settle();
    clock_.edge();
    context_.advance();
    ++cycle_;
    if (context_.failed())
      throw AssertionFailed("assertion in the RTL failed in cycle " + std::to_string(cycle_));
  }

  /// Leaves the other inputs as they are.
  void reset(int cycles = 2) {
    top().rst_ni = 0;
    for (int i = 0; i < cycles; ++i) step();
    top().rst_ni = 1;
  }

  uint64_t cycle() const { return cycle_; }

  /// Evenly from 0 to limit - 1.
  uint64_t below(uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_); }
  /// Evenly a number of so many bits.
  uint64_t any(unsigned bits) { return below(uint64_t{1} << bits); }
  bool chance(unsigned percent) { return below(100) < percent; }
  /// Never, rarely, often, nearly always, always: a probability in percent for a while.
  unsigned pace() { return std::array{0u, 10u, 50u, 90u, 100u}[below(5)]; }

 private:
  tb::SimulationContext context_;
  tb::VerilatedClock<Top> clock_;
  std::mt19937_64 random_;
  uint64_t cycle_ = 0;
  testing::ScopedTrace reproduce_{__FILE__, __LINE__, reproduce_command()};
};

}  // namespace weft::rtl_test
