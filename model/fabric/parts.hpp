// SPDX-License-Identifier: Apache-2.0
// Threads that step parts of a model, clock by clock.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::fabric {

/// Nodes of one part, `first` to `behind` - 1.
struct Part {
  uint32_t number;
  uint32_t first;
  uint32_t behind;
};

/// Steps a model of `nodes` nodes in `parts` parts of as equal size as can be, at most one a node, each by a
/// thread of its own; with one part no thread is made.
///
/// Every clock `step` is called once for each part, at the same time, and then, when all have returned,
/// `between` once, until that returns false. What either throws ends the run and is thrown here; of several
/// at once that of the first part. Throws std::runtime_error, before any step, if there cannot be so many
/// threads.
/// @param parts at least 1
void run_in_parts(uint32_t nodes, uint32_t parts, const std::function<void(const Part&)>& step,
                  const std::function<bool()>& between);

}  // namespace weft::fabric
