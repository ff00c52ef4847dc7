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
#include "mcast/changes.hpp"
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
  std::string topology, groups, colours = "inf", engine = "mr4lms", merge, merge_with = "similar";
  std::string mft_file, mcfdbs_file, images_folder, tables_file, keep_file, kept_groups;
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
  const bool graft = arguments.merge.empty() ? !arguments.keep_file.empty() : arguments.merge == "graft";
  options.merging.how = graft ? mcast::Merging::How::graft : mcast::Merging::How::rebuild;
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

/// Trees that are there, and the groups that they are for.
struct Kept {
  mcast::Groups groups;
  mcast::FabricTables tables;
};

std::optional<Kept> kept_of(const Graph& graph, const McastArguments& arguments) {
  if (arguments.keep_file.empty()) return std::nullopt;
  Kept kept{mcast::load_groups(arguments.kept_groups, graph),
            mcast::read_tables(read_whole<Fault>(arguments.keep_file), arguments.keep_file, graph)};
  const bool per_port = kept.tables.kind == mcast::Tables::of_port;
  if (per_port != arguments.per_port)
    throw BadInput(fmt::format("--keep {}: has tables of {}, goes {} --per-port only", arguments.keep_file,
                               per_port ? "ports" : "switches", per_port ? "with" : "without"));
  if (const auto findings = mcast::check(graph, kept.groups, kept.tables); !findings.empty())
    throw BadInput(fmt::format("--keep {}: is not right for --kept-groups {} in this fabric: {}",
                               arguments.keep_file, arguments.kept_groups, findings.front()));
  return kept;
}

mcast::Forest with_changes(const mcast::Hops& hops, const mcast::RouterOptions& options, const Kept& kept,
                           const mcast::Groups& groups, json& told) {
  mcast::Changes changes;
  const auto before = mcast::forest_of(hops.graph(), kept.groups, kept.tables);
  auto forest = mcast::with_changes(hops, options, before, kept.groups, groups, changes);
  told = {
      {"same", changes.same}, {"changed", changes.changed}, {"gone", changes.gone}, {"new", changes.fresh}};
  return forest;
}

Routed route(const Graph& graph, const mcast::Groups& groups, const McastArguments& arguments) {
  const auto kept = kept_of(graph, arguments);
  auto start = std::chrono::steady_clock::now();
  const mcast::Hops hops(graph, arguments.threads);
  const double start_seconds = seconds_since(start);
  Progress progress("routing");
  const auto show = [&progress](std::string_view what, uint32_t done, uint32_t of) {
    progress.show(what, done, of);
  };
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
  } else if (kept) {
    json told;
    finish(with_changes(hops, options, *kept, groups, told));
    routed.results["kept_groups"] = told;
  } else {
    finish(mcast::route_together(hops, groups, {options, arguments.optimise, arguments.common.seed, show}));
  }
  return routed;
}

