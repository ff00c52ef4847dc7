// SPDX-License-Identifier: Apache-2.0
// Uniform traffic through a two-dimensional fat tree.
#include "weft/route_traffic.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

#include "weft/progress.hpp"

namespace weft::cli {

using nlohmann::json;

json run_traffic(const TrafficArguments& arguments, const route::Tables& tables, const route::Health& alive) {
  const route::Grid& grid = alive.grid();
  std::vector<uint32_t> live;
  for (uint32_t host = 0; host < grid.leaves() * grid.hosts; ++host)
    if (alive.alive(grid.leaf(host / grid.hosts))) live.push_back(host);
  switchfabric::SwitchFabric fabric(tables, alive, arguments.fabric);
  RandomStream random(arguments.fabric.seed, 1);
  Progress progress("traffic");
  const uint32_t warm = arguments.clocks / 2;
  uint64_t arrived = 0, latency = 0;
  const std::clock_t start = std::clock();
  for (uint32_t clock = 0; clock < arguments.clocks; ++clock) {
    for (const uint32_t host : live)
      if (random.chance(arguments.load)) fabric.send(host, live[random.below(live.size())]);
    fabric.step();
    progress.show(clock, arguments.clocks);
    if (clock < warm) continue;
    for (const switchfabric::Delivered& packet : fabric.delivered()) {
      ++arrived;
      latency += packet.arrived - packet.sent;
    }
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  uint64_t dropped = 0;
  for (uint32_t why = 1; why < route::outcomes; ++why)
    dropped += fabric.dropped(static_cast<route::Outcome>(why));
  const double host_clocks = static_cast<double>(live.size()) * (arguments.clocks - warm);
  return {
      {"load", arguments.load},
      {"planes", arguments.fabric.planes},
      {"accepted", static_cast<double>(arrived) / host_clocks},
      {"mean_latency_clocks", arrived > 0 ? static_cast<double>(latency) / static_cast<double>(arrived) : 0},
      {"dropped", dropped},
      {"clocks", arguments.clocks},
      {"clocks_per_cpu_second", seconds > 0 ? arguments.clocks / seconds : 0}};
}

}  // namespace weft::cli
