// SPDX-License-Identifier: Apache-2.0
// Owns one Verilated top and steps its clock: settle() with the inputs of a cycle, edge() at its end.
#pragma once

#include <verilated.h>
#ifdef WEFT_COVERAGE
#include "coverage.hpp"
#endif

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace weft::tb {

/// What a top, or all tops of a simulation, have for themselves: time, random start values, failed
/// assertions. Tops of different ones may be stepped by different threads.
class SimulationContext {
 public:
  explicit SimulationContext(uint64_t seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed & 0x7fffffff) | 1);
    context_.fatalOnError(false);
    context_.assertOn(true);
  }

  VerilatedContext& verilated() { return context_; }

  /// After the cycle of all tops: time goes on by one clock period.
  void advance() { context_.timeInc(2); }

  /// Whether an assertion in the RTL has failed (its message is on standard error).
  bool failed() const { return context_.gotError() || context_.gotFinish(); }

 private:
  mutable VerilatedContext context_;
};

template <typename Top>
class VerilatedClock {
 public:
  VerilatedClock(SimulationContext& context, const std::string& name)
      : top_(std::make_unique<Top>(&context.verilated(), name.c_str()))
#ifdef WEFT_COVERAGE
        ,
        coverage_(context.verilated(), name)
#endif
  {
  }
  ~VerilatedClock() {
    Verilated::threadContextp(top_->contextp());  // from which its scopes take themselves
    top_->final();
  }
  VerilatedClock(const VerilatedClock&) = delete;
  VerilatedClock& operator=(const VerilatedClock&) = delete;

  Top& top() { return *top_; }

  void settle() {
    Verilated::threadContextp(top_->contextp());  // whom a failed assertion is told
    top_->clk_i = 0;
    top_->eval();
  }
  void edge() {
#ifdef WEFT_COVERAGE
    coverage_.sample(in_reset());
#endif
    Verilated::threadContextp(top_->contextp());
    top_->clk_i = 1;
    top_->eval();
  }

 private:
#ifdef WEFT_COVERAGE
  bool in_reset() const {
    if constexpr (requires { top_->rst_ni; }) return !top_->rst_ni;
    return false;
  }
#endif

  std::unique_ptr<Top> top_;
#ifdef WEFT_COVERAGE
  SignalCoverage coverage_;
#endif
};

}  // namespace weft::tb
