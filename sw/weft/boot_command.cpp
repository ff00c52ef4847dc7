// SPDX-License-Identifier: Apache-2.0
// weft boot: which server each node boots from, and how long that takes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "boot/config.hpp"
#include "boot/from_topology.hpp"
#include "boot/machine.hpp"
#include "boot/nodes.hpp"
#include "boot/plan.hpp"
#include "common/command_line.hpp"
#include "topology/spec.hpp"
#include "weft/boot_results.hpp"

namespace weft::cli {
namespace {

using namespace weft::boot;
using nlohmann::json;

template <typename Value>
void replace(Value& value, const std::optional<Value>& given) {
  value = given.value_or(value);
}

/// Instead of the files of a machine file, whose sizes it replaces.
void take_size(const std::string& size, Machine& machine) {
  machine.image_megabits = megabits_of_size(size);
  machine.kernel_megabits = 0;
  for (std::filesystem::path* file : {&machine.image, &machine.initrd, &machine.kernel}) file->clear();
}

void take_files(const BootArguments& arguments, Machine& machine) {
  const std::array<std::pair<const std::string&, std::filesystem::path&>, 3> files = {
      {{arguments.image, machine.image},
       {arguments.initrd, machine.initrd},
       {arguments.kernel, machine.kernel}}};
  bool any = false;
  for (const auto& [given, file] : files) {
    if (given.empty()) continue;
    file = given;
    any = true;
  }
  if (!any) return;
  if (machine.image.empty()) throw BadInput("boot: --initrd and --kernel need an image");
  measure_files(machine);
}

Machine machine_of(const BootArguments& arguments) {
  Machine machine;
  if (!arguments.machine_file.empty()) read_machine(arguments.machine_file, machine);
  if (!arguments.topology.empty()) {
    const topology::Graph graph = topology::load(arguments.topology);
    take_topology(graph, arguments.topology, hosts_of(arguments.boot_servers, graph), machine,
                  arguments.mbps);
  }
  replace(machine.cpus_per_board, arguments.cpus);
  replace(machine.boards_per_supernode, arguments.boards);
  replace(machine.supernodes_per_cabinet, arguments.supernodes_per_cabinet);
  replace(machine.supernodes, arguments.supernodes);
  replace(machine.servers, arguments.servers);
  replace(machine.servers_per_edge, arguments.servers_per_edge);
  for (uint32_t segment = 0; segment < segments; ++segment) {
    replace(machine.links[segment].mbps, arguments.mbps[segment]);
    replace(machine.links[segment].count, arguments.counts[segment]);
    if (arguments.counts[segment] && segment < machine.own_mbps.size()) machine.own_mbps[segment].clear();
  }
  if (!arguments.image_size.empty()) take_size(arguments.image_size, machine);
  take_files(arguments, machine);
  Addresses& addresses = machine.addresses;
  if (!arguments.subnet.empty()) addresses.set_subnet(arguments.subnet);
  if (!arguments.first_server.empty()) addresses.first_server = address_of(arguments.first_server);
  if (!arguments.first_node.empty()) addresses.first_node = address_of(arguments.first_node);
  machine.failed_servers.insert(arguments.failed.begin(), arguments.failed.end());
  auto fault = impossible(machine);
  if (!fault && addresses != Addresses{}) fault = impossible_addresses(machine);
  if (fault) throw BadInput(fmt::format("boot: {}: {}", fault->field, fault->fault));
  return machine;
}

template <typename Value>
void expect_once(const char* option, std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) throw BadInput(fmt::format("boot: {}: {} is there twice", option, *twice));
}

/// What would have no effect is a mistake.
void expect_useful(const BootArguments& arguments) {
  expect_once("--fail", arguments.failed);
  expect_once("--kill-node", arguments.dying_nodes);
  expect_once("--algorithm", arguments.algorithms);
  if (arguments.packets && arguments.begin_within != 0)
    throw BadInput("boot: --begin-within: not with --packets, where all begin at once");
  if (std::ranges::find(arguments.algorithms, "multicast") != arguments.algorithms.end()) return;
  if (arguments.loss != 0) throw BadInput("boot: --loss: is of --algorithm multicast only");
  if (arguments.wait) throw BadInput("boot: --wait-seconds: is of --algorithm multicast only");
}

void expect_mortal_server(uint32_t server, const Machine& machine) {
  if (server >= machine.servers || machine.failed_servers.contains(server))
    throw BadInput(fmt::format("boot: --kill: there is no server {} that is alive", server));
  if (machine.servers - machine.failed_servers.size() == 1)
    throw BadInput("boot: --kill: no other server is left");
}

void expect_mortal_nodes(const std::vector<uint32_t>& dying, const Nodes& nodes) {
  for (const uint32_t cpu : dying) {
    if (std::find(nodes.cpus.begin(), nodes.cpus.end(), cpu) == nodes.cpus.end())
      throw BadInput(fmt::format("boot: --kill-node: {} is not among the nodes that boot", cpu));
  }
  if (std::set<uint32_t>(dying.begin(), dying.end()).size() == nodes.cpus.size())
    throw BadInput("boot: --kill-node: no node is left");
}

/// What the simulations are told only makes sense as a whole.
void expect_simulatable(const BootArguments& arguments, const Machine& machine, const Nodes& nodes) {
  const bool anyone_dies = arguments.dies || !arguments.dying_nodes.empty();
  if (anyone_dies && !arguments.simulate && !arguments.packets)
    throw BadInput("boot: --kill and --kill-node need --simulate or --packets");
  if (anyone_dies != arguments.death_seconds.has_value())
    throw BadInput("boot: --kill-after says when the server of --kill and the nodes of --kill-node die");
  if (arguments.dies) expect_mortal_server(*arguments.dies, machine);
  expect_mortal_nodes(arguments.dying_nodes, nodes);
}

constexpr std::array<std::pair<Program, const char*>, 3> programs = {
    {{Program::dnsmasq, "dnsmasq"}, {Program::kea, "kea"}, {Program::dhcpd, "dhcpd"}}};

bool is_for_servers(const BootArguments& arguments) {
  return !arguments.check.empty() || std::any_of(arguments.folders.begin(), arguments.folders.end(),
                                                 [](const auto& folder) { return !folder.empty(); });
}

void expect_configurable(const BootArguments& arguments, const Machine& machine, const Nodes& nodes) {
  if (arguments.algorithms.size() != 1) throw BadInput("boot: configuration files are of one --algorithm");
  const auto named = [](const std::string& folder) { return !folder.empty(); };
  if (std::ranges::count_if(arguments.folders, named) + (arguments.check.empty() ? 0 : 1) > 1)
    throw BadInput(
        "boot: one folder a run: --dnsmasq, --kea, --dhcpd or --check");  // all of a run, or nothing
  const std::string& algorithm = arguments.algorithms[0];
  if (algorithm_named(algorithm) && !machine.kernel.empty())
    throw BadInput(fmt::format("boot: --kernel: not with {}, where iPXE boots the image itself", algorithm));
  if (!algorithm_named(algorithm) && machine.kernel.empty())
    throw BadInput(
        fmt::format("boot: configuration files for {} need --kernel FILE: a small system that gets the "
                    "image (docs/boot.md)",
                    algorithm));
  if (nodes.macs.empty())
    throw BadInput("boot: configuration files need MAC addresses: --nodes file:PATH with lines NODE MAC");
  if (const auto fault = impossible_addresses(machine))
    throw BadInput(fmt::format("boot: {}: {}", fault->field, fault->fault));
}

Serving serving_of(const BootArguments& arguments, const Machine& machine, Program program) {
  Serving serving{
      program,
      machine.image.filename().string(),
      machine.initrd.filename().string(),
      arguments.serve_from,
      arguments.kernel_arguments,
      machine.kernel.filename().string(),
      arguments.serve_by == "tftp",
  };
  expect_servable(serving);
  return serving;
}

/// The folder that is asked for, if one is.
std::unique_ptr<ConfigFolder> configure(const BootArguments& arguments, const Machine& machine,
                                        const Nodes& nodes, const Way& way) {
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (arguments.folders[i].empty()) continue;
    const Serving serving = serving_of(arguments, machine, programs[i].first);
    return std::make_unique<ConfigFolder>(arguments.folders[i], config_files(machine, nodes, way, serving));
  }
  return nullptr;
}

/// The first faults, and how many there are. @return whether there is none
bool print_check(const BootArguments& arguments, const Machine& machine, const Nodes& nodes, const Way& way) {
  constexpr std::size_t most = 20;
  const Deployed deployed{arguments.check, arguments.check_dhcp, arguments.check_nginx};
  const auto faults =
      differences(deployed, machine, nodes, way, serving_of(arguments, machine, Program::dnsmasq));
  for (std::size_t i = 0; i < std::min(faults.size(), most); ++i) fmt::print("{}\n", faults[i]);
  if (faults.size() > most) fmt::print("... and {} more\n", faults.size() - most);
  if (faults.empty())
    fmt::print("{}: all {} nodes have the server and the backup of the plan\n", arguments.check,
               nodes.cpus.size());
  return faults.empty();
}

Nodes nodes_given(const BootArguments& arguments, const Machine& machine) {
  if (!arguments.nodes.empty()) return nodes_of(arguments.nodes, machine);
  if (!machine.boots_now.empty()) return nodes_of(machine.boots_now, machine, machine.boots_now_place);
  return nodes_of("all", machine);
}

int run_boot(const BootArguments& arguments) {
  expect_useful(arguments);
  const Machine machine = machine_of(arguments);
  const Nodes nodes = nodes_given(arguments, machine);
  expect_simulatable(arguments, machine, nodes);
  if (is_for_servers(arguments)) expect_configurable(arguments, machine, nodes);
  json runs = json::array();
  for (const auto& name : arguments.algorithms) runs.push_back(result_of(arguments, machine, nodes, name));
  json results = runs.size() == 1 ? runs[0] : json{{"runs", runs}};
  results["seed"] = arguments.common.seed;
  std::unique_ptr<ConfigFolder> folder;
  if (is_for_servers(arguments)) {
    const Way way = way_of(arguments, machine, nodes, arguments.algorithms[0]);
    folder = configure(arguments, machine, nodes, way);
    if (!arguments.check.empty() && !print_check(arguments, machine, nodes, way)) return check_failed;
  }
  write_json(arguments.common, results);
  if (folder) folder->keep();
  print_runs(runs);
  if (arguments.simulate) print_times(runs, "simulated");
  if (arguments.packets) print_times(runs, "packets");
  return ok;
}

void add_machine(CLI::App& command, BootArguments& arguments) {
  const auto some = command_line::whole_number(1, most_servers);
  const auto rate = command_line::within(1e-6, 1e12);
  command.add_option("--machine", arguments.machine_file, "file that describes the machine (docs/boot.md)")
      ->type_name("FILE")
      ->check(command_line::file_name());
  auto* topology =
      command.add_option("--topology", arguments.topology,
                         "numbers of nodes, servers and links, and their rates, from a fabric: file:PATH "
                         "(ibnetdiscover or JSON) or another SPEC of weft topology");
  auto* servers =
      command.add_option("--boot-servers", arguments.boot_servers,
                         "hosts of the topology that serve: names, GUIDs, numbers with commas, or "
                         "file:PATH; all others boot");
  topology->type_name("SPEC")->needs(servers);
  servers->type_name("HOSTS")->needs(topology);
  const auto size = [&](const char* name, std::optional<uint32_t>& value, const char* text) {
    command.add_option(name, value, text)->check(some)->excludes(topology);
  };
  size("--cpus", arguments.cpus, "CPUs a board (8)");
  size("--boards", arguments.boards, "boards a supernode (32)");
  size("--supernodes-per-cabinet", arguments.supernodes_per_cabinet, "(4)");
  size("--supernodes", arguments.supernodes, "of the machine (160)");
  size("--servers", arguments.servers, "boot servers (160)");
  size("--servers-per-edge", arguments.servers_per_edge, "servers an edge switch (20)");
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
  auto* image_size = command.add_option("--image-size", arguments.image_size,
                                        "of the image: B, kB, MB, GB, KiB, MiB, GiB (50MB)");
  command.add_option("--image", arguments.image, "the image itself, for its size and name")
      ->type_name("FILE")
      ->check(command_line::file_name())
      ->excludes(image_size);
  command
      .add_option("--initrd", arguments.initrd,
                  "initial RAM disk, fetched after the image, or after the kernel")
      ->type_name("FILE")
      ->check(command_line::file_name());
  command
      .add_option("--kernel", arguments.kernel,
                  "of a small system that gets the image, for files of peers and multicast")
      ->type_name("FILE")
      ->check(command_line::file_name());
  command.add_option("--piece-size", arguments.piece_size, "of the image, as peers pass it on")
      ->capture_default_str();
  command.add_option("--fail", arguments.failed, "servers that have failed, with commas")
      ->delimiter(',')
      ->check(command_line::whole_number(0, most_servers));
}

void add_servers(CLI::App& command, BootArguments& arguments) {
  for (std::size_t i = 0; i < programs.size(); ++i)
    command
        .add_option(
            fmt::format("--{}", programs[i].second), arguments.folders[i],
            fmt::format("folder for files of {}, iPXE and nginx that carry out the plan", programs[i].second))
        ->type_name("FOLDER")
        ->check(command_line::file_name());
  auto* check = command.add_option("--check", arguments.check,
                                   "read such a folder back, wherever it is now, and compare all of it with "
                                   "what the same arguments would write");
  check->type_name("FOLDER")->check(command_line::file_name());
  const auto elsewhere = [&](const char* name, std::string& file, const char* text) {
    command.add_option(name, file, text)->type_name("FILE")->check(command_line::file_name())->needs(check);
  };
  elsewhere("--check-dhcp", arguments.check_dhcp,
            "where the DHCP server's file of that folder is (/etc/dnsmasq.d/boot.conf)");
  elsewhere("--check-nginx", arguments.check_nginx, "where its nginx.conf is");
  command.add_option("--subnet", arguments.subnet, "of servers and nodes (10.0.0.0/8)");
  command.add_option("--first-server", arguments.first_server,
                     "address of server 0; the others follow (10.0.0.1)");
  command.add_option("--first-node", arguments.first_node,
                     "address of node 0; the others follow (10.64.0.0)");
  command.add_option("--serve-from", arguments.serve_from, "folder of the boot servers")
      ->type_name("FOLDER")
      ->capture_default_str();
  command.add_option("--serve-by", arguments.serve_by, "how iPXE fetches what it boots")
      ->check(CLI::IsMember({"http", "tftp"}))
      ->capture_default_str();
  command.add_option("--kernel-arguments", arguments.kernel_arguments, "that iPXE gives to the image");
}

void add_simulation(CLI::App& command, BootArguments& arguments) {
  const auto seconds = command_line::within(0, 1e9);
  auto* simulate =
      command.add_flag("--simulate", arguments.simulate, "also as flows that share links fairly");
  command.add_flag("--packets", arguments.packets,
                   "also packet by packet, all nodes at once; for small images and machines");
  command.add_option("--begin-within", arguments.begin_within, "seconds, anywhere in which nodes begin (0)")
      ->check(seconds)
      ->needs(simulate);
  command.add_option("--protocol", arguments.protocol, "http, tftp, or none: without headers and waits")
      ->check(CLI::IsMember({"http", "tftp", "none"}))
      ->capture_default_str()
      ->needs(simulate);
  command.add_option("--round-trip-ms", arguments.round_trip_ms, "between node and server")
      ->check(command_line::within(0, 1e6))
      ->capture_default_str()
      ->needs(simulate);
  command.add_option("--tftp-window", arguments.tftp_window, "blocks of TFTP a round trip")
      ->check(command_line::whole_number(1, 65535))
      ->capture_default_str()
      ->needs(simulate);
  command.add_option("--loss", arguments.loss, "of multicast packets, on each of the links N1 to N5 (0)")
      ->check(command_line::within(0, 0.5))
      ->needs(simulate);
  command
      .add_option("--wait-seconds", arguments.wait,
                  "until the multicast begins; who comes later is late (--begin-within)")
      ->check(seconds)
      ->needs(simulate);
  command.add_option("--kill", arguments.dies, "a server that dies while nodes boot")
      ->check(command_line::whole_number(0, most_servers));
  command.add_option("--kill-node", arguments.dying_nodes, "nodes that die while they boot, with commas")
      ->delimiter(',')
      ->check(command_line::whole_number(0, most_nodes));
  auto* when = command.add_option("--kill-after", arguments.death_seconds, "seconds from the start on")
                   ->check(seconds);
  command
      .add_option("--notice-seconds", arguments.notice_seconds,
                  "until those who fetched from the dead go elsewhere")
      ->check(seconds)
      ->capture_default_str()
      ->needs(when);
  command
      .add_option("--resolution", arguments.resolution,
                  "seconds; how often rates are found at most (a thousandth of the plan's time)")
      ->check(seconds)
      ->needs(simulate);
}

}  // namespace

void add_boot(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand("boot", "which server each node boots from (docs/boot.md)");
  auto arguments = std::make_shared<BootArguments>();
  add_machine(*command, *arguments);
  add_servers(*command, *arguments);
  add_simulation(*command, *arguments);
  command
      ->add_option(
          "--nodes", arguments->nodes,
          "which boot: all, supernodes:N, boards:N, cpus:N, 0-7,12 or file:PATH (what the machine file "
          "says, else all)")
      ->check(command_line::file_name());
  command->add_option("--algorithm", arguments->algorithms, "mapping; several with commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"scda", "bcda", "balanced", "peers", "multicast"}))
      ->capture_default_str();
  add_common(*command, arguments->common);
  command->add_flag("--mapping", arguments->mapping, "with --json: server and backup of every node")
      ->needs(command->get_option("--json"));
  command->callback([arguments, &exit_code] { exit_code = run_boot(*arguments); });
}

}  // namespace weft::cli
