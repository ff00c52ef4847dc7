// SPDX-License-Identifier: Apache-2.0
// All groups of a fabric at once: routed, then improved, then, if colours do not suffice, merged.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "mcast/forest.hpp"
#include "mcast/groups.hpp"
#include "mcast/hops.hpp"
#include "mcast/router.hpp"

namespace weft::mcast {

struct BatchOptions {
  RouterOptions router;
  double seconds = 0;  ///< that may be spent, beyond routing, on fewer colours; only for tables of switches
  uint64_t seed = 1;   ///< of what is tried then
  /// Told what is done, and how far it is.
  std::function<void(std::string_view what, uint32_t done, uint32_t of)> progress;
};

/// Algorithm::weft first does without a limit of colours. If it then needs more than there are, at most twice
/// as many, it tries to do with fewer (so many tries for each group, so that the result does not depend on
/// the machine), then keeps the colours of the most groups and merges only the groups of the others; if even
/// more, all are routed anew with the limit. The seconds come after the tries; what comes out is in no figure
/// worse than without them.
/// @return trees with colours below the limit
Forest route_together(const Hops& hops, const Groups& groups, const BatchOptions& options);

}  // namespace weft::mcast
