// SPDX-License-Identifier: Apache-2.0
// weft-sim switch: lookup blocks of a whole fabric, with the tables that its generators make.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "mcast/groups.hpp"
#include "rdma_run.hpp"
#include "report.hpp"
#include "route/fault_options.hpp"
#include "switch/fabric_run.hpp"
#include "switch/lookup_block.hpp"
#include "topology/spec.hpp"
#include "trace/record.hpp"

namespace weft::sim {

namespace {

struct Options {
  tb::FabricConfig config;
  route::FaultTexts fail, new_fail;
  std::string lookup = "rtl", flaw = "none", json;
};

void read_faults(Options& options) {
  tb::FabricConfig& config = options.config;
  if (!route::any(options.fail) && !route::any(options.new_fail)) return;
  route::Health health(route::grid_of(config.topology));
  route::apply(health, options.fail);
  if (route::any(options.fail)) config.known = health;
  if (!route::any(options.new_fail)) return;
  route::apply(health, options.new_fail);
  config.later = health;
  config.update = true;
}

nlohmann::json to_json(const tb::FabricPass& pass) {
  return {{"pass", pass.name},         {"multicast_packets", pass.multicast_packets},
          {"copies", pass.copies},     {"unicast_packets", pass.unicast_packets},
          {"arrived", pass.arrived},   {"pairs", pass.pairs},
          {"lost", pass.lost},         {"wrong", pass.wrong},
          {"max_hops", pass.max_hops}, {"promised_hops", pass.promised_hops},
          {"lookups", pass.lookups}};
}

nlohmann::json to_json(const Options& options, const tb::FabricResult& result) {
  nlohmann::json passes = nlohmann::json::array();
  uint64_t lookups = 0;
  for (const tb::FabricPass& pass : result.passes) {
    passes.push_back(to_json(pass));
    lookups += pass.lookups;
  }
  return {{"topology", options.config.topology},
          {"groups_spec", options.config.groups},
          {"lookup", options.lookup},
          {"seed", options.config.seed},
          {"flaw", options.flaw},
          {"per_port", options.config.per_port},
          {"switches", result.switches},
          {"hosts", result.hosts},
          {"groups", result.groups},
          {"colors", result.colours},
          {"block_ports", result.block_ports},
          {"passes", passes},
          {"images_updated", result.images_updated},
          {"lookups", lookups},
          {"clocks", result.clocks},
          {"lookups_per_second", static_cast<double>(lookups) / std::max(1e-6, result.seconds)},
          {"ok", result.ok()}};
}

void print(const nlohmann::json& json) {
  fmt::print("{} switches with lookup blocks of {} ports ({}), {} hosts, {} groups in {} colors\n",
             json["switches"].dump(), json["block_ports"].dump(), json["lookup"].get<std::string>(),
             json["hosts"].dump(), json["groups"].dump(), json["colors"].dump());
  for (const auto& pass : json["passes"]) {
    fmt::print("  {}\n", pass["pass"].get<std::string>());
    if (pass["multicast_packets"] != 0)
      fmt::print("    multicast                {} packets, {} copies to members\n",
                 pass["multicast_packets"].dump(), pass["copies"].dump());
    fmt::print("    unicast                  {} packets of {} pairs, {} arrived, {} lost\n",
               pass["unicast_packets"].dump(), pass["pairs"].dump(), pass["arrived"].dump(),
               pass["lost"].dump());
    fmt::print("    hops                     at most {}, promised {}\n", pass["max_hops"].dump(),
               pass["promised_hops"].dump());
    fmt::print("    wrong                    {}\n", pass["wrong"].dump());
  }
  fmt::print("  lookups                    {}, {:.0f} a second\n", json["lookups"].dump(),
             json["lookups_per_second"].get<double>());
}

int run(Options& options, const std::vector<std::string>& arguments) {
  try {
    options.config.rtl = options.lookup == "rtl";
    options.config.flaw = tb::flaw_of(options.flaw);
    read_faults(options);
    if (!options.config.traces.empty()) std::filesystem::create_directories(options.config.traces);
    const tb::FabricResult result = tb::run_fabric(options.config);
    const nlohmann::json json = to_json(options, result);
    print(json);
    if (!options.json.empty()) write_json(options.json, json);
    for (const std::string& finding : result.findings) fmt::print(stderr, "weft-sim: {}\n", finding);
    if (!result.ok()) fmt::print(stderr, "{}\n", reproduction(arguments));
    return result.ok() ? exit_ok : exit_failed;
  } catch (const Fault& fault) {
    throw BadInput(fault.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw BadInput(fmt::format("--trace {}: {}", options.config.traces, error.code().message()));
  } catch (const trace::Fault& fault) {
    throw BadInput(fault.what());
  }
}

}  // namespace

Command add_switch_command(CLI::App& app) {
  using command_line::whole_number;
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("switch", "Packets of all groups and pairs through the lookup blocks of a fabric");
  tb::FabricConfig& config = options->config;
  command->add_option("--topology", config.topology, topology::spec_forms)->type_name("SPEC")->required();
  command->add_option("--groups", config.groups, mcast::group_forms)->type_name("SPEC")->required();
  command->add_option("--lookup", options->lookup, "rtl: beside the golden model; golden: that alone")
      ->check(CLI::IsMember({"rtl", "golden"}))
      ->capture_default_str();
  route::add_fault_options(*command, "fail", ", as tables know (kfat2d)", options->fail);
  route::add_fault_options(*command, "new-fail", " later; implies --update (kfat2d)", options->new_fail);
  command->add_flag("--update", config.update, "then replace all tables while packets fly");
  command->add_flag("--per-port", config.per_port, "a multicast table for each input port of a switch");
  command->add_option("--channels", config.channels, "virtual channels of a kfat2d")
      ->check(whole_number(2, 3))
      ->capture_default_str();
  command
      ->add_option("--pairs", config.most_pairs, "pairs of hosts at most, drawn at random if there are more")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--flaw", options->flaw,
                   "a mistake on purpose, which has to be found: a bit of a multicast entry, an entry or a "
                   "unicast entry missing, a hop too few promised, a bit in the golden model of a block")
      ->check(CLI::IsMember({"none", "bit", "entry", "unicast", "promise", "model"}))
      ->capture_default_str();
  command->add_option("--threads", config.threads, "that look up; same result")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command->add_option("--seed", config.seed, "same seed, same run")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--trace", config.traces, "folder for traces of RTL and golden model of every block")
      ->check(command_line::file_name());
  command->add_option("--json", options->json, "result as JSON")->check(command_line::result_file());
  return [options](const std::vector<std::string>& arguments) { return run(*options, arguments); };
}

}  // namespace weft::sim
