// SPDX-License-Identifier: Apache-2.0
// How often the program has allocated memory.
#pragma once

#include <cstdint>

namespace weft::model_test {

/// Calls of operator new so far, of all threads.
uint64_t allocations();

/// Of these, what has not been freed.
uint64_t allocated();

}  // namespace weft::model_test
