// SPDX-License-Identifier: Apache-2.0
// weft mcast: trees and colours for multicast groups, or a check of tables that are there.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/command_line.hpp"
#include "common/input_file.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "mcast/baselines.hpp"
#include "mcast/batch.hpp"
#include "mcast/bounds.hpp"
#include "mcast/checker.hpp"
#include "mcast/figures.hpp"
#include "mcast/images.hpp"
#include "mcast/tables.hpp"
#include "switchtables/image_folder.hpp"
#include "topology/spec.hpp"
#include "weft/command.hpp"
#include "weft/mcast_text.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;
using topology::Graph;

struct McastArguments {
  CommonOptions common;
  std::string topology, groups, colours = "inf", engine = "mr4lms", merge = "rebuild", merge_with = "similar";
  std::string mft_file, mcfdbs_file, images_folder, tables_file;
  uint32_t threads = 1, first_mlid = mcast::first_mlid;
  double optimise = 0;  // seconds
  bool check = false, per_port = false;
};

uint32_t colours_of(const std::string& text) {
  return text == "inf" ? mcast::no_limit : static_cast<uint32_t>(std::stoul(text));
}

CLI::Validator colours_limit() {
  const auto number = command_line::whole_number(1, mcast::most_colours);
  return {[number](std::string& text) {
            const bool fits = text == "inf" || number(text).empty();
            return fits ? std::string()
                        : fmt::format("'{}' is neither inf nor a whole number from 1 to {}", text,
                                      mcast::most_colours);
          },
          ""};
}

std::optional<mcast::Baseline> baseline_of(const std::string& engine) {
  if (engine == "minhop") return mcast::Baseline::minhop;
  if (engine == "sssp") return mcast::Baseline::sssp;
  if (engine == "sssp-load") return mcast::Baseline::sssp_load;
  return std::nullopt;
}

mcast::RouterOptions options_of(const McastArguments& arguments) {
  mcast::RouterOptions options;
  using mcast::Algorithm;
  options.algorithm = arguments.engine == "paper"  ? Algorithm::paper
                      : arguments.engine == "fbtc" ? Algorithm::fbtc
                      : arguments.engine == "fctb" ? Algorithm::fctb
                                                   : Algorithm::weft;
  options.colours = colours_of(arguments.colours);
  options.tables = arguments.per_port ? mcast::Tables::of_port : mcast::Tables::of_switch;
  options.merging.how =
      arguments.merge == "graft" ? mcast::Merging::How::graft : mcast::Merging::How::rebuild;
  options.merging.with = arguments.merge_with == "least-loaded" ? mcast::Merging::With::least_loaded
                                                                : mcast::Merging::With::similar;
  options.threads = arguments.threads;
  return options;
}

