// SPDX-License-Identifier: Apache-2.0
// weft: the command line; picks the subcommand and turns failures into one line and an exit code.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

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
  weft::cli::add_boot(app, exit_code);
  weft::cli::add_image(app, exit_code);
  weft::cli::add_images(app, exit_code);
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

/// What was printed is out, or this throws.
void flush_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
    throw std::runtime_error(std::string("standard output: cannot be written: ") + std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // so that a file that may not grow is a fault like a full disk
  try {
    const int exit_code = run(argc, argv);
    flush_output();
    return exit_code;
  } catch (const std::exception& error) {
    std::cerr << "weft: " << error.what() << '\n';
    return weft::cli::bad_input;
  }
}
