// SPDX-License-Identifier: Apache-2.0
// CRC-32C for engines without checks (WEFT_BARE, rdma_pkg.sv): by the processor's own instruction where there
// is one, else by the golden model, with which tests compare that of the RTL (tests/rtl/test_rdma_crc.cpp).
// That packets of engines with checks have the same CRC shows in the tests of --bare.
#include <svdpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

#include "rdma/packet.hpp"

namespace {

using Words = std::array<uint64_t, weft::rdma::flit_bytes / sizeof(uint64_t)>;

#ifdef __x86_64__
const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;

__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t state, const Words& flit) {
  uint64_t crc = state;
  for (const uint64_t word : flit) crc = _mm_crc32_u64(crc, word);
  return static_cast<uint32_t>(crc);
}
#else
constexpr bool has_instruction = false;

uint32_t by_instruction(uint32_t, const Words&) { return 0; }
#endif

}  // namespace

/// The CRC's state after one more flit.
extern "C" unsigned weft_crc_flit(unsigned state, const svBitVecVal* flit) {
  Words words;
  std::memcpy(words.data(), flit, sizeof(words));
  if (has_instruction) return by_instruction(state, words);
  return ~weft::rdma::crc32c({reinterpret_cast<const uint8_t*>(words.data()), sizeof(words)}, ~state);
}
