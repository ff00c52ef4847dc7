// SPDX-License-Identifier: Apache-2.0
// Chooses one of the faults that tests/mutation has built into a netlist, which has a port `mutant` for it.
#pragma once

#include <cstdlib>
#include <string>
#include <type_traits>

namespace weft::rtl_test {

/// By its number in WEFT_MUTANT; 0 or nothing: none. Any other top is left as it is.
template <typename Top>
void choose_mutant(Top& top) {
  if constexpr (requires { top.mutant; }) {
    const char* number = std::getenv("WEFT_MUTANT");
    top.mutant = number ? static_cast<std::remove_cvref_t<decltype(top.mutant)>>(std::stoul(number)) : 0;
  }
}

}  // namespace weft::rtl_test
