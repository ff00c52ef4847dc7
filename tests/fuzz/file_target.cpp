// SPDX-License-Identifier: Apache-2.0
// weft-fuzzer-KIND: what libFuzzer calls, for one kind of files (WEFT_READER).
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "file_inputs.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): a name that libFuzzer gives
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weft::fuzz::WEFT_READER({reinterpret_cast<const char*>(data), size});
  } catch (const weft::fuzz::Wrong& wrong) {
    std::fprintf(stderr, "weft-fuzzer: %s\n", wrong.what());
    std::abort();  // libFuzzer writes the input to a file
  }
  return 0;
}
