// SPDX-License-Identifier: Apache-2.0
// weft route: tables of a two-dimensional fat tree with faults, and their proof.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/command_line.hpp"
#include "common/output_file.hpp"
#include "route/checker.hpp"
#include "route/fault_options.hpp"
#include "route/switch_images.hpp"
#include "route/table_file.hpp"
#include "switchfabric/traffic_options.hpp"
#include "topology/generate.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;

struct RouteArguments {
  CommonOptions common;
  std::string topology, rules = "vtftr", masks, tables_folder, from_folder, update_folder, format = "tables";
  route::FaultTexts known, news;
  switchfabric::TrafficArguments traffic;
  uint32_t channels = 2, image_version = 0;
  bool check = false;
};

/// More than one report is wanted of some fabrics.
struct Checked {
  json results;
  bool right = true;
};

route::Options options_of(const RouteArguments& arguments) {
  route::Options options;
  if (arguments.rules == "literal") options.rules = route::RuleSet::literal;
  if (arguments.rules == "detour") options.rules = route::RuleSet::detour;
  const bool as_printed = arguments.masks.empty() && options.rules != route::RuleSet::vtftr;
  options.masks = as_printed || arguments.masks == "line" ? route::Masks::line : route::Masks::destination;
  options.channels = static_cast<uint8_t>(arguments.channels);
  return options;
}

json cycle_of(const route::Grid& grid, const route::Report& report) {
  json cycle = json::array();
  for (const route::Channel& channel : report.cycle) cycle.push_back(route::name_of(grid, channel));
  return cycle;
}

/// Up to ten lines on standard error for what a user has to see.
void complain(const char* when, const route::Grid& grid, const route::Report& report) {
  if (report.cycle.empty()) return;
  fmt::print(stderr, "weft: {}: packets can wait for each other in a ring of {} channels:\n", when,
             report.cycle.size());
  for (std::size_t i = 0; i < report.cycle.size() && i < 10; ++i)
    fmt::print(stderr, "weft:   {}\n", route::name_of(grid, report.cycle[i]));
}

json unreachable_of(const route::Report& report, const route::Health& alive, const route::Options& options) {
  json pairs = json::array();
  for (const route::Pair& pair : report.lossy) {
    const route::Proof proof = route::prove_unreachable(pair, alive, options);
    constexpr std::array names{"graph", "channels", "rules", "tables"};
    pairs.push_back({{"from", {pair.from.y, pair.from.x}},
                     {"to", {pair.to.y, pair.to.x}},
                     {"obstacle", names[static_cast<std::size_t>(proof.obstacle)]},
                     {"proof", route::to_text(proof)}});
  }
  return pairs;
}

/// Leaves by number, then roots.
std::vector<uint32_t> live_switches(const route::Health& alive) {
  std::vector<uint32_t> live;
  for (uint32_t sw = 0; sw < alive.grid().leaves() + alive.grid().roots(); ++sw)
    if (alive.alive_switch(sw)) live.push_back(sw);
  return live;
}

/// Of which the image changes; what is dead needs none.
std::vector<uint32_t> changed_switches(const route::Tables& before, const route::Tables& tables,
                                       const route::Health& alive) {
  std::vector<uint32_t> changed = tables.changed_from(before);
  std::erase_if(changed, [&alive](uint32_t sw) { return !alive.alive_switch(sw); });
  return changed;
}

/// Tables that are being rewritten: before and after, some switches with either.
json transition(const char* when, const route::Tables& before, const route::Tables& after,
                const route::Health& alive, bool& right) {
  const std::array<const route::Tables*, 2> mixture{&before, &after};
  const route::Report report = route::check(mixture, alive, true);
  const std::array<const route::Tables*, 1> old{&before};
  const route::Report news = route::check(old, alive, true);
  complain(when, alive.grid(), report);
  right = right && report.cycle.empty();
  return {{"deadlock_free", report.cycle.empty()},
          {"cycle", cycle_of(alive.grid(), report)},
          {"pairs", report.pairs},
          {"lossy_pairs", report.lossy.size()},
          {"lossy_pairs_before", news.lossy.size()},
          {"max_steps", report.max_steps},
          {"changed_switches", changed_switches(before, after, alive).size()}};
}

