// SPDX-License-Identifier: Apache-2.0
// weft: the command line; picks the subcommand and turns failures into one line and an exit code.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "common/command_line.hpp"
#include "weft/command.hpp"

namespace {

int run(int argc, char** argv) {
  int exit_code = weft::cli::ok;
  CLI::App app("weft: tools of the weft interconnect", "weft");
  app.require_subcommand(1);
  weft::command_line::add_version(app);
  app.footer("Exit codes: 0 all is well, 1 a check failed, 2 bad input.");
  weft::cli::add_barrier(app, exit_code);
  weft::cli::add_mcast(app, exit_code);
  weft::cli::add_push(app, exit_code);
  weft::cli::add_route(app, exit_code);
  weft::cli::add_topology(app, exit_code);
  weft::cli::add_trace(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::cerr << "weft: " << weft::command_line::complaint(app, error) << '\n';
    return weft::cli::bad_input;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "weft: " << error.what() << '\n';
    return weft::cli::bad_input;
  }
}
