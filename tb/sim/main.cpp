// SPDX-License-Identifier: Apache-2.0
// weft-sim: simulations of the RTL, checked against the golden models.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "rdma_run.hpp"

int main(int argc, char** argv) {
  using namespace weft::sim;
  namespace command_line = weft::command_line;
  CLI::App app("Simulations of the weft RTL, checked against the golden models", "weft-sim");
  app.require_subcommand(1);
  command_line::add_version(app);
  app.footer("Exit code: 0 all as it should be, 1 a check failed, 2 bad input");
  const Command rdma = add_rdma_command(app);
  const Command matrix = add_matrix_command(app);
  const Command soak = add_soak_command(app);
  const Command bench = add_bench_command(app);
  const Command goodput = add_goodput_command(app);
  const Command fabric = add_fabric_command(app);
  const Command lookups = add_switch_command(app);
  const Command routes = add_route_command(app);
  const Command lookup_speed = add_switch_bench_command(app);
  const Command barriers = add_barrier_command(app);
  const std::vector<std::string> arguments(argv, argv + argc);
  try {
    app.parse(argc, argv);
    const int code = (app.got_subcommand("rdma")           ? rdma
                      : app.got_subcommand("soak")         ? soak
                      : app.got_subcommand("bench")        ? bench
                      : app.got_subcommand("goodput")      ? goodput
                      : app.got_subcommand("fabric")       ? fabric
                      : app.got_subcommand("switch")       ? lookups
                      : app.got_subcommand("route")        ? routes
                      : app.got_subcommand("switch-bench") ? lookup_speed
                      : app.got_subcommand("barrier")      ? barriers
                                                           : matrix)(arguments);
    if (std::fflush(stdout) != 0) throw BadInput("the report cannot be written");
    return code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "weft-sim: {}\n", command_line::complaint(app, error));
    return exit_bad_input;
  } catch (const BadInput& error) {
    fmt::print(stderr, "weft-sim: {}\n", error.what());
    return exit_bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-sim: {}\n", error.what());
    return exit_failed;
  }
}
