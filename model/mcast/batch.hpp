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

/// Without a limit of colours: routed, then improved for so many seconds. With one, Algorithm::weft first
/// does without; only if more colours are needed, also after some tries to do with fewer (as many as there
/// are groups, many times over, so that the result does not depend on the machine; none if more than twice
/// the limit are needed), groups are merged.
/// @return trees with colours below the limit
Forest route_together(const Hops& hops, const Groups& groups, const BatchOptions& options);

}  // namespace weft::mcast
