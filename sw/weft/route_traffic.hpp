// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree with these tables, for weft route --load.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "switchfabric/run.hpp"

namespace weft::cli {

struct TrafficArguments {
  std::string pattern = "uniform";
  switchfabric::RunConfig run;  ///< load 0: no traffic is wanted
  bool live = false;            ///< new faults strike
};

nlohmann::json run_traffic(const switchfabric::RunConfig& config, const route::Tables& tables,
                           const route::Health& alive);

}  // namespace weft::cli
