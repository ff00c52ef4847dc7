// SPDX-License-Identifier: Apache-2.0
// Steps for the lookup block's self-test on a board: table images through the registers, lookups of every
// kind, ports that die (rtl/selftest/selftest_lookup.sv).
#pragma once

#include <cstdint>
#include <vector>

#include "switch/image.hpp"
#include "weft/selftest/formats.hpp"

namespace weft::selftest {

struct LookupTest {
  std::vector<formats::LookupStep> steps;
  std::vector<uint32_t> expected;  ///< answer of each lookup, then the signature
};

/// @param lookups with each image
/// @param images  one after the other, each of another role
/// Throws Fault for sizes that an answer has no room for.
LookupTest make_lookup_test(const switch_lookup::Sizes& sizes, uint32_t images, uint32_t lookups,
                            uint32_t seed);

}  // namespace weft::selftest
