// SPDX-License-Identifier: Apache-2.0
// weft images: both tables of every switch of a fabric, as its lookup block is loaded with them.
#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/command_line.hpp"
#include "common/output_file.hpp"
#include "switchtables/fault_options.hpp"
#include "switchtables/image_folder.hpp"
#include "switchtables/plan.hpp"
#include "topology/spec.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;
using switchtables::Fabric;
using switchtables::Images;

struct ImagesArguments {
  CommonOptions common;
  std::string topology, groups, folder, with, masks = "destination";
  switchtables::FaultTexts faults;
  switchtables::PlanOptions plan;
  uint32_t colours = 256, entries = 2048, channels = 2;
  bool per_port = false, merged = false, other = false;
};

void check_entries(const char* option, uint32_t entries) {
  if (!std::has_single_bit(entries))
    throw BadInput(fmt::format("{} {}: a table has a power of two of entries", option, entries));
}

switchtables::PlanOptions options_of(const ImagesArguments& arguments, const Fabric& fabric) {
  check_entries("--colors", arguments.colours);
  check_entries("--entries", arguments.entries);
  switchtables::PlanOptions options = arguments.plan;
  if (options.first_colour >= arguments.colours)
    throw BadInput(
        fmt::format("--first-color {}: the tables have {} entries", options.first_colour, arguments.colours));
  options.sizes = {fabric.most_ports(), arguments.colours, arguments.entries, arguments.per_port};
  options.colours = arguments.colours - options.first_colour;
  options.routes.masks = arguments.masks == "line" ? route::Masks::line : route::Masks::destination;
  options.routes.channels = static_cast<uint8_t>(arguments.channels);
  options.choice = arguments.other ? 1 : 0;
  if (arguments.other) options.routes.first = route::Dimension::column;
  options.seed = arguments.common.seed;
  return options;
}

void write_images(const ImagesArguments& arguments, const switchtables::Plan& plan, const json& results) {
  auto files = switchtables::folder_files(arguments.folder, plan.images, plan.tables.groups);
  if (!arguments.common.json_file.empty()) files.push_back({arguments.common.json_file, text_of(results)});
  NewFolder folder(arguments.folder);
  write_whole(files);
  folder.keep();
}

/// With the trees of the images in another folder.
void add_old_trees(const ImagesArguments& arguments, const Fabric& fabric, Images& images) {
  std::error_code error;
  if (std::filesystem::equivalent(arguments.with, arguments.folder, error))
    throw BadInput("--with " + arguments.with + ": the folder of --images; old images would be lost");
  auto sizes = switch_lookup::largest_sizes;
  sizes.per_port = arguments.per_port;
  switchtables::add_trees(images, switchtables::read_images(arguments.with, images, fabric, sizes));
}

/// Counted LIDs would fit into no subnet in which some are known.
void need_lids_of_all_or_none(const std::string& topology, const Fabric& whole) {
  const auto without = whole.hosts_without_lid();
  if (whole.grid() || without.empty()) return;
  throw BadInput(fmt::format("{}: host {}, \"{}\", has no LID, but others have", topology, without.front(),
                             whole.graph().host_info(without.front()).name));
}

/// Those by which unicast tables know hosts.
const char* lids_of(const Fabric& fabric) {
  if (fabric.grid()) return "none";
  return fabric.has_lids() ? "of the subnet" : "counted from 1";
}