Checked check_all(const RouteArguments& arguments, const route::Tables& tables, const route::Health& known,
                  const route::Health& after) {
  const route::Options& options = tables.options();
  const std::array<const route::Tables*, 1> stable{&tables};
  const route::Report report = route::check(stable, known, options.rules == route::RuleSet::vtftr);
  Checked checked;
  checked.right = report.cycle.empty();
  complain("stable tables", known.grid(), report);
  checked.results = {{"pairs", report.pairs},
                     {"unreachable_pairs", report.lossy.size()},
                     {"deadlock_free", report.cycle.empty()},
                     {"max_steps", report.max_steps},
                     {"dependencies", report.dependencies}};
  if (!arguments.check) return checked;
  checked.results["cycle"] = cycle_of(known.grid(), report);
  checked.results["unreachable"] = unreachable_of(report, known, options);
  const route::Tables whole = route::make_tables(route::Health(known.grid()), options);
  json& results = checked.results;
  results["from_whole"] = transition("from tables without faults", whole, tables, known, checked.right);
  if (!(after == known))
    results["news"] =
        transition("new faults", tables, route::make_tables(after, options), after, checked.right);
  checked.results["checked"] = checked.right;
  return checked;
}

/// Results of one run: all are written, or none.
using Files = std::vector<OutputFile>;

void append(Files& files, Files more) { std::ranges::move(more, std::back_inserter(files)); }

Files files_of(const RouteArguments& arguments, const route::Tables& tables, const route::Health& known) {
  if (arguments.format == "image")
    return route::image_files(arguments.tables_folder, tables, arguments.image_version, live_switches(known));
  return route::table_files(arguments.tables_folder, tables, known);
}

/// What the new faults change: tables of all, or images of the switches whose image is another one.
json update(const RouteArguments& arguments, const route::Tables& tables, const route::Health& known,
            const route::Health& after, Files& files) {
  if (after == known) throw BadInput("--update: there is no new fault (--new-fail)");
  if (!arguments.from_folder.empty() && !(tables == route::make_tables(known, tables.options())))
    throw BadInput(arguments.from_folder + ": are not the tables for the faults that are known (--fail)");
  const route::Update made = route::update_tables(tables, known, after);
  const std::vector<uint32_t> changed = changed_switches(tables, made.tables, after);
  append(files,
         arguments.format == "image"
             ? route::image_files(arguments.update_folder, made.tables, arguments.image_version, changed)
             : route::table_files(arguments.update_folder, made.tables, after));
  const route::Grid& grid = tables.grid();
  const auto graph = topology::kfat2d(grid.rows, grid.columns, grid.hosts, grid.edges, grid.spines);
  json names = json::array();
  for (const uint32_t number : changed) names.push_back(graph.switch_info(number).name);
  const std::array<const route::Tables*, 1> updated{&made.tables};
  return {{"switches", graph.switches()},
          {"changed", names},
          {"entries_made_anew", made.looked_at},
          {"unreachable_pairs", route::check(updated, after, false).lossy.size()}};
}

/// Of [row, column], as `weft topology` names it.
std::string leaf_name(const json& leaf) { return fmt::format("leaf-{}-{}", leaf[1].dump(), leaf[0].dump()); }