/// What was made, and how long it took.
struct Routed {
  json results;
  mcast::FabricTables tables;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Routed route(const Graph& graph, const mcast::Groups& groups, const McastArguments& arguments) {
  auto start = std::chrono::steady_clock::now();
  const mcast::Hops hops(graph, arguments.threads);
  const double start_seconds = seconds_since(start);
  Progress progress("routing");
  const auto show = [&progress](std::string_view, uint32_t done, uint32_t of) { progress.show(done, of); };
  const auto options = options_of(arguments);
  Routed routed;
  std::clock_t clock = 0;
  const auto finish = [&](const mcast::Forest& forest) {
    const double seconds = seconds_since(start);
    const double cpu_seconds = static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC;
    routed.results =
        results_of(mcast::figures_of(forest), mcast::colour_bounds(hops, groups, options.tables));
    routed.results["start_seconds"] = start_seconds;
    routed.results["route_seconds"] = seconds;
    routed.results["seconds_per_group"] = seconds / groups.count();
    routed.results["cpu_seconds"] = cpu_seconds;
    routed.tables = mcast::tables_of(forest);
    routed.tables.limit = options.colours;
  };
  start = std::chrono::steady_clock::now();
  clock = std::clock();
  if (const auto baseline = baseline_of(arguments.engine)) {
    mcast::Forest forest(graph, mcast::no_limit, mcast::Tables::of_switch);
    mcast::route_baseline(forest, hops, groups, *baseline,
                          [&progress](uint32_t done, uint32_t of) { progress.show(done, of); });
    finish(forest);
  } else {
    finish(mcast::route_together(hops, groups, {options, arguments.optimise, arguments.common.seed, show}));
  }
  return routed;
}

/// All that was asked for, or nothing. @param results none: no JSON
void write_files(const McastArguments& arguments, const mcast::FabricTables& tables, const Graph& graph,
                 const json* results) {
  std::vector<OutputFile> files;
  if (!arguments.images_folder.empty())
    files =
        switchtables::folder_files(arguments.images_folder, mcast::images_of(tables, graph), tables.groups);
  if (!arguments.mft_file.empty()) files.push_back({arguments.mft_file, mcast::write_tables(tables, graph)});
  if (!arguments.mcfdbs_file.empty())
    files.push_back({arguments.mcfdbs_file, mcast::write_mcfdbs(tables, graph, arguments.first_mlid)});
  if (results != nullptr && !arguments.common.json_file.empty())
    files.push_back({arguments.common.json_file, text_of(*results)});
  std::optional<NewFolder> folder;
  if (!arguments.images_folder.empty()) folder.emplace(arguments.images_folder);
  write_whole(files);
  if (folder) folder->keep();
}

/// Says what is wrong, on standard error. @return whether nothing is
bool is_right(const Graph& graph, const mcast::Groups& groups, const mcast::FabricTables& tables) {
  const auto findings = mcast::check(graph, groups, tables);
  for (const std::string& finding : findings) fmt::print(stderr, "weft: {}\n", finding);
  return findings.empty();
}

int run_mcast(const McastArguments& arguments) {
  const bool limited = arguments.colours != "inf" || arguments.per_port;
  if (baseline_of(arguments.engine) && limited)
    throw BadInput(fmt::format("--engine {}: knows neither --colors nor --per-port", arguments.engine));
  if (arguments.optimise > 0 && (arguments.engine != "mr4lms" || arguments.per_port))
    throw BadInput("--optimize: works for --engine mr4lms without --per-port only");
  const Graph graph = topology::load(arguments.topology);
  const mcast::Groups groups = mcast::load_groups(arguments.groups, graph);
  if (!arguments.tables_file.empty()) {
    auto tables = mcast::read_tables(read_whole<Fault>(arguments.tables_file), arguments.tables_file, graph);
    tables.limit = std::min(tables.limit, colours_of(arguments.colours));
    if (!is_right(graph, groups, tables)) return check_failed;
    write_files(arguments, tables, graph, nullptr);
    return ok;
  }
  Routed routed = route(graph, groups, arguments);
  json& results = routed.results;
  results["topology"] = arguments.topology;
  results["group_spec"] = arguments.groups;
  results["engine"] = arguments.engine;
  results["colors"] = arguments.colours == "inf" ? json("inf") : json(colours_of(arguments.colours));
  results["hosts"] = graph.hosts();
  results["switches"] = graph.switches();
  results["threads"] = arguments.threads;
  results["seed"] = arguments.common.seed;
  const bool right = !arguments.check || is_right(graph, groups, routed.tables);
  if (arguments.check) results["checked"] = right;
  if (!right) return check_failed;
  write_files(arguments, routed.tables, graph, &results);
  fmt::print("{}", to_lines(results));
  return ok;
}

void add_files(CLI::App& command, McastArguments& arguments) {
  command.add_option("--mft", arguments.mft_file, "write the tables of all switches to FILE (docs/mcast.md)")
      ->type_name("FILE")
      ->check(command_line::result_file());
  command.add_option("--mcfdbs", arguments.mcfdbs_file, "write them as OpenSM dumps its own")
      ->type_name("FILE")
      ->check(command_line::result_file());
  command
      .add_option("--first-mlid", arguments.first_mlid, "MLID of color 0 in --mcfdbs, 0xC000 if not given")
      ->type_name("MLID")
      ->check(command_line::hexadecimal_number(mcast::first_mlid, mcast::last_mlid));
  command
      .add_option("--images", arguments.images_folder,
                  "write an image for the lookup block of each switch into FOLDER, which is made if missing")
      ->type_name("FOLDER")
      ->check(command_line::file_name());
  command
      .add_option("--tables", arguments.tables_file, "check these tables, which --mft wrote; route nothing")
      ->type_name("FILE")
      ->check(command_line::file_name());
  command.add_flag("--check", arguments.check,
                   "send a packet from every member of every group along the tables");
}

}  // namespace

void add_mcast(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand("mcast", "multicast trees and table entries (docs/mcast.md)");
  auto arguments = std::make_shared<McastArguments>();
  command->add_option("--topology", arguments->topology, topology::spec_forms)->type_name("SPEC")->required();
  command->add_option("--groups", arguments->groups, mcast::group_forms)->type_name("SPEC")->required();
  command->add_option("--colors", arguments->colours, "table entries of a switch: 1 to 16384, or inf")
      ->type_name("N")
      ->check(colours_limit())
      ->capture_default_str();
  command->add_option("--engine", arguments->engine, "how trees are built")
      ->check(CLI::IsMember({"mr4lms", "paper", "fbtc", "fctb", "minhop", "sssp", "sssp-load"}))
      ->capture_default_str();
  command->add_option("--merge", arguments->merge, "what becomes of trees that groups are merged on")
      ->check(CLI::IsMember({"rebuild", "graft"}))
      ->capture_default_str();
  command
      ->add_option("--merge-with", arguments->merge_with, "which tree a group without color is merged with")
      ->check(CLI::IsMember({"similar", "least-loaded"}))
      ->capture_default_str();
  command->add_flag("--per-port", arguments->per_port, "each port of a switch has a table of its own");
  command->add_option("--threads", arguments->threads, "the result is the same for any number")
      ->type_name("N")
      ->check(command_line::whole_number(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--optimize", arguments->optimise,
                   "seconds to spend on fewer colors by moving trees; the result depends on the machine then")
      ->type_name("SECONDS")
      ->check(command_line::within(0, 1e6));
  add_files(*command, *arguments);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_mcast(*arguments); });
}

}  // namespace weft::cli
