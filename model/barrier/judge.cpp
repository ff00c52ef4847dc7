// SPDX-License-Identifier: Apache-2.0
// The root's decision about the next offset.
#include "barrier/judge.hpp"

#include <cmath>
#include <numeric>

namespace weft::barrier {

JudgeMemory judge_start(const JudgeSettings& settings) {
  JudgeMemory memory;
  memory.tries_left = settings.tries;
  return memory;
}

JudgeMemory judge(const JudgeSettings& settings, JudgeMemory memory, uint32_t length) {
  if (memory.holding && length <= memory.best_length) return memory;
  if (memory.holding) {  // a link has broken: search again, what was best counts no more
    memory.holding = false;
    memory.tries_left = settings.tries;
    memory.best_length = length_limit;
  }
  if (length < memory.best_length || memory.best_length == length_limit) {
    memory.best_length = length;
    memory.best_offset = memory.offset;
  }
  if (memory.best_length <= settings.good || memory.tries_left == 0) {
    memory.holding = true;
    memory.offset = memory.best_offset;
  } else {
    memory.tries_left--;
    const uint32_t next = memory.offset + settings.stride;
    memory.offset = next >= settings.offsets ? next - settings.offsets : next;
  }
  return memory;
}

uint32_t default_stride(uint32_t members) {
  const auto ideal = static_cast<uint32_t>(std::lround(0.381966 * members));
  for (uint32_t away = 0; away < members; away++) {
    if (std::gcd(ideal + away, members) == 1) return (ideal + away) % members;
    if (ideal > away && std::gcd(ideal - away, members) == 1) return ideal - away;
  }
  return 0;
}

}  // namespace weft::barrier