std::string to_lines(const json& results) {
  std::string text =
      fmt::format("pairs        {}, {} of them unreachable\nsteps        at most {}\ndeadlock     {}\n",
                  results["pairs"].get<uint64_t>(), results["unreachable_pairs"].get<uint64_t>(),
                  results["max_steps"].get<uint32_t>(),
                  results["deadlock_free"].get<bool>() ? "none can come with these tables" : "can come");
  for (const auto& [key, words] :
       {std::pair{"from_whole", "no fault yet"}, std::pair{"news", "new faults"}}) {
    if (!results.contains(key)) continue;
    const json& part = results[key];
    text += fmt::format(
        "{:<12} {}; {} live switches change; packets of {} pairs can be lost, of {} before any switch has "
        "new tables\n",
        words, part["deadlock_free"].get<bool>() ? "no deadlock in any mixture" : "deadlock can come",
        part["changed_switches"].get<uint32_t>(), part["lossy_pairs"].get<uint64_t>(),
        part["lossy_pairs_before"].get<uint64_t>());
  }
  if (results.contains("update"))
    text += fmt::format("update       {} of {} switches change; {} pairs are unreachable then\n",
                        results["update"]["changed"].size(), results["update"]["switches"].get<uint32_t>(),
                        results["update"]["unreachable_pairs"].get<uint64_t>());
  if (results.contains("traffic")) text += switchfabric::to_lines(results["traffic"]);
  if (results.contains("unreachable"))
    for (std::size_t i = 0; i < results["unreachable"].size() && i < 10; ++i) {
      const json& pair = results["unreachable"][i];
      text += fmt::format("unreachable  {} > {}: {}\n", leaf_name(pair["from"]), leaf_name(pair["to"]),
                          pair["proof"].get<std::string>());
    }
  if (results.contains("unreachable") && results["unreachable"].size() > 10)
    text += fmt::format("             and {} pairs more (--json)\n", results["unreachable"].size() - 10);
  return text;
}

/// What would do nothing, or not what it says.
void refuse_idle_options(const RouteArguments& arguments) {
  const bool writes = !arguments.tables_folder.empty() || !arguments.update_folder.empty();
  if (arguments.format != "tables" && !writes) throw BadInput("--format: needs --tables or --update");
  if (arguments.image_version != 0 && arguments.format != "image")
    throw BadInput("--image-version: needs --format image");
  const bool used = arguments.check || !arguments.update_folder.empty() || arguments.traffic.live;
  if (route::any(arguments.news) && !used) throw BadInput("--new-fail: needs --check, --update or --strike");
}

/// Folders are made if they are not there, and stay only if all is written.
void write_all(const RouteArguments& arguments, const Files& files) {
  std::vector<std::unique_ptr<NewFolder>> folders;
  for (const std::string& folder : {arguments.tables_folder, arguments.update_folder})
    if (!folder.empty()) folders.push_back(std::make_unique<NewFolder>(folder));
  write_whole(files);
  for (const auto& folder : folders) folder->keep();
}

/// What a user should know of the files.
std::string notes_on(const RouteArguments& arguments, const route::Health& known) {
  if (arguments.tables_folder.empty() && arguments.update_folder.empty()) return "";
  if (arguments.format == "image")
    return "images       have no multicast entries: who loads them ends multicast there (weft images has "
           "both)\n";
  if (!route::fits_opensm(known.grid()))
    return "opensm.lfts  not written: at most 252 hosts a leaf and 49,151 LIDs\n";
  if (known == route::Health(known.grid()) && arguments.update_folder.empty()) return "";
  return "opensm.lfts  has no virtual channels: loaded alone it can deadlock (docs/route.md)\n";
}

