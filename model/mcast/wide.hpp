// SPDX-License-Identifier: Apache-2.0
// Functions that a processor with AVX2 runs in a version of their own, chosen when the program is loaded;
// what they compute is the same. Not with sanitizers that must be
// awake before the loader chooses.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WEFT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WEFT_WIDE
#endif
