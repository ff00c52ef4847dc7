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
#include "switchtables/fault_options.hpp"
#include "topology/spec.hpp"
#include "trace/record.hpp"

namespace weft::sim {

namespace {

struct Options {
  tb::FabricConfig config;
  switchtables::FaultTexts fail, new_fail;
  std::string lookup = "rtl", flaw = "none", masks = "destination", json;
  uint32_t channels = 2;
};

void read_faults(Options& options) {
  tb::FabricConfig& config = options.config;
  if (!any(options.fail) && !any(options.new_fail)) return;
  const switchtables::Fabric whole(config.topology);
  switchtables::Faults faults(whole.graph());
  apply(faults, whole, config.topology, options.fail);
  if (any(options.fail)) config.known = faults;
  if (!any(options.new_fail)) return;
  const switchtables::Faults before = faults;
  apply(faults, whole, config.topology, options.new_fail);
  if (faults == before) throw BadInput("--new-fail: all of it has failed before (--fail)");
  config.later = faults;
  config.update = true;
}

/// What would change nothing is a mistake.
void refuse_idle_options(const Options& options) {
  const tb::FabricConfig& config = options.config;
  if (config.flaw == tb::Flaw::hasty && !config.update)
    throw BadInput("--flaw hasty: only with --update there are new trees");
  if (!config.traces.empty() && !config.rtl)
    throw BadInput("--trace: only with --lookup rtl there are traces");
  if (!config.images.empty() && config.update)
    throw BadInput("--images: tables are loaded as they are, without --update, --new-fail");
  const bool grid = config.topology.starts_with("kfat2d:");
  if (!grid && options.masks != "destination") throw BadInput("--masks: of a kfat2d only");
  if (!grid && options.channels != 2) throw BadInput("--channels: of a kfat2d only");
}

nlohmann::json to_json(const tb::FabricPass& pass) {
  return {{"pass", pass.name},
          {"multicast_packets", pass.multicast_packets},
          {"by_new_trees", pass.by_new_trees},
          {"copies", pass.copies},
          {"foreign_copies", pass.foreign},
          {"cut_off_copies", pass.cut_off},
          {"unicast_packets", pass.unicast_packets},
          {"arrived", pass.arrived},
          {"pairs", pass.pairs},
          {"pairs_without_promise", pass.lossy},
          {"lost", pass.lost},
          {"wrong", pass.wrong},
          {"max_hops", pass.max_hops},
          {"promised_hops", pass.promised_hops},
          {"updates", pass.updates},
          {"updates_in_flight", pass.updates_in_flight},
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
          {"images", options.config.images},
          {"lookup", options.lookup},
          {"seed", options.config.seed},
          {"flaw", options.flaw},
          {"per_port", options.config.per_port},
          {"switches", result.switches},
          {"hosts", result.hosts},
          {"hosts_left_out", result.left_out},
          {"groups", result.groups},
          {"merged_groups", result.merged_groups},
          {"colors", result.colours},
          {"block_ports", result.block_ports},
          {"passes", passes},
          {"images_changed", result.images_changed},
          {"unicast_images_changed", result.unicast_changed},
          {"trees_changed", result.trees_changed},
          {"lookups", lookups},
          {"clocks", result.clocks},
          {"lookups_per_second", static_cast<double>(lookups) / std::max(1e-6, result.seconds)},
          {"ok", result.ok()}};
}

void print(const nlohmann::json& json) {
  fmt::print("{} switches with lookup blocks of {} ports ({}), {} hosts, {} groups in {} colors\n",
             json["switches"].dump(), json["block_ports"].dump(), json["lookup"].get<std::string>(),
             json["hosts"].dump(), json["groups"].dump(), json["colors"].dump());
  if (json["hosts_left_out"] != 0)
    fmt::print("  hosts left out             {}, behind ports beyond 64\n", json["hosts_left_out"].dump());
  if (json["merged_groups"] != 0)
    fmt::print("  groups that share trees    {}\n", json["merged_groups"].dump());
  for (const auto& pass : json["passes"]) {
    fmt::print("  {}\n", pass["pass"].get<std::string>());
    if (pass["multicast_packets"] != 0)
      fmt::print("    multicast                {} packets, {} copies to members, {} to others\n",
                 pass["multicast_packets"].dump(), pass["copies"].dump(), pass["foreign_copies"].dump());
    if (pass["by_new_trees"] != 0 || pass["cut_off_copies"] != 0)
      fmt::print("    by new trees             {} packets; old ones do not lead to {} members\n",
                 pass["by_new_trees"].dump(), pass["cut_off_copies"].dump());
    fmt::print("    unicast                  {} packets of {} pairs, {} arrived, {} lost\n",
               pass["unicast_packets"].dump(), pass["pairs"].dump(), pass["arrived"].dump(),
               pass["lost"].dump());
    fmt::print("    hops                     at most {}, promised {}\n", pass["max_hops"].dump(),
               pass["promised_hops"].dump());
    if (pass["pairs_without_promise"] != 0)
      fmt::print("    without promise          {} pairs of a switch and a host\n",
                 pass["pairs_without_promise"].dump());
    if (pass["updates"] != 0)
      fmt::print("    updates between lookups  {} of {}\n", pass["updates_in_flight"].dump(),
                 pass["updates"].dump());
    fmt::print("    wrong                    {}\n", pass["wrong"].dump());
  }
  if (json["images_changed"] != 0)
    fmt::print("  new tables                 {} images differ, {} of them in unicast, and {} trees\n",
               json["images_changed"].dump(), json["unicast_images_changed"].dump(),
               json["trees_changed"].dump());
  fmt::print("  lookups                    {}, {:.0f} a second\n", json["lookups"].dump(),
             json["lookups_per_second"].get<double>());
}

int run(Options& options, const std::vector<std::string>& arguments) {
  try {
    options.config.rtl = options.lookup == "rtl";
    options.config.flaw = tb::flaw_of(options.flaw);
    options.config.routes.masks = options.masks == "line" ? route::Masks::line : route::Masks::destination;
    options.config.routes.channels = static_cast<uint8_t>(options.channels);
    read_faults(options);
    refuse_idle_options(options);
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
  command
      ->add_option("--images", config.images,
                   "load the tables that `weft images` wrote into FOLDER for the same fabric, groups, faults")
      ->type_name("FOLDER")
      ->check(command_line::file_name());
  command->add_option("--lookup", options->lookup, "rtl: beside the golden model; golden: that alone")
      ->check(CLI::IsMember({"rtl", "golden"}))
      ->capture_default_str();
  switchtables::add_fault_options(*command, "fail", ", as tables know", options->fail);
  switchtables::add_fault_options(*command, "new-fail", " later; implies --update", options->new_fail);
  command->add_flag("--update", config.update, "then replace all tables while packets fly");
  command
      ->add_option("--in-flight", config.in_flight,
                   "share of updates that has to come into use between lookups of a pass")
      ->type_name("SHARE")
      ->check(command_line::within(0, 1))
      ->capture_default_str();
  command
      ->add_option("--colors", config.colours,
                   "of trees; those of an update need as many more [all that blocks have]")
      ->type_name("N")
      ->check(whole_number(1, 65536));
  command->add_flag("--merged", config.merged,
                    "groups may share trees if colors are too few: hosts of each get packets to all of them");
  command->add_flag("--per-port", config.per_port, "a multicast table for each input port of a switch");
  command
      ->add_option("--masks", options->masks,
                   "backups of a kfat2d are kept for each destination, or its line")
      ->check(CLI::IsMember({"line", "destination"}))
      ->capture_default_str();
  command->add_option("--channels", options->channels, "virtual channels of a kfat2d")
      ->check(whole_number(2, 3))
      ->capture_default_str();
  command
      ->add_option("--pairs", config.most_pairs, "pairs of hosts at most, drawn at random if there are more")
      ->check(whole_number(1))
      ->capture_default_str();
  command
      ->add_option(
          "--flaw", options->flaw,
          "a mistake on purpose, which has to be found: a bit of a multicast entry, an entry or a "
          "unicast entry missing, a hop too few promised, senders that use new trees too early, a bit in "
          "the golden model of a block")
      ->check(CLI::IsMember({"none", "bit", "entry", "unicast", "promise", "hasty", "model"}))
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