int run_route(const RouteArguments& arguments) {
  const route::Grid grid = route::grid_of(arguments.topology);
  refuse_idle_options(arguments);
  route::Health known(grid);
  route::apply(known, arguments.known);
  route::Health after = known;
  route::apply(after, arguments.news);
  const route::Options options = options_of(arguments);
  const route::Tables tables = arguments.from_folder.empty()
                                   ? route::make_tables(known, options)
                                   : route::read_tables(arguments.from_folder, grid, options);
  if (after.live_leaves() == 0) throw BadInput("no leaf is alive");
  if (route::any(arguments.news) && after == known)
    throw BadInput("--new-fail: all of it is dead already (--fail)");
  const bool judged = !arguments.from_folder.empty() && arguments.update_folder.empty();
  if (judged && !(tables == route::make_tables(known, options)))
    fmt::print(stderr, "weft: warning: {}: are not the tables for the faults that are known (--fail)\n",
               arguments.from_folder);
  Checked checked = check_all(arguments, tables, known, after);
  json& results = checked.results;
  results.update({{"virtual_channels", arguments.channels},
                  {"topology", arguments.topology},
                  {"rules", arguments.rules},
                  {"masks", options.masks == route::Masks::line ? "line" : "destination"},
                  {"live_leaves", known.live_leaves()},
                  {"host_pairs", results["pairs"].get<uint64_t>() * grid.hosts * grid.hosts},
                  {"seed", arguments.common.seed}});
  Files files;
  if (!arguments.tables_folder.empty()) files = files_of(arguments, tables, known);
  if (!arguments.update_folder.empty()) results["update"] = update(arguments, tables, known, after, files);
  if (arguments.traffic.run.load > 0) {
    results["traffic"] = run_traffic(
        run_config(arguments.traffic, known, arguments.news, arguments.common.seed), tables, known);
    results["traffic"]["pattern"] = arguments.traffic.pattern;
  }
  if (!arguments.common.json_file.empty()) files.push_back({arguments.common.json_file, text_of(results)});
  write_all(arguments, files);
  fmt::print("{}{}", to_lines(results), notes_on(arguments, known));
  const bool stands = results.contains("traffic") && switchfabric::stands_still(results["traffic"]);
  return stands || (arguments.check && !checked.right) ? check_failed : ok;
}

}  // namespace

void add_route(CLI::App& weft, int& exit_code) {
  auto* command =
      weft.add_subcommand("route", "fault-tolerant routes of a two-dimensional fat tree (docs/route.md)");
  auto arguments = std::make_shared<RouteArguments>();
  command->add_option("--topology", arguments->topology, "kfat2d:RxC:H or kfat2d:RxC:H:ExS")
      ->type_name("SPEC")
      ->required();
  route::add_fault_options(*command, "fail", "", arguments->known);
  route::add_fault_options(*command, "new-fail", ", of which the tables do not know yet", arguments->news);
  command->add_option("--rules", arguments->rules, "vtftr, literal: as printed, detour: algorithm A")
      ->check(CLI::IsMember({"vtftr", "literal", "detour"}))
      ->capture_default_str();
  command
      ->add_option("--masks", arguments->masks,
                   "backups for each destination, or for a whole row or column; by itself destination for "
                   "vtftr, else line")
      ->check(CLI::IsMember({"destination", "line"}));
  command->add_option("--channels", arguments->channels, "virtual channels")
      ->type_name("N")
      ->check(command_line::whole_number(1, 4))
      ->capture_default_str();
  command->add_flag("--check", arguments->check,
                    "prove: no deadlock, stable and in any mixture of tables; who is cut off");
  command->add_option("--tables", arguments->tables_folder, "write the tables of all switches into DIR")
      ->type_name("DIR")
      ->check(command_line::file_name());
  command
      ->add_option(
          "--format", arguments->format,
          "of --tables and --update: route.json and opensm.lfts, or images of the switch lookup block")
      ->check(CLI::IsMember({"tables", "image"}))
      ->capture_default_str();
  command->add_option("--image-version", arguments->image_version, "that the lookup blocks tell")
      ->type_name("N")
      ->check(command_line::whole_number(0, ~0u))
      ->capture_default_str();
  command
      ->add_option("--from", arguments->from_folder,
                   "check the tables in DIR, which --tables wrote; make none")
      ->type_name("DIR")
      ->check(command_line::file_name());
  command
      ->add_option("--update", arguments->update_folder,
                   "write into DIR what the new faults change: the tables for them, or images of only those "
                   "switches whose image changes")
      ->type_name("DIR")
      ->check(command_line::file_name());
  switchfabric::add_traffic_options(*command, arguments->traffic);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_route(*arguments); });
}

}  // namespace weft::cli
