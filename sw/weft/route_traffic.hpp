// SPDX-License-Identifier: Apache-2.0
// Uniform traffic through a two-dimensional fat tree with these tables, for weft route --load.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchfabric/switch_fabric.hpp"

namespace weft::cli {

struct TrafficArguments {
  double load = 0;  ///< packets a clock and host; 0: no traffic is wanted
  uint32_t clocks = 2000;
  switchfabric::Config fabric = {.buffer = 128};
};

/// Each host that is alive sends to hosts that are, at random. Measured is the second half of the clocks.
nlohmann::json run_traffic(const TrafficArguments& arguments, const route::Tables& tables,
                           const route::Health& alive);

}  // namespace weft::cli
