// SPDX-License-Identifier: Apache-2.0
// A Verilated top as the functions that its settling and its clock edge consist of, so that many tops can be
// stepped function by function: each then stays in the processor's first cache for all of them, and none runs
// twice a clock. scripts/verilate.py --steps writes StepsOf of a top.
#pragma once

#include <span>

namespace weft::tb {

using Step = void (*)(void* state);

/// To be called one after the other, on `state`: `settle` after the inputs were set, `edge` for a rising edge
/// of the clock. Empty: a top that only knows eval().
struct Steps {
  void* state = nullptr;
  std::span<const Step> settle, edge;
};

template <typename State, void (*function)(State*)>
void step_of(void* state) {
  function(static_cast<State*>(state));
}

/// Of tops without: nothing is known.
template <typename Top>
struct StepsOf {
  static constexpr bool known = false;
};

}  // namespace weft::tb