/// All that was asked for, or nothing.
void write_files(const McastArguments& arguments, const mcast::FabricTables& tables, const Graph& graph,
                 const json& results) {
  std::vector<OutputFile> files;
  if (!arguments.images_folder.empty())
    files =
        switchtables::folder_files(arguments.images_folder, mcast::images_of(tables, graph), tables.groups);
  if (!arguments.mft_file.empty()) files.push_back({arguments.mft_file, mcast::write_tables(tables, graph)});
  if (!arguments.mcfdbs_file.empty())
    files.push_back({arguments.mcfdbs_file, mcast::write_mcfdbs(tables, graph, arguments.first_mlid)});
  if (!arguments.common.json_file.empty()) files.push_back({arguments.common.json_file, text_of(results)});
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

/// Of tables that are there.
int check_tables(const Graph& graph, const mcast::Groups& groups, const McastArguments& arguments) {
  auto tables = mcast::read_tables(read_whole<Fault>(arguments.tables_file), arguments.tables_file, graph);
  tables.limit = std::min(tables.limit, colours_of(arguments.colours));
  if (!is_right(graph, groups, tables)) return check_failed;
  uint32_t colours = 0;
  std::size_t entries = 0, most = 0;
  for (const auto& own : tables.switches) {
    entries += own.size();
    most = std::max(most, own.size());
    for (const auto& entry : own) colours = std::max(colours, entry.colour + 1);
  }
  const json results = {{"topology", arguments.topology},   {"group_spec", arguments.groups},
                        {"groups", groups.count()},         {"local_groups", groups.local()},
                        {"colors_used", colours},           {"table_entries", entries},
                        {"most_entries_in_a_switch", most}, {"checked", true}};
  write_files(arguments, tables, graph, results);
  fmt::print("right for {} groups: {} colors, up to {} entries in a switch\n", groups.count(), colours, most);
  return ok;
}

int run_mcast(const McastArguments& arguments) {
  const bool limited = arguments.colours != "inf" || arguments.per_port;
  if (baseline_of(arguments.engine) && limited)
    throw BadInput(fmt::format("--engine {}: knows neither --colors nor --per-port", arguments.engine));
  if (!arguments.keep_file.empty() && (baseline_of(arguments.engine) || arguments.optimise > 0))
    throw BadInput("--keep: not with --optimize, nor with --engine minhop, sssp or sssp-load");
  if (arguments.optimise > 0 && (arguments.engine != "mr4lms" || arguments.per_port))
    throw BadInput("--optimize: works for --engine mr4lms without --per-port only");
  const Graph graph = topology::load(arguments.topology);
  const mcast::Groups groups = mcast::load_groups(arguments.groups, graph);
  if (!arguments.tables_file.empty()) return check_tables(graph, groups, arguments);
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
  write_files(arguments, routed.tables, graph, results);
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
      ->check(command_line::hexadecimal_number(mcast::first_mlid, mcast::last_mlid))
      ->needs(command.get_option("--mcfdbs"));
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
  auto* engine = command->add_option("--engine", arguments->engine, "how trees are built");
  engine->check(CLI::IsMember({"mr4lms", "paper", "fbtc", "fctb", "minhop", "sssp", "sssp-load"}))
      ->capture_default_str();
  auto* merge = command->add_option(
      "--merge", arguments->merge,
      "what becomes of trees that groups are merged on; if not given rebuild, with --keep graft");
  merge->check(CLI::IsMember({"rebuild", "graft"}));
  auto* merge_with = command->add_option("--merge-with", arguments->merge_with,
                                         "which tree a group without color is merged with");
  merge_with->check(CLI::IsMember({"similar", "least-loaded"}))->capture_default_str();
  auto* per_port =
      command->add_flag("--per-port", arguments->per_port, "each port of a switch has a table of its own");
  auto* keep =
      command
          ->add_option("--keep", arguments->keep_file,
                       "trees of these tables, which --mft wrote, stay where groups are the same; hosts "
                       "join and leave the others")
          ->type_name("FILE")
          ->check(command_line::file_name());
  keep->needs(
      command->add_option("--kept-groups", arguments->kept_groups, "the groups that they were made for")
          ->type_name("SPEC")
          ->needs(keep));
  command->add_option("--threads", arguments->threads, "the result is the same for any number")
      ->type_name("N")
      ->check(command_line::whole_number(1, 1024))
      ->capture_default_str();
  auto* optimise =
      command
          ->add_option(
              "--optimize", arguments->optimise,
              "seconds to spend on fewer colors by moving trees; the result depends on the machine then")
          ->type_name("SECONDS")
          ->check(command_line::within(0, 1e6));
  add_files(*command, *arguments);
  for (auto* option : {engine, merge, merge_with, per_port, optimise, keep})
    command->get_option("--tables")->excludes(option);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_mcast(*arguments); });
}

}  // namespace weft::cli
