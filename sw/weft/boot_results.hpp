// SPDX-License-Identifier: Apache-2.0
// What weft boot is told, and what it finds.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boot/config.hpp"
#include "boot/machine.hpp"
#include "boot/nodes.hpp"
#include "boot/plan.hpp"
#include "weft/command.hpp"

namespace weft::cli {

/// What is given on the command line replaces what the machine file says.
struct BootArguments {
  CommonOptions common;
  std::vector<std::string> algorithms = {"balanced"};
  std::string machine_file, topology, boot_servers, image, nodes;
  std::optional<uint32_t> cpus, boards, supernodes_per_cabinet, supernodes, servers, servers_per_edge;
  std::array<std::optional<double>, boot::segments> mbps;
  std::array<std::optional<uint32_t>, boot::segments> counts;
  std::string image_size, subnet, first_server, first_node;
  std::vector<uint32_t> failed;
  bool mapping = false;
  std::array<std::string, 3> folders;   ///< to be written, of each program
  std::string check;                    ///< folder to be read back
  std::string check_dhcp, check_nginx;  ///< files of it that are elsewhere
  std::string initrd, kernel, piece_size = "64KiB";
  bool simulate = false, packets = false;
  double loss = 0;
  std::optional<double> wait;
  double begin_within = 0, round_trip_ms = 0.1, notice_seconds = 5;
  std::optional<double> resolution, death_seconds;
  std::optional<uint32_t> dies;  ///< server
  std::vector<uint32_t> dying_nodes;
  std::string protocol = "http";
  uint32_t tftp_window = 1;
  std::string serve_from = "/srv/boot", serve_by = "http", kernel_arguments;
};

/// What an algorithm plans, as it is carried out.
boot::Way way_of(const BootArguments& arguments, const boot::Machine& machine, const boot::Nodes& nodes,
                 const std::string& algorithm);

/// What one algorithm gives, as --json has it.
nlohmann::json result_of(const BootArguments& arguments, const boot::Machine& machine,
                         const boot::Nodes& nodes, const std::string& algorithm);

/// As tables. @param runs a list of results
void print_runs(const nlohmann::json& runs);
/// @param kind simulated or packets
void print_times(const nlohmann::json& runs, const char* kind);

}  // namespace weft::cli
