// SPDX-License-Identifier: Apache-2.0
// Traffic through a two-dimensional fat tree.
#include "weft/route_traffic.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

#include "weft/progress.hpp"

namespace weft::cli {

namespace {

using nlohmann::json;
using switchfabric::LiveReport;

double share(uint64_t part, uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Clocks from the first strike on; nothing if it never came to it.
json since_strike(const LiveReport& live, uint64_t clock) {
  return clock > 0 ? json(clock - live.first_strike) : json(nullptr);
}

json to_json(const LiveReport& live) {
  json dropped = json::object(), ring = json::array();
  for (std::size_t why = 0; why < live.dropped.size(); ++why)
    if (live.dropped[why] > 0)
      dropped[std::string(switch_lookup::formats::name(static_cast<route::Outcome>(why)))] =
          live.dropped[why];
  for (const route::Channel& channel : live.deadlock) ring.push_back(route::name_of(channel));
  return {{"sent", live.sent},
          {"arrived", live.arrived},
          {"detoured", live.detoured},
          {"twice", live.twice},
          {"struck", live.struck},
          {"to_dead", live.to_dead},
          {"dropped", dropped},
          {"left", live.left},
          {"last_loss_clocks", since_strike(live, live.last_loss)},
          {"last_loss_to_dead_clocks", since_strike(live, live.last_loss_to_dead)},
          {"tables_done_clocks", since_strike(live, live.tables_done)},
          {"rewritten_switches", live.rewritten},
          {"deadlock", ring},
          {"deadlock_clocks", since_strike(live, live.deadlock_clock)}};
}

}  // namespace

json run_traffic(const switchfabric::RunConfig& config, const route::Tables& tables,
                 const route::Health& alive) {
  Progress progress("traffic");
  const std::clock_t start = std::clock();
  const auto [flow, live] =
      run(tables, alive, config, [&](uint64_t clock, uint64_t total) { progress.show(clock, total); });
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  json results = {{"load", config.load},
                  {"planes", config.fabric.planes},
                  {"senders", flow.senders},
                  {"accepted", share(flow.arrived, flow.host_clocks)},
                  {"mean_latency_clocks", share(flow.latency, flow.arrived)},
                  {"mean_switches", share(flow.switches, flow.arrived)},
                  {"detoured", share(flow.detoured, flow.arrived)},
                  {"dropped", flow.dropped},
                  {"clocks", config.clocks},
                  {"clocks_per_cpu_second", seconds > 0 ? config.clocks / seconds : 0}};
  if (!config.strikes.empty()) results["live"] = to_json(live);
  return results;
}

}  // namespace weft::cli
