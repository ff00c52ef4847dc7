// SPDX-License-Identifier: Apache-2.0
// weft-sim route: traffic through a two-dimensional fat tree whose switches are lookup blocks.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "rdma_run.hpp"
#include "report.hpp"
#include "route/fault_options.hpp"
#include "switch/fabric_unit.hpp"
#include "switch/lookup_block.hpp"
#include "switchfabric/traffic_options.hpp"

namespace weft::sim {

namespace {

struct Options {
  std::string topology, masks = "destination", json;
  uint32_t channels = 2;
  route::FaultTexts known, news;
  switchfabric::TrafficArguments traffic;
  std::vector<std::string> golden;
  uint64_t seed = 1;
};

uint32_t switches_of(const route::Grid& grid, uint32_t planes) {
  return grid.leaves() + grid.roots() * planes;
}

nlohmann::json run_all(const Options& options) {
  const route::Grid grid = route::grid_of(options.topology);
  route::Health known(grid);
  route::apply(known, options.known);
  route::Options routes;
  routes.masks = options.masks == "line" ? route::Masks::line : route::Masks::destination;
  routes.channels = static_cast<uint8_t>(options.channels);
  const route::Tables tables = route::make_tables(known, routes);
  const uint32_t switches = switches_of(grid, options.traffic.run.fabric.planes);
  const std::set<uint32_t> golden = golden_of(options.golden, switches, "switch");
  if (route::any(options.news) && !options.traffic.live) throw Fault("--new-fail: needs --strike");
  auto config = switchfabric::run_config(options.traffic, known, options.news, options.seed);
  config.unit = tb::lookup_units(golden, options.seed);
  nlohmann::json json = switchfabric::run_traffic(config, tables, known);
  json.update({{"topology", options.topology},
               {"pattern", options.traffic.pattern},
               {"masks", options.masks},
               {"virtual_channels", options.channels},
               {"switches", switches},
               {"golden_switches", golden.size()},
               {"seed", options.seed}});
  return json;
}

int run(const Options& options, const std::vector<std::string>& arguments) {
  try {
    const nlohmann::json json = run_all(options);
    fmt::print(
        "switches     {}, of them golden model {}, the others RTL beside it: {} lookups, none differs\n{}",
        json["switches"].dump(), json["golden_switches"].dump(), json["lookups"].dump(),
        switchfabric::to_lines(json));
    if (!options.json.empty()) write_json(options.json, json);
    return switchfabric::stands_still(json) ? exit_failed : exit_ok;
  } catch (const Fault& fault) {
    throw BadInput(fault.what());
  } catch (const tb::LookupMismatch& mismatch) {
    fmt::print(stderr, "weft-sim: {}\n{}\n", mismatch.what(), reproduction(arguments));
    return exit_failed;
  }
}

}  // namespace

Command add_route_command(CLI::App& app) {
  using command_line::whole_number;
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "route", "Traffic through a two-dimensional fat tree, each switch a lookup block with its tables");
  command->add_option("--topology", options->topology, "kfat2d:RxC:H or kfat2d:RxC:H:ExS")
      ->type_name("SPEC")
      ->required();
  route::add_fault_options(*command, "fail", "", options->known);
  route::add_fault_options(*command, "new-fail", ", of which the tables do not know yet", options->news);
  command->add_option("--masks", options->masks, "backups for each destination, or for a whole row or column")
      ->check(CLI::IsMember({"destination", "line"}))
      ->capture_default_str();
  command->add_option("--channels", options->channels, "virtual channels")
      ->check(whole_number(2, 3))
      ->capture_default_str();
  command->add_option(
      "--golden", options->golden,
      "switches that are the golden model itself instead of RTL, or all: leaves by number, then "
      "row switches by row and plane, then column switches; same results");
  switchfabric::add_traffic_options(*command, options->traffic);
  command->get_option("--load")->required();
  command->add_option("--seed", options->seed, "same seed, same run")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--json", options->json, "result as JSON")->check(command_line::result_file());
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim
