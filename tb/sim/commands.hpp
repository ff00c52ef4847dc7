// SPDX-License-Identifier: Apache-2.0
// Subcommands of weft-sim; each adds itself to the parser and returns what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fabric/torus.hpp"

namespace weft::sim {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_bad_input = 2;

/// Returns the exit code. `arguments` are those of the program.
using Command = std::function<int(const std::vector<std::string>& arguments)>;

Command add_rdma_command(CLI::App& app);
Command add_matrix_command(CLI::App& app);
Command add_soak_command(CLI::App& app);
Command add_bench_command(CLI::App& app);
Command add_goodput_command(CLI::App& app);
Command add_fabric_command(CLI::App& app);
Command add_switch_command(CLI::App& app);
Command add_route_command(CLI::App& app);
Command add_switch_bench_command(CLI::App& app);
Command add_barrier_command(CLI::App& app);

/// Options of routers that rdma and fabric have in common.
void add_router_options(CLI::App& command, bool& adaptive, fabric::TorusConfig& torus);
/// Throws BadInput, as of --nodes or --channels, for sizes and channels of which no routers can be made.
void check_routers(const fabric::TorusConfig& torus);

/// XxYxZ, each from 1 to `most`, and no more than that together. Throws BadInput, as of option --nodes.
std::array<uint32_t, 3> parse_sizes(const std::string& text, uint32_t most);

/// Numbers of nodes or switches, WHAT, below `count`, or all. Throws BadInput, as of option --golden.
std::set<uint32_t> golden_of(const std::vector<std::string>& chosen, uint32_t count, const std::string& what);

/// Whole file. Throws BadInput if there is none that can be read.
std::vector<uint8_t> read_file(const std::string& file);

/// Throws BadInput for more bytes than a node can be given.
std::vector<uint8_t> random_bytes(uint64_t count, uint64_t seed);

}  // namespace weft::sim
