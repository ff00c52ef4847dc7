// SPDX-License-Identifier: Apache-2.0
// Which gate of a netlist with swappable gates is swapped: the environment's WEFT_SWAPPED_GATE, none without.
#include <cstdlib>

extern "C" int weft_swapped_gate();

int weft_swapped_gate() {
  const char* number = std::getenv("WEFT_SWAPPED_GATE");
  return number == nullptr ? 0 : std::atoi(number);
}
