// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree as command lines ask for it, and its results as JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "route/fault_options.hpp"
#include "switchfabric/run.hpp"

namespace weft::switchfabric {

struct TrafficArguments {
  std::string pattern = "uniform";
  RunConfig run;      ///< load 0: no traffic is wanted
  bool live = false;  ///< new faults strike
};

/// --load, --pattern, --clocks, ..., --strike and what goes with it.
void add_traffic_options(CLI::App& command, TrafficArguments& traffic);

/// Each new fault strikes by itself. Throws Fault for strikes without a fault, after the traffic, or that
/// leave no leaf alive.
RunConfig run_config(const TrafficArguments& traffic, const route::Health& known,
                     const route::FaultTexts& news, uint64_t seed);

/// Runs, shows progress on a terminal, and says what came of it.
nlohmann::json run_traffic(const RunConfig& config, const route::Tables& tables, const route::Health& alive);

/// Of these results: packets wait for each other, or go round, for ever.
bool stands_still(const nlohmann::json& traffic);

/// A few lines of these results.
std::string to_lines(const nlohmann::json& traffic);

}  // namespace weft::switchfabric