int run_images(const ImagesArguments& arguments) {
  const Fabric whole(arguments.topology);
  need_lids_of_all_or_none(arguments.topology, whole);
  switchtables::Faults faults(whole.graph());
  apply(faults, whole, arguments.topology, arguments.faults);
  const Fabric fabric = any(arguments.faults) ? whole.alive_of(faults) : whole;
  const auto groups = switchtables::live_groups(
      switchtables::load_groups(arguments.groups, arguments.topology, whole), fabric);
  std::optional<route::Health> health;
  if (fabric.grid()) health = health_of(*fabric.grid(), whole.graph(), faults);
  const mcast::Hops hops(fabric.graph(), arguments.plan.threads);
  switchtables::Plan plan = make_plan(fabric, hops, groups, health, options_of(arguments, fabric));
  const uint32_t merged = merged_groups(plan);
  if (!arguments.with.empty()) add_old_trees(arguments, fabric, plan.images);
  const json results = {{"topology", arguments.topology},
                        {"group_spec", arguments.groups},
                        {"switches", fabric.graph().switches()},
                        {"hosts", fabric.graph().hosts()},
                        {"hosts_left_out", whole.left_out()},
                        {"lids", lids_of(fabric)},
                        {"groups", groups.count()},
                        {"merged_groups", merged},
                        {"first_color", arguments.plan.first_colour},
                        {"colors_used", plan.colours},
                        {"version", arguments.plan.version},
                        {"seed", arguments.common.seed}};
  if (merged != 0 && !arguments.merged) {
    fmt::print(stderr,
               "weft: {} groups share trees, {} colors from {} on are too few: --merged allows that\n",
               merged, arguments.colours - arguments.plan.first_colour, arguments.plan.first_colour);
    return check_failed;
  }
  write_images(arguments, plan, results);
  fmt::print("images       {}, version {}\nhosts        {}\ncolors       {} from {} on, {} groups\n",
             plan.images.size(), arguments.plan.version, fabric.graph().hosts(), plan.colours,
             arguments.plan.first_colour, groups.count());
  if (!fabric.grid()) fmt::print("LIDs         {}\n", lids_of(fabric));
  if (whole.left_out() != 0) fmt::print("left out     {} hosts behind ports beyond 64\n", whole.left_out());
  if (merged != 0) fmt::print("share trees  {} groups\n", merged);
  return ok;
}

void add_sizes(CLI::App& command, ImagesArguments& arguments) {
  const auto number = [&command](const char* name, uint32_t& value, uint64_t least, uint64_t most,
                                 const char* text) {
    command.add_option(name, value, text)
        ->type_name("N")
        ->check(command_line::whole_number(least, most))
        ->capture_default_str();
  };
  number("--colors", arguments.colours, 1, switch_lookup::largest_sizes.colours,
         "multicast entries of a lookup block, a power of two");
  number("--entries", arguments.entries, 1, switch_lookup::largest_sizes.unicast_entries,
         "unicast entries of a lookup block, a power of two");
  number("--first-color", arguments.plan.first_colour, 0, switch_lookup::largest_sizes.colours - 1,
         "of the trees: beyond those of trees that are in use");
  number("--image-version", arguments.plan.version, 0, ~0u, "that the lookup blocks tell");
  number("--channels", arguments.channels, 2, 3, "virtual channels of a kfat2d");
  number("--threads", arguments.plan.threads, 1, 1024, "the result is the same for any number");
  command.add_flag("--per-port", arguments.per_port, "a multicast table for each input port of a switch");
  command
      .add_option("--masks", arguments.masks,
                  "backups of a kfat2d are kept for each destination, or its line")
      ->check(CLI::IsMember({"line", "destination"}))
      ->capture_default_str();
}

}  // namespace

void add_images(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand("images", "both tables of all switches, as images (docs/switch.md)");
  auto arguments = std::make_shared<ImagesArguments>();
  command->add_option("--topology", arguments->topology, topology::spec_forms)->type_name("SPEC")->required();
  command->add_option("--groups", arguments->groups, mcast::group_forms)->type_name("SPEC")->required();
  command
      ->add_option("--images", arguments->folder,
                   "write an image for the lookup block of each switch into FOLDER, which is made if missing")
      ->type_name("FOLDER")
      ->check(command_line::file_name())
      ->required();
  switchtables::add_fault_options(*command, "fail", ": tables lead past them", arguments->faults);
  add_sizes(*command, *arguments);
  command->add_flag("--merged", arguments->merged,
                    "groups may share trees if colors are too few: hosts of each get packets to all of them");
  command->add_flag("--other", arguments->other, "other trees and ways, of those that are as good");
  command
      ->add_option("--with", arguments->with,
                   "also the trees of the images in FOLDER: first step of replacing these")
      ->type_name("FOLDER")
      ->check(command_line::file_name());
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_images(*arguments); });
}

}  // namespace weft::cli
