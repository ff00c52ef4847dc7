// SPDX-License-Identifier: Apache-2.0
// A small barrier engine in RTL beside its golden model.
#pragma once

#include <cstdint>

#include "Vbarrier_engine.h"
#include "barrier/lockstep_node.hpp"
#include "mutant.hpp"

namespace weft::rtl_test {

struct SmallSize {
  using Top = Vbarrier_engine;
  static constexpr uint32_t groups = 4, members = 32, nodes = 24;  // as CMakeLists.txt says
  static constexpr uint32_t tick_period = 24;
  static void begin(Top& top) { choose_mutant(top); }
};
using SmallNode = tb::LockstepNode<SmallSize>;

}  // namespace weft::rtl_test
