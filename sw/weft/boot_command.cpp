// SPDX-License-Identifier: Apache-2.0
// weft boot: which server each node boots from, and how long that takes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "boot/bandwidth.hpp"
#include "boot/machine.hpp"
#include "boot/nodes.hpp"
#include "boot/plan.hpp"
#include "common/command_line.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using namespace weft::boot;
using nlohmann::json;

/// What is given on the command line replaces what the machine file says.
struct BootArguments {
  CommonOptions common;
  std::vector<std::string> algorithms = {"balanced"};
  std::string machine_file, image, nodes = "all";
  std::optional<uint32_t> cpus, boards, supernodes_per_cabinet, supernodes, servers, servers_per_edge;
  std::array<std::optional<double>, segments> mbps;
  std::array<std::optional<uint32_t>, segments> counts;
  std::optional<double> image_megabits;
  std::vector<uint32_t> failed;
  bool mapping = false;
};

template <typename Value>
void replace(Value& value, const std::optional<Value>& given) {
  value = given.value_or(value);
}

Machine machine_of(const BootArguments& arguments) {
  Machine machine;
  if (!arguments.machine_file.empty()) read_machine(arguments.machine_file, machine);
  replace(machine.cpus_per_board, arguments.cpus);
  replace(machine.boards_per_supernode, arguments.boards);
  replace(machine.supernodes_per_cabinet, arguments.supernodes_per_cabinet);
  replace(machine.supernodes, arguments.supernodes);
  replace(machine.servers, arguments.servers);
  replace(machine.servers_per_edge, arguments.servers_per_edge);
  for (uint32_t segment = 0; segment < segments; ++segment) {
    replace(machine.links[segment].mbps, arguments.mbps[segment]);
    replace(machine.links[segment].count, arguments.counts[segment]);
  }
  replace(machine.image_megabits, arguments.image_megabits);
  if (!arguments.image.empty()) machine.image_megabits = image_megabits(arguments.image);
  machine.failed_servers.insert(arguments.failed.begin(), arguments.failed.end());
  if (const auto fault = impossible(machine))
    throw BadInput(fmt::format("boot: {}: {}", fault->field, fault->fault));
  return machine;
}

json result_of(const BootArguments& arguments, const Machine& machine, const Nodes& nodes,
               const std::string& name) {
  const Plan made = plan(machine, nodes.cpus, *algorithm_named(name));
  const Bandwidth found = bandwidth_of(machine, nodes.cpus, made.servers);
  const double bound = flow_bound(machine, nodes.cpus);
  json result = {{"algorithm", name},
                 {"nodes", nodes.cpus.size()},
                 {"servers", machine.servers - machine.failed_servers.size()},
                 {"segment_mbps_per_cpu", found.mbps},
                 {"min_mbps_per_cpu", found.least_mbps},
                 {"boot_seconds", found.boot_seconds},
                 {"limiting_segment", found.limiting},
                 {"bound_mbps_per_cpu", bound},
                 {"fraction_of_bound", found.least_mbps / bound}};
  if (arguments.mapping)
    result["mapping"] = {{"nodes", nodes.cpus}, {"servers", made.servers}, {"backups", made.backups}};
  return result;
}

void print(const json& runs) {
  fmt::print("{:<9} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}  {:<8} {:>8}\n", "algorithm",
             "nodes", "servers", "N1", "N2", "N3", "N4", "N5", "Mb/s", "seconds", "limit", "of bound");
  for (const json& run : runs) {
    fmt::print("{:<9} {:>8} {:>7}", run["algorithm"].get<std::string>(), run["nodes"].get<uint64_t>(),
               run["servers"].get<uint32_t>());
    for (const json& mbps : run["segment_mbps_per_cpu"])
      fmt::print(" {:>8.2f}", hundredths(mbps.get<double>()));
    fmt::print(" {:>9.2f} {:>9.2f}  {:<8} {:>6.1f} %\n", hundredths(run["min_mbps_per_cpu"].get<double>()),
               hundredths(run["boot_seconds"].get<double>()), run["limiting_segment"].get<std::string>(),
               100 * run["fraction_of_bound"].get<double>());
  }
}

int run_boot(const BootArguments& arguments) {
  const Machine machine = machine_of(arguments);
  const Nodes nodes = nodes_of(arguments.nodes, machine);
  json runs = json::array();
  for (const auto& name : arguments.algorithms) runs.push_back(result_of(arguments, machine, nodes, name));
  json results = runs.size() == 1 ? runs[0] : json{{"runs", runs}};
  results["seed"] = arguments.common.seed;
  write_json(arguments.common, results);
  print(runs);
  return ok;
}

void add_machine(CLI::App& command, BootArguments& arguments) {
  const auto some = command_line::whole_number(1, most_servers);
  const auto rate = command_line::within(1e-6, 1e12);
  command.add_option("--machine", arguments.machine_file, "file that describes the machine (docs/boot.md)")
      ->type_name("FILE")
      ->check(command_line::file_name());
  command.add_option("--cpus", arguments.cpus, "CPUs a board (8)")->check(some);
  command.add_option("--boards", arguments.boards, "boards a supernode (32)")->check(some);
  command.add_option("--supernodes-per-cabinet", arguments.supernodes_per_cabinet, "(4)")->check(some);
  command.add_option("--supernodes", arguments.supernodes, "of the machine (160)")->check(some);
  command.add_option("--servers", arguments.servers, "boot servers (160)")->check(some);
  command.add_option("--servers-per-edge", arguments.servers_per_edge, "servers an edge switch (20)")
      ->check(some);
  for (uint32_t segment = 0; segment < segments; ++segment) {
    command
        .add_option(fmt::format("--n{}-mbps", segment + 1), arguments.mbps[segment],
                    fmt::format("Mb/s of a link of segment N{}", segment + 1))
        ->check(rate);
    command
        .add_option(fmt::format("--n{}-count", segment + 1), arguments.counts[segment],
                    fmt::format("links of segment N{} side by side", segment + 1))
        ->check(some);
  }
  auto* megabits = command.add_option("--image-mb", arguments.image_megabits, "megabits of the image (400)");
  megabits->check(rate);
  command.add_option("--image", arguments.image, "the image itself, for its size")
      ->type_name("FILE")
      ->check(command_line::file_name())
      ->excludes(megabits);
  command.add_option("--fail", arguments.failed, "servers that have failed, with commas")
      ->delimiter(',')
      ->check(command_line::whole_number(0, most_servers));
}

}  // namespace

void add_boot(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand("boot", "which server each node boots from (docs/boot.md)");
  auto arguments = std::make_shared<BootArguments>();
  add_machine(*command, *arguments);
  command
      ->add_option("--nodes", arguments->nodes,
                   "which boot: all, supernodes:N, boards:N, cpus:N, 0-7,12 or file:PATH")
      ->capture_default_str();
  command->add_option("--algorithm", arguments->algorithms, "mapping; several with commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"scda", "bcda", "balanced"}))
      ->capture_default_str();
  command->add_flag("--mapping", arguments->mapping, "with --json: server and backup of every node");
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_boot(*arguments); });
}

}  // namespace weft::cli
