// SPDX-License-Identifier: Apache-2.0
// For weft-fuzz linked with an instrumented engine: nobody listens to the coverage counters.
#include <cstdint>

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t*, uint8_t*) {}
extern "C" void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*) {}
