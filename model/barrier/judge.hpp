// SPDX-License-Identifier: Apache-2.0
// judge: what the root does with the length that Gather has brought, the longest way from a member to it in
// hops.
//
// The paper leaves it open. Its memory goes with every Release, since the next root may be another node.
// States and reasons: docs/barrier.md.
#pragma once

#include <cstdint>

namespace weft::barrier {

inline constexpr uint32_t length_limit = 0xffff;  ///< lengths saturate here

struct JudgeSettings {
  uint32_t offsets = 1;  ///< that there are: members that move on together
  uint32_t stride = 1;   ///< offsets tried one after the other differ by this, modulo offsets
  uint32_t good = 0;     ///< a length that needs no search
  uint32_t tries = 8;    ///< offsets tried in a search, at most 255
  bool operator==(const JudgeSettings&) const = default;
};

struct JudgeMemory {
  uint32_t offset = 0;       ///< of the barrier that gathers
  uint32_t best_offset = 0;  ///< shortest found in this search
  uint32_t best_length = length_limit;
  uint32_t tries_left = 0;
  bool holding = false;  ///< no search under way
  bool operator==(const JudgeMemory&) const = default;
};

/// At the start: the first barrier measures offset 0.
JudgeMemory judge_start(const JudgeSettings& settings);

/// After a Gather of this length: the memory for the next barrier, its offset included.
JudgeMemory judge(const JudgeSettings& settings, JudgeMemory memory, uint32_t length);

/// A stride that visits all offsets, far from each other: the number nearest to 0.382 * members that shares
/// no factor with it.
uint32_t default_stride(uint32_t members);

}  // namespace weft::barrier
