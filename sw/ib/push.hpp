// SPDX-License-Identifier: Apache-2.0
// Carries a plan out, in an order in which no packet can run in a ring on the way.
//
// First every switch loses the ports that it shall not keep, then every switch gets the new ones. So while it
// runs, and wherever it stops, the ports in all switches are a part of the old trees, or of the new ones,
// never of a mixture that could hold a ring. (In between groups may be cut.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ib/plan.hpp"
#include "ib/switches.hpp"

namespace weft::ib {

enum class State : uint8_t {
  unchanged,  ///< holds what it held
  partly,     ///< holds some of the new
  uncertain,  ///< did not answer: the last write may have come through
  changed,    ///< holds all of the new
};

struct Report {
  std::vector<State> states;  ///< of the switches of the plan, in its order
  uint64_t blocks_written = 0;
  uint64_t blocks_verified = 0;
  std::string failure;  ///< "": the plan was carried out, and read back as written

  bool ok() const { return failure.empty(); }
};

/// Carries the plan out and reads everything back, each step with many datagrams at a time if `switches` can.
/// If a switch does not answer nothing more is begun, what is under way is waited for; never
/// throws Unanswered, but throws Misfit if a switch of the plan is not there.
Report push(Switches& switches, const Plan& plan, const Done& done = {});

}  // namespace weft::ib
